// SPDX-License-Identifier: Apache-2.0

/// A table as aligned text or Markdown.
package struct TextTable {
  /// The text of a cell and its color.
  package struct Cell: Hashable {
    var text: String
    let mood: Mood

    package init(text: String) { self.init(text: text, mood: .plain) }

    init(text: String, mood: Mood) {
      self.text = text.printableOnOneLine
      self.mood = mood
    }
  }

  /// The color of a cell, with the terminal's code as its raw value.
  enum Mood: String {
    case plain = "0", good = "32", bad = "31", faint = "2"
  }

  /// The headings, which a line break divides into two lines.
  let header: [String]
  package var rows: [[Cell]] = []
  /// The columns that are aligned to the left, while the others are aligned to
  /// the right.
  var leading: Set<Int> = [0]
  /// Whether the first cell of a row is a group of names, each on its own line.
  ///
  /// If the last name fits, it shares the line with the figures.
  var isNameAlone = false

  package init(
    header: [String], rows: [[Cell]] = [], leading: Set<Int> = [0]
  ) {
    self.header = header
    self.rows = rows
    self.leading = leading
  }

  /// Returns the table as aligned text.
  package func aligned(colors: Bool, indent: String = "") -> String {
    let headings = headingLines
    var widths = header.indices.map { column in
      (headings + rows).map { $0[column].text.count }.max() ?? 0
    }
    if isNameAlone {
      let others = widths.dropFirst().reduce(0) { $0 + 2 + $1 }
      let names = (headings + rows).flatMap {
        $0[0].text.split(separator: ", ")
      }
      let longest = names.map(\.count).max() ?? 0
      widths[0] = min(longest, max(80 - others, 18), 36)
    }
    let lines = headings + rows
    return lines.map { row in
      let cells = row.indices.map { column in
        let space = String(
          repeating: " ",
          count: max(widths[column] - row[column].text.count, 0))
        let text = row[column].colored(colors)
        return leading.contains(column) ? text + space : space + text
      }
      guard isNameAlone else {
        return indent + cells.joined(separator: "  ").trimmingTrailingSpace
      }
      // Put each name on its own line and, if it fits, the last one next to the
      // figures.
      var names = row[0].text.split(separator: ", ").map(String.init)
      let fits = names.last.map { $0.count <= widths[0] } ?? false
      let name = fits ? names.removeLast() : ""
      let space = String(repeating: " ", count: max(widths[0] - name.count, 0))
      let figures = [name + space] + cells.dropFirst()
      return
        (names.enumerated().map { index, other in
          indent + other + (index < names.count - 1 || fits ? "," : "")
        }
        + [indent + figures.joined(separator: "  ").trimmingTrailingSpace])
        .joined(separator: "\n")
    }.joined(separator: "\n") + "\n"
  }

  /// The headings in lines, aligned to the bottom.
  private var headingLines: [[Cell]] {
    let parts = header.map { $0.split(separator: "\n").map(String.init) }
    let height = parts.map(\.count).max() ?? 1
    return (0..<height).map { line in
      parts.map { part in
        let index = line - (height - part.count)
        return Cell(text: index < 0 ? "" : part[index], mood: .faint)
      }
    }
  }

  /// The table with one row for all names whose other cells are equal.
  var grouped: TextTable {
    var table = self
    table.rows = []
    var indices: [[Cell]: Int] = [:]
    for row in rows {
      let cells = Array(row.dropFirst())
      if let index = indices[cells] {
        table.rows[index][0].text += ", " + row[0].text
      } else {
        indices[cells] = table.rows.count
        table.rows.append(row)
      }
    }
    return table
  }

  /// Returns the table in Markdown.
  package func markdown() -> String {
    let rule = header.indices.map { leading.contains($0) ? "---" : "--:" }
    let cells = [header.map(\.onOneLine)] + rows.map { $0.map(\.text) }
    var lines = cells.map { $0.map(\.printableOnOneLine.escapedForMarkdown) }
    lines.insert(rule, at: 1)
    return lines.map { "| " + $0.joined(separator: " | ") + " |\n" }.joined()
  }
}

extension TextTable.Cell {
  fileprivate func colored(_ colors: Bool) -> String {
    guard colors, mood != .plain else { return text }
    return "\u{1b}[\(mood.rawValue)m\(text)\u{1b}[0m"
  }
}

extension String {
  fileprivate var trimmingTrailingSpace: String {
    var text = self
    while text.last == " " { text.removeLast() }
    return text
  }

  fileprivate var escapedForMarkdown: String {
    unicodeScalars.map { ["|", "<"].contains($0) ? "\\\($0)" : "\($0)" }
      .joined()
  }
}
