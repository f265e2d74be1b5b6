// SPDX-License-Identifier: Apache-2.0

import RejoinTesting

/// A column of a table of strategies.
struct Column: Sendable {
  /// The heading, on at most two lines.
  let heading: String
  /// The meaning, as a sentence for the notes.
  let meaning: String
  /// The sentence that replaces the column if every strategy has zero in it.
  var absence: String?
  /// The count of a strategy and its total, or `nil` without a figure.
  let share: @Sendable (StrategyResult) -> (part: Int, whole: Int)?
  /// Whether a greater count is better.
  var isGood = false
  /// Whether the cells show a share of the total.
  var isShare = true

  func cell(of result: StrategyResult) -> TextTable.Cell {
    guard let (part, whole) = share(result), whole > 0 || !isShare else {
      return TextTable.Cell(text: "–")
    }
    let text =
      isShare
      ? "\(part.grouped) (\(part.percent(of: whole)))" : part.grouped
    let mood: TextTable.Mood =
      isGood ? .plain : part == 0 ? .faint : .bad
    return TextTable.Cell(text: text, mood: mood)
  }
}

extension Column {
  /// Returns the columns of the default table, with the totals of a result.
  static func brief(_ result: ComparisonResult, of subject: Subject) -> [Column]
  {
    let last: [Column]
    if subject.name != "reported",
      result.strategies.contains(where: { $0.losses.waiting > 0 })
    {
      last = [waiting]
    } else if subject.name == "reported"
      || result.strategies.contains(where: { $0.losses.disagreements > 0 })
    {
      last = [disagreements]
    } else {
      last = []
    }
    return totals(result) + last
  }

  private static let disagreements = Column(
    heading: "devices\ndisagree",
    meaning: "Devices disagree if they end with different records, or a device "
      + "is blocked.",
    absence: "All devices end with the same record.",
    share: { ($0.losses.disagreements, 0) }, isShare: false)

  private static let waiting = Column(
    heading: "waiting",
    meaning: "A change waits if its device is blocked by an error. It does not "
      + "count as lost.",
    absence: "No device is blocked."
  ) { ($0.losses.waiting, $0.losses.changes) }

  private static func totals(_ result: ComparisonResult) -> [Column] {
    let first = result.strategies.first
    let changes = first?.losses.changes ?? 0
    return [
      Column(
        heading: "changes lost\nof \(changes.grouped)",
        meaning:
          "A field change is what one device changed in one field before "
          + "it met the others. It is lost unless the final record, or its "
          + "conflict list, shows all of it. A value that a later edit had seen and "
          + "replaced is not lost."
      ) { ($0.losses.lost, $0.losses.changes) },
      Column(
        heading: "records with a\nloss, of \(result.episodes.grouped)",
        meaning: "A record with a loss has lost a change, a base value or its "
          + "existence."
      ) { ($0.score.lossy, $0.score.episodes) },
      Column(
        heading: "loss if deletion\nshould win",
        meaning: "If one device deletes a record that another edits, the edits "
          + "must stay. In the last column, the same endings are judged by the "
          + "opposite rule: the deletion must stay, and those edits do not count."
      ) { ($0.ifDeletionsWin.lossy, $0.ifDeletionsWin.episodes) },
    ]
  }

  /// Returns the columns of the table with every count.
  static func all(_ result: ComparisonResult) -> [Column] {
    totals(result) + scores(result) + counts(result) + agreement(result)
  }

  private static func scores(_ result: ComparisonResult) -> [Column] {
    let first = result.strategies.first
    let plain = first?.plain.episodes ?? 0
    let whenDeleted = first?.ifDeletionsWin.losses.changes ?? 0
    let recordsNoun = "records with a\nloss, "
    return [
      Column(
        heading: "if deletions win,\nlost of \(whenDeleted.grouped)",
        meaning: "The changes lost if deletions win."
      ) { ($0.ifDeletionsWin.losses.lost, $0.ifDeletionsWin.losses.changes) },
      Column(
        heading: recordsNoun + "of \(plain.grouped) plain",
        meaning:
          "A plain record has no deletion, no cleared field and no reset "
          + "counter."
      ) { ($0.plain.lossy, $0.plain.episodes) },
      Column(
        heading: recordsNoun + "other order",
        meaning:
          "The other order is that in which the devices arrive the other "
          + "way round."
      ) {
        $0.reversed.episodes == 0
          ? nil : ($0.reversed.lossy, $0.reversed.episodes)
      },
      Column(
        heading: "lost\nsilently",
        meaning:
          "A change is lost silently if no error and no report showed it.",
        absence: "No change is lost silently."
      ) { ($0.losses.silent, $0.losses.changes) },
      Column(
        heading: "only\nreported",
        meaning: "A change is only reported if an error or a report showed it, "
          + "which is gone after it is read.",
        absence: "No lost change is in an error or a report."
      ) { ($0.losses.reported, $0.losses.changes) },
      Column(
        heading: "kept as\nsiblings",
        meaning: "A change is kept if the record's conflict list shows it.",
        absence: "No change is in a conflict list.",
        share: { ($0.losses.kept, $0.losses.changes) }, isGood: true),
      waiting,
    ]
  }

  private static func counts(_ result: ComparisonResult) -> [Column] {
    func count(
      _ heading: String, _ meaning: String, _ absence: String,
      _ path: KeyPath<Losses, Int> & Sendable
    ) -> Column {
      Column(
        heading: heading, meaning: meaning, absence: absence,
        share: { ($0.losses[keyPath: path], 0) }, isShare: false)
    }
    let base = result.strategies.first?.losses.baseValues ?? 0
    return [
      count(
        "excess",
        "Excess counts changes of registers lost beyond those that cannot be "
          + "shown: of several concurrent values, a register shows one.",
        "No excess change of a register is lost.", \.excess),
      count(
        "counter\nunits",
        "Counter units are the sum of the errors of all counters.",
        "Every counter is right.", \.counterUnits),
      count(
        "elements\nmissing",
        "An element is missing if no removal had seen its insertion.",
        "No element of a set is missing.", \.addsLost),
      count(
        "removals\nundone",
        "A removal is undone if it had seen every insertion of an element that "
          + "is present.",
        "No removal is undone.", \.removesUndone),
      Column(
        heading: "base values\nof \(base.grouped)",
        meaning:
          "Base values are fields that nobody edited and that changed or "
          + "disappeared.",
        absence: "No value that nobody edited is lost."
      ) { ($0.losses.baseValuesLost, $0.losses.baseValues) },
      count(
        "values\ninvented",
        "A value is invented if neither the base nor an edit has its field.",
        "No value is invented.", \.invented),
      count(
        "records\nwrong",
        "A record is wrong if it exists and should not, or the other way round.",
        "Every record exists that should exist, and no other.", \.recordsWrong),
      disagreements,
    ]
  }

  private static func agreement(_ result: ComparisonResult) -> [Column] {
    func column(
      _ heading: String, _ meaning: String,
      _ share: @escaping @Sendable (Agreement) -> (part: Int, whole: Int)
    ) -> Column {
      Column(
        heading: heading, meaning: meaning,
        share: {
          let (part, whole) = share($0.agreement)
          return whole == 0 ? nil : (part, whole)
        }, isGood: true)
    }
    let totals = result.strategies.first?.agreement ?? Agreement()
    return [
      column(
        "fields as people\nleft them, of \(totals.all.fields.grouped)",
        "Fields as people left them are changed fields that end as they do in the "
          + "merge."
      ) { ($0.all.equalFields, $0.all.fields) },
      column(
        "by hand,\nof \(totals.person.fields.grouped)",
        "By hand: the fields of records that a person merged, and not a tool."
      ) { ($0.person.equalFields, $0.person.fields) },
      column(
        "records as people\nleft them, of \(totals.all.records.grouped)",
        "Records as people left them have no other field."
      ) { ($0.all.equalRecords, $0.all.records) },
    ]
  }
}

extension Int {
  /// Returns the share of a total in percent, with one decimal.
  package func percent(of whole: Int) -> String {
    (whole == 0 ? 0 : Double(self) / Double(whole)).percent
  }
}

extension Double {
  /// The share in percent, with one decimal.
  package var percent: String {
    let tenths = Int((abs(self) * 1000).rounded())
    return "\(self < 0 && tenths > 0 ? "−" : "")\(tenths / 10).\(tenths % 10)%"
  }

  /// The share in percent, rounded to a whole number, without the percent sign.
  var wholePercent: String { "\(Int((self * 100).rounded()))" }
}
