// SPDX-License-Identifier: Apache-2.0

import RejoinTesting

/// The endings of all strategies on a worked example.
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

  /// Returns the report as a table or as Markdown.
  ///
  /// In a table, lines have at most 80 characters if the values have spaces at
  /// which to break.
  ///
  /// - Throws: The errors of the strategies.
  package func text(_ format: TextFormat) throws -> String {
    let edits = example.episode.edits.map(\.words)
    switch format {
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

  /// An ending that several strategies may share.
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
        let index = endings.firstIndex {
          $0.words == words && $0.losses.words == losses.words
        }
        if let index {
          endings[index].names.append(strategy.name)
        } else {
          endings.append(
            Ending(names: [strategy.name], words: words, losses: losses))
        }
      }
      return endings
    }
  }

  var json: JSONValue {
    get throws {
      let endings = try endings.map { ending in
        JSONValue.members([
          "strategies": .array(ending.names.map(JSONValue.text)),
          "ends": .text(ending.words), "lost": .text(ending.losses.words),
        ])
      }
      return .members([
        "id": .text(example.episode.id), "title": .text(example.title),
        "edits": .array(example.episode.edits.map { .text($0.words) }),
        "endings": .array(endings), "lesson": .text(example.lesson),
      ])
    }
  }
}

extension Losses {
  /// The losses in a few words.
  var words: String {
    func count(_ count: Int, _ one: String, _ many: String) -> String? {
      count == 0 ? nil : count.counted(one, many)
    }
    let lost = count(lost, "change", "changes").map { words in
      reported == 0
        ? words
        : words + (silent == 0 ? " (reported)" : " (\(reported) reported)")
    }
    let words = [
      lost,
      counterUnits == 0
        ? nil : "\(counterUnits.grouped) from a counter",
      count(baseValuesLost, "base value", "base values"),
      count(invented, "invented value", "invented values"),
      recordsWrong == 0
        ? nil
        : "the existence of \(recordsWrong == 1 ? "the record" : "records")",
    ].compactMap(\.self)
    let all = words.isEmpty ? "nothing" : words.joined(separator: ", ")
    if waiting > 0 {
      return "\(all); \(waiting.grouped) waiting on a blocked device"
    }
    return disagreements > 0 ? "\(all); the devices disagree" : all
  }
}
