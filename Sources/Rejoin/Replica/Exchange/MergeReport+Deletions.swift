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
      new.leave(former.edits) || old.leave(newEdits)
    else { return }
    let open = edits.saves(beyond: all.commonlyCovered)
    let pairs = all.count * open.entries.count
    let isListed =
      pairs <= MergeReport.pairLimit
      && deletionPairs < MergeReport.conflictLimit
    deletionPairs += pairs
    let deletions =
      isListed ? all.filter { [$0].leave(open) } : Array(all.prefix(1))
    deletionConflicts.append(
      DeletionConflict(
        record: record.id,
        deletions: deletions.map { .init(dot: $0.dot, time: $0.payload.time) },
        edits: open.entries.prefix(isListed ? pairs : 1)
          .map { Dot($0.device, $0.count) }, rule: rule,
        exists: now.holds(rule)))
  }
}

extension [Siblings<ExistenceMark>.Element] {
  /// The saves that every deletion covers.
  fileprivate var commonlyCovered: VectorClock {
    let clocks = compactMap(\.payload.covered)
    return clocks.dropFirst().reduce(clocks.first ?? VectorClock()) {
      $0.intersection($1)
    }
  }

  /// Returns whether any deletion leaves some saves uncovered.
  fileprivate func leave(_ saves: VectorClock) -> Bool {
    !isEmpty && !saves.isContained(in: commonlyCovered)
  }
}
