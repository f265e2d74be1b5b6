// SPDX-License-Identifier: Apache-2.0

/// The existence of a record before a join.
struct FormerExistence {
  fileprivate var existence = Existence()
  fileprivate var marks = Siblings<ExistenceMark>()
  fileprivate var edits = VectorClock()

  /// - Parameters:
  ///   - record: The record.
  ///   - hasMarks: Whether the message has marks of the record.
  init(_ record: borrowing RecordState, hasMarks: Bool) {
    existence = record.existence
    guard hasMarks || existence.hasDeletion else { return }
    (marks, edits) = (record.marks, record.edits)
  }

  init() {}
}

extension MergeReport {
  /// Reports the creation or deletion of a record, and each deletion that met a
  /// concurrent edit.
  mutating func recordExistence(
    of record: borrowing RecordState, since former: FormerExistence,
    under rule: DeletionRule
  ) {
    let (before, now) = (former.existence, record.existence)
    if !before.holds(rule), now.holds(rule) { createdRecords.insert(record.id) }
    if before.holds(rule), !now.holds(rule) { deletedRecords.insert(record.id) }
    // An app cannot resolve conflicts in the library's own records.
    guard now.hasDeletion, !BuiltIn.isBuiltIn(record.id.entity) else { return }
    let (all, edits) = (record.marks.deletions, record.edits)
    let new = all.filter { former.marks[$0.dot] == nil }
    let old = all.filter { former.marks[$0.dot] != nil }
    let newEdits = edits.saves(beyond: former.edits)
    guard
      let met = new.first(leaving: former.edits)
        ?? old.first(leaving: newEdits)
    else { return }
    var (deletions, open) = (all, edits)
    if all.count * edits.entries.count <= MergeReport.searchLimit {
      open = edits.saves(beyond: all.commonlyCovered)
      deletions = all.filter { [$0].first(leaving: open) != nil }
      // A save of the message replaced the edit that a deletion met.
      if open.isEmpty { return }
    }
    let pairs = deletions.count * open.entries.count
    if pairs > MergeReport.pairLimit
      || deletionPairs >= MergeReport.conflictLimit
    {
      (deletions, open) = ([met.deletion], VectorClock(met.edit))
    }
    deletionPairs += deletions.count * open.entries.count
    deletionConflicts.append(
      DeletionConflict(
        record: record.id,
        deletions: deletions.map { .init(dot: $0.dot, time: $0.payload.time) },
        edits: open.entries.map { Dot($0.device, $0.count) }, rule: rule,
        exists: now.holds(rule)))
  }

  /// The maximum number of deletions times edits of one record that are all
  /// compared.
  static let searchLimit = 1 << 16
}

extension [Siblings<ExistenceMark>.Element] {
  /// The saves that every deletion covers.
  fileprivate var commonlyCovered: VectorClock {
    let clocks = compactMap(\.payload.covered)
    return clocks.dropFirst().reduce(clocks.first ?? VectorClock()) {
      $0.intersection($1)
    }
  }

  /// Returns a deletion that leaves some save uncovered, and that save.
  fileprivate func first(
    leaving saves: VectorClock
  ) -> (deletion: Element, edit: Dot)? {
    if saves.isEmpty { return nil }
    for deletion in self {
      let covered = deletion.payload.covered ?? VectorClock()
      if saves.isContained(in: covered) { continue }
      let left = saves.entries.first { $0.count > covered[$0.device] }
      if let left { return (deletion, Dot(left.device, left.count)) }
    }
    return nil
  }
}
