// SPDX-License-Identifier: Apache-2.0

/// Reports the result of a comparison as text.
package struct Report: Sendable {
  /// The result.
  package let result: ComparisonResult
  /// Whether every count is told, and by which rule each strategy merges.
  package let isWhole: Bool

  /// What was compared; told in JSON.
  package let name: String?

  /// Creates a report of a result.
  package init(
    _ result: ComparisonResult, isWhole: Bool = false, name: String? = nil
  ) {
    (self.result, self.isWhole, self.name) = (result, isWhole, name)
  }

  /// Returns the report in the given format.
  ///
  /// - Parameters:
  ///   - format: The format.
  ///   - colours: Whether a table may use a terminal's colours.
  ///   - hasNotes: Whether the columns are explained below the table.
  /// - Returns: The text, with a line break at its end. Unless the report is whole,
  ///   no line of a table is longer than 80 characters.
  package func text(
    _ format: ReportFormat, colours: Bool = false, hasNotes: Bool = true
  ) -> String {
    if format == .json { return json }
    let tables = [table] + (isWhole ? groups : [])
    let texts = tables.map {
      format == .markdown ? $0.markdown() : $0.aligned(colours: colours)
    }
    return texts.joined(separator: "\n") + "\n"
      + (hasNotes ? notes(format) : "")
  }

  private var isResolved: Bool {
    result.strategies.contains { $0.agreement.all.records > 0 }
  }

  /// A row for all strategies that end alike.
  var table: TextTable {
    var table = TextTable(header: isWhole ? wholeHeader : header)
    var names: [[TextTable.Cell]: Int] = [:]
    for strategy in result.strategies {
      let cells = isWhole ? wholeRow(strategy) : row(strategy)
      if let place = names[cells] {
        table.rows[place][0].text += ", " + strategy.name
      } else {
        names[cells] = table.rows.count
        table.rows.append([.init(text: strategy.name)] + cells)
      }
    }
    table.isNameAlone = true
    return table
  }

  private var header: [String] {
    ["strategy", "edits lost", "silently", "disagree"]
      + (isResolved ? ["as people"] : [])
  }

  private func row(_ strategy: StrategyResult) -> [TextTable.Cell] {
    let losses = strategy.losses
    return [losses.lost, losses.silent, losses.neverAgree].map(count)
      + (isResolved ? [share(strategy.agreement.all, \.ofFields)] : [])
  }

  private var wholeHeader: [String] {
    let counts = [
      "strategy", "edits lost", "silently", "lossless", "if deletions win",
      "plain", "excess",
      "only reported", "unrecoverable", "counter units", "adds lost",
      "removes undone", "records wrong", "never agree",
    ]
    return counts
      + (isResolved
        ? ["fields: all", "person", "records: all", "person"] : [])
  }

  private func wholeRow(_ strategy: StrategyResult) -> [TextTable.Cell] {
    let losses = strategy.losses
    let shares = [
      (strategy.lossless, strategy.episodes),
      (strategy.losslessIfDeletionsWin, strategy.episodes),
      (strategy.plain.lossless, strategy.plain.episodes),
    ]
    let counts = [
      losses.excess, losses.reported, losses.unrecoverable,
      losses.counterUnits, losses.addsLost, losses.removesUndone,
      losses.recordsWrong, losses.neverAgree,
    ]
    let (all, person) = (strategy.agreement.all, strategy.agreement.person)
    return [losses.lost, losses.silent].map(count)
      + shares.map { part, whole in
        .init(text: "\(part)/\(whole)", mood: part == whole ? .good : .plain)
      } + counts.map(count)
      + (isResolved
        ? [
          share(all, \.ofFields), share(person, \.ofFields),
          share(all, \.ofRecords), share(person, \.ofRecords),
        ] : [])
  }

  private func count(_ count: Int) -> TextTable.Cell {
    .init(text: Int64(count).grouped, mood: count == 0 ? .faint : .bad)
  }

  private func share(
    _ share: Agreement.Share, _ part: (Agreement.Share) -> Double
  ) -> TextTable.Cell {
    .init(text: share.records == 0 ? "–" : part(share).percent)
  }

  /// The shares of fields that are equal to what people chose, by group, and how
  /// they spread over repositories.
  private var groups: [TextTable] {
    let names = Set(result.strategies.flatMap(\.groups.keys)).sorted()
    guard isResolved, !names.isEmpty else { return [] }
    var table = TextTable(
      header: ["fields as people chose"] + names
        + ["repositories: least", "median", "greatest"])
    for strategy in result.strategies {
      let spread = strategy.repositories.values.map(\.all.ofFields).sorted()
      let cells = names.map {
        share(strategy.groups[$0]?.all ?? .init(), \.ofFields)
      }
      let marks =
        spread.isEmpty
        ? ["–", "–", "–"]
        : [spread[0], spread[spread.count / 2], spread[spread.count - 1]]
          .map(\.percent)
      table.rows.append(
        [.init(text: strategy.name)] + cells + marks.map { .init(text: $0) })
    }
    return [table]
  }
}

extension Report {
  private func notes(_ format: ReportFormat) -> String {
    var notes = briefNotes + (isWhole ? wholeNotes : [])
    if isResolved { notes += resolvedNotes }
    var text = notes.map { $0.wrapped() + "\n" }.joined()
    if isWhole {
      let rules = result.strategies.map { strategy in
        format == .markdown
          ? "- `\(strategy.name)`: \(strategy.rule)"
          : "\(strategy.name): \(strategy.rule)".wrapped(hanging: "  ")
      }
      text += "\n" + rules.map { $0 + "\n" }.joined()
    }
    return text
  }

  private var briefNotes: [String] {
    [
      "edits lost: neither shown nor in the record's conflict list, though no later "
        + "edit had seen them. silently: nobody is told. disagree: episodes whose "
        + "devices end with different records. Where one deletes and another edits, the "
        + "edit must stay."
    ]
  }

  private var wholeNotes: [String] {
    [
      "lossless: episodes in which no edit was lost; where one device deletes and "
        + "another edits, the edit must stay, or (if deletions win) the deletion. "
        + "plain: of the episodes without deletions, clears and resets.",
      "excess: register edits lost beyond the unavoidable. only reported: in an "
        + "error or a report, which is gone once read, and not with the record. "
        + "unrecoverable: in neither. An edit is lost only if no later one had "
        + "seen it.",
    ]
  }

  private var resolvedNotes: [String] {
    [
      (isWhole
        ? "Shares: fields and records equal to what people chose; over all "
          + "resolved episodes, and over those resolved by hand. "
        : "as people: the changed fields that are equal to what people chose. ")
        + "After a text merge, agreement is partly mechanical. Keeping every edit "
        + "also keeps what people dropped on purpose."
    ]
  }
}

extension Double {
  /// The share in percent, to a tenth.
  var percent: String {
    let tenths = Int((self * 1000).rounded())
    return "\(tenths / 10).\(tenths % 10)%"
  }
}
