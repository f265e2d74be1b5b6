// SPDX-License-Identifier: Apache-2.0

/// A subcommand: what it does, its options, and its help, in one table.
///
/// ``Arguments`` accepts the options of the table, and ``help`` prints them.
struct Command: Sendable {
  /// An option, or a few options that share a description.
  struct Option: Sendable {
    let names: [String]
    /// How the option is written in the help.
    let synopsis: String
    let text: String
    let takesValue: Bool
    let isRepeatable: Bool

    /// An option with a value: `--name VALUE`.
    init(
      _ name: String, _ value: String, _ text: String,
      isRepeatable: Bool = false
    ) {
      (names, synopsis) = ([name], "--\(name) \(value)")
      (self.text, takesValue) = (text, true)
      self.isRepeatable = isRepeatable
    }

    /// A flag, which takes no value.
    init(flag name: String, _ text: String) {
      (names, synopsis, self.text) = ([name], "--\(name)", text)
      (takesValue, isRepeatable) = (false, false)
    }

    /// Options with values that share a description.
    init(_ names: [String], synopsis: String, _ text: String) {
      (self.names, self.synopsis, self.text) = (names, synopsis, text)
      (takesValue, isRepeatable) = (true, false)
    }
  }

  /// A part of the help: text, options, or both.
  struct Section: Sendable {
    let title: String
    var options: [Option] = []
    var text = ""
  }

  let name: String
  /// One imperative line, in lower case and without a period.
  let purpose: String
  /// The arguments as the usage line shows them.
  let usage: String
  /// The description of the command, wrapped at 80 columns.
  let discussion: String
  var sections: [Section] = []
  let examples: [String]
  /// Runs the command with its parsed arguments.
  let run: @Sendable (Arguments) async throws -> Void

  var options: [Option] { sections.flatMap(\.options) }
}

extension Command {
  /// The text that `rejoin NAME --help` prints.
  var help: String {
    var text = """
      rejoin \(name): \(purpose)

      USAGE: rejoin \(name) \(usage)

      \(discussion)

      """
    for section in sections {
      text += "\n\(section.title):\n"
      text += section.options.map(\.help).joined()
      if !section.text.isEmpty { text += section.text.indented(by: 2) }
    }
    text += "\nEXAMPLES:\n"
    return text + examples.map { "  rejoin \($0)\n" }.joined()
  }
}

extension Command.Option {
  private static let indent = 23

  /// The option with its description, wrapped at 80 columns.
  fileprivate var help: String {
    var lines = ["  \(synopsis)"]
    if synopsis.count + 4 <= Self.indent {
      lines[0] += String(repeating: " ", count: Self.indent - lines[0].count)
    } else {
      lines.append(String(repeating: " ", count: Self.indent))
    }
    for word in text.split(separator: " ") {
      let isFirst = lines[lines.count - 1].count <= Self.indent
      if !isFirst && lines[lines.count - 1].count + 1 + word.count > 80 {
        lines.append(String(repeating: " ", count: Self.indent) + word)
      } else {
        lines[lines.count - 1] += (isFirst ? "" : " ") + word
      }
    }
    return lines.map { $0 + "\n" }.joined()
  }
}

extension String {
  /// The lines of the text, indented and ended.
  fileprivate func indented(by count: Int) -> String {
    split(separator: "\n", omittingEmptySubsequences: false).map {
      $0.isEmpty ? "\n" : String(repeating: " ", count: count) + $0 + "\n"
    }.joined()
  }
}
