// SPDX-License-Identifier: Apache-2.0

import RejoinTesting

/// The result of a comparison as text.
package struct Report: Sendable {
  /// The subject of the comparison.
  package let subject: Subject
  /// The result.
  package let result: ComparisonResult
  /// Whether the report contains every count and the rule of each strategy.
  package let isWhole: Bool

  /// Creates a report of a result.
  package init(
    _ result: ComparisonResult, of subject: Subject = .records,
    isWhole: Bool = false
  ) {
    (self.subject, self.result, self.isWhole) = (subject, result, isWhole)
  }

  /// The question that every comparison answers.
  package static let question =
    "What becomes of the changes that devices make to one record while apart?"

  /// Returns the report as a table or as Markdown.
  ///
  /// Unless the report is whole, the lines of a table have at most 80
  /// characters.
  ///
  /// - Parameters:
  ///   - format: The format.
  ///   - colors: Whether a table may use a terminal's colors.
  ///   - hasNotes: Whether notes below the table define the columns and the
  ///     strategies. One report of an output must have notes.
  /// - Returns: The text, which ends with a line break.
  package func text(
    _ format: TextFormat, colors: Bool = false, hasNotes: Bool = true
  ) -> String {
    func print(_ table: TextTable) -> String {
      format == .markdown ? table.markdown() : table.aligned(colors: colors)
    }
    var parts = [paragraph(subject.title(result)), print(table)]
    parts.append(paragraph(Headline(subject: subject, result: result).text))
    if let certainty { parts.append(print(certainty)) }
    parts.append(notes(format, isFull: hasNotes))
    return parts.joined(separator: "\n")
  }

  private func paragraph(_ text: String) -> String { text.wrapped() + "\n" }

  private var columns: (shown: [Column], absences: [String]) {
    let all =
      isWhole ? Column.all(result) : Column.brief(result, of: subject)
    var (shown, absences, seen) = ([Column](), [String](), [[TextTable.Cell]]())
    for (index, column) in all.enumerated() {
      let cells = result.strategies.map(column.cell)
      let isEmpty = result.strategies.allSatisfy { column.share($0) == nil }
      let isZero = result.strategies.allSatisfy {
        column.share($0)?.part == 0
      }
      if isWhole, isEmpty { continue }
      if isWhole, isZero, let absence = column.absence {
        absences.append(absence)
      } else if isWhole, index > 0, let twin = seen.firstIndex(of: cells) {
        absences.append(
          "The column \"\(column.heading.onOneLine)\" equals "
            + "\"\(shown[twin].heading.onOneLine)\".")
      } else {
        shown.append(column)
        seen.append(cells)
      }
    }
    return (shown, absences)
  }

  /// The table, with one row for all strategies with equal figures.
  package var table: TextTable {
    let columns = columns.shown
    var table = TextTable(header: ["strategy"] + columns.map(\.heading))
    table.rows = result.strategies.map { strategy in
      [.init(text: strategy.name)] + columns.map { $0.cell(of: strategy) }
    }
    table.isNameAlone = true
    return table.grouped
  }
}

extension Report {
  /// The certainty of the figures: intervals over repositories, and both orders
  /// of arrival.
  ///
  /// The value is `nil` for generated episodes, and for records without any of
  /// these figures.
  package var certainty: TextTable? {
    guard case .records = subject else { return nil }
    let hasSpread = result.strategies.contains {
      Spread(.lossyRecords, of: $0) != nil
    }
    let hasOther = result.strategies.contains { $0.reversed.episodes > 0 }
    let isResolved = result.strategies.contains {
      $0.agreement.all.records > 0
    }
    guard hasSpread || hasOther || isResolved else { return nil }
    var header = ["strategy"]
    if hasSpread { header += ["with a loss,\n95%", "one left\nout"] }
    if hasOther { header.append("other\norder") }
    if isResolved { header.append("as people\nleft them") }
    if isResolved, hasSpread { header.append("minus\nrejoin, 95%") }
    var table = TextTable(header: header)
    let rejoin = result.strategies.first { $0.name == "rejoin" }
    for strategy in result.strategies {
      var cells: [String] = []
      let spread = Spread(.lossyRecords, of: strategy)
      let isZero = strategy.score.lossy == 0
      if hasSpread {
        cells += [
          isZero ? "none" : spread?.interval ?? "–",
          isZero ? "none" : spread?.range ?? "–",
        ]
      }
      if hasOther {
        cells.append(
          strategy.reversed.lossy.percent(of: strategy.reversed.episodes))
      }
      if isResolved {
        let all = strategy.agreement.all
        cells.append(all.equalFields.percent(of: all.fields))
        if hasSpread {
          let difference = rejoin.flatMap { rejoin in
            rejoin.name == strategy.name
              ? nil : Spread(.asPeople, of: strategy, minus: rejoin)
          }
          cells.append(difference?.signedInterval ?? "–")
        }
      }
      let row =
        [TextTable.Cell(text: strategy.name)]
        + cells.map { TextTable.Cell(text: $0) }
      table.rows.append(row)
    }
    table.isNameAlone = true
    return table.grouped
  }

  private func notes(_ format: TextFormat, isFull: Bool) -> String {
    guard isFull || isWhole else {
      let notes = [subject.parameters ?? "", reports.joined(separator: " ")]
      return notes.filter { !$0.isEmpty }.map(paragraph).joined(separator: "\n")
    }
    let rules = result.strategies.map { strategy in
      let words = "\(strategy.rule) (\(strategy.source))"
      return format == .markdown
        ? "- `\(strategy.name)`: \(words)"
        : "\(strategy.name): \(words)".wrapped(hanging: "  ")
    }
    return definitions.map(paragraph).joined(separator: "\n") + "\n"
      + rules.map { $0 + "\n" }.joined()
  }

  /// The meaning of the columns, and the omitted columns, in paragraphs.
  var definitions: [String] {
    let (shown, absences) = columns
    var notes = [shown.map(\.meaning).joined(separator: " ")]
    if let parameters = subject.parameters { notes.append(parameters) }
    notes.append((reports + absences).joined(separator: " "))
    if certainty != nil {
      notes.append(
        "Intervals cover 95% and come from resampling repositories. Rejoin's 0 has "
          + "none: it is what Rejoin is specified to do. Agreement with people is "
          + "partly mechanical, because many merges were line-based, and a "
          + "strategy that keeps every edit keeps what people dropped on purpose."
      )
    }
    return notes.filter { !$0.isEmpty }
  }

  /// The strategies that report what they drop.
  private var reports: [String] {
    guard !isWhole else { return [] }
    let reporting = result.strategies.filter { $0.losses.reported > 0 }
    let losing = result.strategies.filter { $0.losses.lost > 0 }
    if losing.isEmpty { return [] }
    let words = reporting.map { strategy in
      let (part, whole) = (strategy.losses.reported, strategy.losses.lost)
      let all = part == whole ? "all" : "\(part.grouped)"
      return
        "`\(strategy.name)` reports \(all) of the \(whole.counted("change")) "
        + "that it drops."
    }
    let others =
      reporting.isEmpty
      ? "No strategy reports what it loses."
      : reporting.count == losing.count
        ? "" : "The other strategies lose changes silently."
    return words + [others].filter { !$0.isEmpty }
  }
}

extension Spread {
  /// The interval in percent.
  package var interval: String {
    "\(low.wholePercent)–\(high.wholePercent)%"
  }

  /// The range of the share with one repository left out, in percent.
  package var range: String {
    "\(least.wholePercent)–\(greatest.wholePercent)%"
  }

  /// The interval of a difference in percentage points, with one decimal.
  package var signedInterval: String {
    func signed(_ value: Double) -> String {
      let text = value.percent.dropLast()
      return value > 0 && text != "0.0" ? "+\(text)" : String(text)
    }
    return "\(signed(low)) to \(signed(high))"
  }
}

extension String {
  /// The heading without its line break.
  var onOneLine: String { replacing("\n", with: " ") }
}
