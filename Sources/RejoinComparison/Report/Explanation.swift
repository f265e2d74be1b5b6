// SPDX-License-Identifier: Apache-2.0

/// An explanation of one episode in words.
///
/// It lists the edits and, for every strategy, the rule, the ending and the
/// losses.
public struct Explanation: Sendable {
  private let episode: Episode
  private let strategies: [any Contender]

  /// Creates an explanation of an episode under the given strategies.
  public init(
    _ episode: Episode, _ strategies: [any Contender] = Strategies.all
  ) {
    self.episode = episode
    self.strategies = strategies
  }

  /// Returns the explanation, which ends with a line break.
  ///
  /// - Throws: The errors of the strategies.
  public func text() throws -> String {
    var lines = ["Episode \(episode.id)"]
    if let source = episode.source { lines.append("  from \(source)") }
    if !episode.earlier.isEmpty {
      lines += ["", "Earlier, and known to all devices:"]
      lines += episode.earlier.map { "  \($0.words)" }
    }
    lines += ["", "Before they went offline:"] + record(episode.base)
    lines += ["", "Then, offline, by the clocks of the devices:"]
    lines += episode.story.map { "  \($0)" }
    if !episode.meetings.isEmpty {
      lines += ["", "Where they met, none had seen what the others did:"]
      lines += episode.meetings.map { "  \($0)" }
    }
    lines += [
      "",
      "They sync in this order: "
        + (episode.arrival ?? episode.devices).joined(separator: ", "),
    ]
    lines += resolution
    let oracle = Oracle(episode)
    for strategy in strategies {
      lines += try words(for: strategy, oracle)
    }
    return lines.map { line in
      let indent = String(line.prefix { $0 == " " })
      return line.printableOnOneLine.wrapped(indent, hanging: indent + "  ")
        + "\n"
    }.joined()
  }

  private var resolution: [String] {
    let by = episode.resolvedBy.map { " (\($0.rawValue))" } ?? ""
    switch episode.resolution {
    case nil: return []
    case .deleted: return ["", "People deleted the record\(by)."]
    case .record(let chosen):
      return ["", "People chose\(by):"] + record(chosen)
    }
  }

  private func record(_ record: PlainRecord?) -> [String] {
    guard let record else { return ["  no record"] }
    let fields = record.sortedByKey.map { "  \($0) \($1.short)" }
    return fields.isEmpty ? ["  an empty record"] : fields
  }

  private func words(
    for strategy: any Contender, _ oracle: Oracle
  ) throws -> [String] {
    let outcome = try strategy.outcome(of: episode)
    let verdict = oracle.verdict(on: outcome)
    var lines = [
      "", "\(strategy.name): \(strategy.rule)",
      "  ends with \(episode.words(for: outcome))",
    ]
    if !outcome.waiting.isEmpty {
      let devices = outcome.waiting.sorted().joined(separator: ", ")
      lines.append("  blocked by an error: \(devices)")
    } else if !outcome.agrees {
      lines.append("  the devices end with different records")
    }
    for (device, losses) in verdict.words {
      let device = device.map { "on \($0), " } ?? ""
      lines += losses.map { "  \(device)\($0)" }
    }
    lines.append("  lost: \(verdict.losses.words)")
    return lines + conflicts(outcome)
  }

  private func conflicts(_ outcome: Outcome) -> [String] {
    let shown = outcome.states.first ?? nil
    return outcome.kept.sortedByKey.compactMap { field, values in
      let others = values.subtracting([shown?[field]])
      guard episode.changedFields.contains(field), !others.isEmpty else {
        return nil
      }
      let list = others.map { $0?.short ?? "unset" }.sorted()
      return "  still listed for \(field): " + list.joined(separator: ", ")
    }
  }
}
