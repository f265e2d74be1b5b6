// SPDX-License-Identifier: Apache-2.0

/// Reports how every strategy ends on a worked example.
package struct ExampleReport: Sendable {
  private let example: WorkedExample
  private let strategies: [any Contender]

  /// Creates a report of an example under the given strategies.
  package init(
    _ example: WorkedExample, _ strategies: [any Contender] = Strategies.all
  ) {
    self.example = example
    self.strategies = strategies
  }

  /// Returns the report in the given format.
  ///
  /// - Parameters:
  ///   - format: The format. As a table, no line is longer than 80 characters, as
  ///     far as the values have spaces to break at.
  ///   - colours: Whether a table may use a terminal's colours.
  /// - Throws: The errors of the strategies.
  package func text(
    _ format: ReportFormat, colours: Bool = false
  ) throws -> String {
    let edits = example.episode.edits.map(\.words)
    switch format {
    case .json: return try json
    case .table:
      let endings = try endings.map { ending in
        "  \(ending.names.joined(separator: ", "))".wrapped(
          "  ", hanging: "  ") + "\n"
          + "ends with \(ending.words)".wrapped("    ", hanging: "      ")
          + "\n"
          + "lost: \(ending.losses.words)".wrapped("    ", hanging: "      ")
          + "\n"
      }
      return "\(example.title)  (\(example.episode.id))".wrapped(hanging: "  ")
        + "\n"
        + edits.map { $0.wrapped("  ", hanging: "    ") + "\n" }.joined()
        + endings.joined() + "  → \(example.lesson)\n"
    case .markdown:
      var table = TextTable(header: ["strategy", "ends with", "lost"])
      table.leading = [0, 1, 2]
      table.rows = try endings.map { ending in
        [
          .init(text: ending.names.joined(separator: ", ")),
          .init(text: ending.words), .init(text: ending.losses.words),
        ]
      }
      return "### \(example.title)\n\n" + edits.map { "- \($0)\n" }.joined()
        + "\n" + table.markdown() + "\n\(example.lesson)\n"
    }
  }

  /// Strategies that end alike.
  private struct Ending {
    var names: [String]
    let words: String
    let losses: Losses
  }

  private var endings: [Ending] {
    get throws {
      let oracle = Oracle(example.episode)
      var endings: [Ending] = []
      for strategy in strategies {
        let outcome = try strategy.outcome(of: example.episode)
        let (words, losses) = (
          example.episode.words(for: outcome),
          oracle.verdict(on: outcome).losses
        )
        let place = endings.firstIndex {
          $0.words == words && $0.losses == losses
        }
        if let place {
          endings[place].names.append(strategy.name)
        } else {
          endings.append(
            Ending(names: [strategy.name], words: words, losses: losses))
        }
      }
      return endings
    }
  }

  private var json: String {
    get throws {
      let endings = try endings.map { ending in
        JSONValue.object([
          "strategies": .array(ending.names.map { text($0) }),
          "ends": text(ending.words), "lost": text(ending.losses.words),
        ])
      }
      return JSONValue.object([
        "example": text(example.episode.id), "title": text(example.title),
        "edits": .array(example.episode.edits.map { text($0.words) }),
        "endings": .array(endings), "lesson": text(example.lesson),
      ]).description + "\n"
    }
  }

  private func text(_ text: String) -> JSONValue { .scalar(.string(text)) }
}

extension Losses {
  /// The losses in a few words.
  var words: String {
    let counts = [
      (excess, "excess", "excess"),
      (reported, "only reported", "only reported"),
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
