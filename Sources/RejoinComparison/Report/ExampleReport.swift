// SPDX-License-Identifier: Apache-2.0

/// Reports how every strategy ends on a worked example.
public struct ExampleReport: Sendable {
  private let example: WorkedExample
  private let strategies: [any Contender]

  /// Creates a report of an example under the given strategies.
  public init(
    _ example: WorkedExample, _ strategies: [any Contender] = Strategies.all
  ) {
    self.example = example
    self.strategies = strategies
  }

  /// Returns the report in the given format; empty for JSON, which has no
  /// examples.
  ///
  /// - Parameters:
  ///   - format: The format.
  ///   - colours: Whether a table may use a terminal's colours.
  /// - Throws: The errors of the strategies.
  public func text(
    _ format: ReportFormat, colours: Bool = false
  ) throws -> String {
    let edits = example.episode.edits.map(\.words)
    switch format {
    case .json: return ""
    case .table:
      return "\(example.title)  (\(example.episode.id))\n"
        + edits.map { "  \($0)\n" }.joined()
        + (try table.aligned(colours: colours, indent: "  "))
        + "  → \(example.lesson)\n"
    case .markdown:
      return "### \(example.title)\n\n" + edits.map { "- \($0)\n" }.joined()
        + "\n" + (try table.markdown()) + "\n\(example.lesson)\n"
    }
  }

  private var table: TextTable {
    get throws {
      let oracle = Oracle(example.episode)
      var table = TextTable(header: ["strategy", "ends with", "lost"])
      table.leading = [0, 1, 2]
      for strategy in strategies {
        let outcome = try strategy.outcome(of: example.episode)
        let verdict = oracle.verdict(on: outcome)
        let isLossless = verdict.losses.isZero
        table.rows.append([
          .init(text: strategy.name),
          .init(text: example.episode.words(for: outcome)),
          .init(
            text: verdict.losses.words, mood: isLossless ? .good : .bad),
        ])
      }
      return table
    }
  }
}

extension Losses {
  /// The losses in a few words.
  var words: String {
    let counts = [
      (excess, "excess", "excess"),
      (unrecoverable, "unrecoverable", "unrecoverable"),
      (counterUnits, "counter unit", "counter units"),
      (addsLost, "add lost", "adds lost"),
      (removesUndone, "remove undone", "removes undone"),
      (recordsWrong, "record wrong", "records wrong"),
    ]
    var words = counts.filter { $0.0 > 0 }
      .map { "\(Int64($0.0).grouped) \($0.0 == 1 ? $0.1 : $0.2)" }
    if neverAgree > 0 { words.append("never agree") }
    return words.isEmpty ? "nothing" : words.joined(separator: ", ")
  }
}
