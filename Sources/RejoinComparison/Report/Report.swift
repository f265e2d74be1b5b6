// SPDX-License-Identifier: Apache-2.0

/// Reports the result of a comparison as text.
public struct Report: Sendable {
  /// The result.
  public let result: ComparisonResult

  /// Creates a report of a result.
  public init(_ result: ComparisonResult) { self.result = result }

  /// Returns the report in the given format.
  ///
  /// - Parameters:
  ///   - format: The format.
  ///   - colours: Whether a table may use a terminal's colours.
  /// - Returns: The text, with a line break at its end.
  public func text(_ format: ReportFormat, colours: Bool = false) -> String {
    switch format {
    case .json: json
    case .table: table.aligned(colours: colours) + "\n" + notes
    case .markdown: table.markdown() + "\n" + notes
    }
  }

  private var isResolved: Bool {
    result.strategies.contains { $0.agreement.all.records > 0 }
  }

  private var table: TextTable {
    var header = [
      "strategy", "lossless", "excess", "unrecoverable", "counter units",
      "adds lost", "removes undone", "records wrong", "never agree",
    ]
    if isResolved { header += ["fields: all", "person"] }
    if isResolved { header += ["records: all", "person"] }
    return TextTable(
      header: header, rows: result.strategies.map(row))
  }

  private func row(_ strategy: StrategyResult) -> [TextTable.Cell] {
    let losses = strategy.losses
    let isLossless = strategy.lossless == strategy.episodes
    let share = "\(strategy.lossless)/\(strategy.episodes)"
    let counts = [
      losses.excess, losses.unrecoverable, losses.counterUnits,
      losses.addsLost, losses.removesUndone, losses.recordsWrong,
      losses.neverAgree,
    ]
    let cells: [TextTable.Cell] =
      [
        .init(text: strategy.name),
        .init(text: share, mood: isLossless ? .good : .plain),
      ]
      + counts.map {
        .init(text: Int64($0).grouped, mood: $0 == 0 ? .faint : .bad)
      }
    return isResolved ? cells + shares(strategy.agreement) : cells
  }

  private func shares(_ agreement: Agreement) -> [TextTable.Cell] {
    let (all, person) = (agreement.all, agreement.person)
    return [
      all.fields == 0 ? nil : all.ofFields,
      person.fields == 0 ? nil : person.ofFields,
      all.records == 0 ? nil : all.ofRecords,
      person.records == 0 ? nil : person.ofRecords,
    ].map { .init(text: $0.map(percent) ?? "–") }
  }

  private func percent(_ share: Double) -> String {
    let tenths = Int((share * 1000).rounded())
    return "\(tenths / 10).\(tenths % 10)%"
  }

  private var notes: String {
    let legend = """
      lossless: episodes in which no edit was lost. excess: register edits \
      lost beyond the unavoidable.
      unrecoverable: register edits lost that no conflict list holds. An edit \
      is lost only if no later one had seen it.

      """
    guard isResolved else { return legend }
    return legend + """
      Shares: fields and records equal to what people chose; over all \
      resolved episodes, and over those resolved by hand.
      After a text merge, agreement is partly mechanical. Keeping every edit \
      also keeps what people dropped on purpose.
      These edits were made days apart, not on phones offline for minutes.

      """
  }
}
