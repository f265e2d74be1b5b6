// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A machine-readable form of comparisons, as one JSON document or JSON Lines.
package struct ComparisonJSON: Sendable {
  /// The version of the method.
  ///
  /// It changes if the same episodes lead to different figures, or if keys
  /// change.
  package static let version = 2

  private var comparisons: [Part] = []
  private var examples: [JSONValue] = []

  /// One comparison.
  private struct Part {
    let head: [String: JSONValue]
    let strategies: [JSONValue]
    let verdicts: [JSONValue]
  }

  /// Creates an empty document.
  package init() {}

  /// Adds a comparison.
  ///
  /// - Parameter verdicts: The result of ``verdict(_:_:)`` for each episode.
  package mutating func add(
    _ result: ComparisonResult, of subject: Subject, verdicts: [JSONValue]
  ) {
    var head: [String: JSONValue] = [
      "name": .text(subject.name), "episodes": .number(result.episodes),
      "fieldsTouched": .number(result.contention.touched),
      "fieldsContested": .number(result.contention.contested),
      "fieldsDifferent": .number(result.contention.different),
      "headline": .text(Headline(subject: subject, result: result).text),
      "subject": .text(subject.title(result)),
    ]
    if case .generated(_, let workload) = subject {
      head["parameters"] = workload.json
    }
    comparisons.append(
      Part(
        head: head,
        strategies: result.strategies.map { strategy in
          strategy.json(
            minus: result.strategies.first { $0.name == "rejoin" })
        },
        verdicts: verdicts))
  }

  /// Adds the endings of all strategies on a worked example.
  package mutating func add(_ example: ExampleReport) throws {
    examples.append(try example.json)
  }

  /// Returns the verdicts on an episode.
  package static func verdict(
    _ episode: Episode, _ verdicts: [EpisodeVerdict]
  ) -> JSONValue {
    let byStrategy = verdicts.map { verdict in
      var members = verdict.losses.json
      members["lostIfDeletionsWin"] = .number(verdict.ifDeletionsWin.lost)
      members["lostInOtherOrder"] = verdict.reversed.map { .number($0.lost) }
      return (verdict.strategy, JSONValue.members(members))
    }
    return .members([
      "id": .text(episode.id),
      "strategies": .members(Dictionary(uniqueKeysWithValues: byStrategy)),
    ])
  }

  /// The document on one line.
  package var document: String {
    let parts = comparisons.map { part in
      var members = part.head
      members["strategies"] = .array(part.strategies)
      members["verdicts"] = .array(part.verdicts)
      return JSONValue.members(members)
    }
    return JSONValue.members([
      "version": .number(Self.version), "comparisons": .array(parts),
      "examples": .array(examples),
    ]).description + "\n"
  }

  /// A line for each comparison, strategy, verdict and example.
  package var lines: String {
    var lines: [JSONValue] = []
    func add(_ type: String, _ name: JSONValue?, _ value: JSONValue) {
      guard case .object(var members) = value else { return }
      members[SchemaName("type")] = .text(type)
      members[SchemaName("version")] = .number(Self.version)
      members[SchemaName("comparison")] = name
      lines.append(.object(members))
    }
    for part in comparisons {
      let name = part.head["name"]
      add("comparison", name, .members(part.head))
      for strategy in part.strategies { add("strategy", name, strategy) }
      for verdict in part.verdicts { add("verdict", name, verdict) }
    }
    for example in examples { add("example", nil, example) }
    return lines.map { $0.description + "\n" }.joined()
  }
}

extension JSONValue {
  static func text(_ text: String) -> JSONValue { .scalar(.string(text)) }

  static func number(_ number: Int) -> JSONValue {
    .scalar(.int(Int64(number)))
  }

  static func number(_ number: Double) -> JSONValue { .scalar(.double(number)) }

  static func members(_ members: [String: JSONValue]) -> JSONValue {
    .object(
      Dictionary(uniqueKeysWithValues: members.map { (SchemaName($0), $1) }))
  }
}

extension Losses {
  fileprivate var json: [String: JSONValue] {
    [
      "changes": .number(changes), "lost": .number(lost),
      "silent": .number(silent), "reported": .number(reported),
      "kept": .number(kept), "waiting": .number(waiting),
      "excess": .number(excess), "counterUnits": .number(counterUnits),
      "elementsMissing": .number(addsLost),
      "removalsUndone": .number(removesUndone),
      "baseValues": .number(baseValues),
      "baseValuesLost": .number(baseValuesLost),
      "invented": .number(invented),
      "recordsWrong": .number(recordsWrong),
      "disagreements": .number(disagreements),
    ]
  }
}

extension Score {
  fileprivate var json: JSONValue {
    var members = losses.json
    members["episodes"] = .number(episodes)
    members["withLoss"] = .number(lossy)
    return .members(members)
  }
}

extension StrategyResult {
  fileprivate func json(minus rejoin: StrategyResult?) -> JSONValue {
    var members: [String: JSONValue] = [
      "name": .text(name), "rule": .text(rule), "source": .text(source),
      "losses": score.json, "ifDeletionsWin": ifDeletionsWin.json,
      "plain": plain.json,
    ]
    if reversed.episodes > 0 { members["otherOrder"] = reversed.json }
    if agreement.all.records > 0 {
      members["asPeople"] = .members([
        "all": agreement.all.json, "byHand": agreement.person.json,
      ])
    }
    if let rejoin, rejoin.name != name,
      let spread = Spread(.asPeople, of: self, minus: rejoin)
    {
      members["asPeopleMinusRejoin"] = .members([
        "low": .number(spread.low), "high": .number(spread.high),
      ])
    }
    let spreads = Figure.allCases.compactMap { figure in
      Spread(figure, of: self).map { (figure.rawValue, $0.json) }
    }
    if !spreads.isEmpty, score.lossy > 0 {
      members["intervals"] = .members(
        Dictionary(uniqueKeysWithValues: spreads))
    }
    return .members(members)
  }
}

extension Spread {
  fileprivate var json: JSONValue {
    .members([
      "low": .number(low), "high": .number(high),
      "leastWithOneLeftOut": .number(least),
      "greatestWithOneLeftOut": .number(greatest),
      "meanOfRepositories": .number(mean),
    ])
  }
}

extension Agreement.Share {
  fileprivate var json: JSONValue {
    .members([
      "fields": .number(fields), "equalFields": .number(equalFields),
      "records": .number(records), "equalRecords": .number(equalRecords),
    ])
  }
}

extension Workload {
  fileprivate var json: JSONValue {
    .members([
      "seed": .scalar(.string(String(seed))), "episodes": .number(episodes),
      "devices": .number(devices), "edits": .number(editsPerDevice),
      "fields": .number(fields), "skew": .scalar(.int(skew)),
      "counters": .number(counters), "sets": .number(sets),
      "deletions": .number(deletions), "clears": .number(clears),
      "resets": .number(resets), "contention": .number(contention),
      "deleted": .number(deleted), "repeats": .number(repeats),
      "tick": .scalar(.int(tick)),
      "contact": .number(contact),
    ])
  }
}
