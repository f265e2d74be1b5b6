// SPDX-License-Identifier: Apache-2.0

extension MergeReport {
  /// Joins a field and reports its change and its conflicts.
  ///
  /// - Parameter isQuiet: Whether to omit conflicts.
  mutating func join(
    _ theirs: FieldState, into mine: inout FieldState,
    at location: FieldLocation,
    isQuiet: Bool, keepingValues: Bool
  ) {
    let before = mine
    mine.merge(theirs)
    // If the field is unchanged, this replica had seen all received writes, so
    // none of them is concurrent with its own.
    guard mine != before else { return }
    changedRecords.insert(location.record)
    recordChange(before, mine, location, keepingValues)
    if !isQuiet { recordConflicts(before, mine, location) }
  }

  /// Joins a fragment and reports the change.
  mutating func join(
    _ fragment: Fragment, into mine: inout FieldState,
    at location: FieldLocation,
    keepingValues: Bool
  ) {
    let old = keepingValues ? mine : nil
    let before = mine.content(changedBy: fragment.state)
    mine.merge(fragment)
    let after = mine.content(changedBy: fragment.state)
    if after == before { return }
    changedRecords.insert(location.record)
    if after.shows(sameAs: before) { return }
    changedFields.insert(location)
    if let old {
      fieldChanges.append(FieldChange(location: location, old: old, new: mine))
    }
  }

  private mutating func recordChange(
    _ before: FieldState, _ after: FieldState, _ location: FieldLocation,
    _ keepsValues: Bool
  ) {
    if after.shows(sameAs: before) { return }
    changedFields.insert(location)
    if keepsValues {
      fieldChanges.append(
        FieldChange(location: location, old: before, new: after))
    }
  }

  private mutating func recordConflicts(
    _ before: FieldState, _ after: FieldState, _ location: FieldLocation
  ) {
    guard let siblings = after.store(of: Siblings<Stamped>.self) else { return }
    recordConflictingPairs(
      Set(before.writes.map(\.dot)), in: siblings, location)
  }

  /// Reports every pair of an old sibling and a new one.
  ///
  /// Siblings are concurrent: otherwise, the join would drop one of them. Above
  /// the limits, only pairs with the winner are reported. The number of these
  /// pairs is linear in the size of the message, while the number of all pairs
  /// is quadratic.
  private mutating func recordConflictingPairs(
    _ old: Set<Dot>, in siblings: Siblings<Stamped>, _ location: FieldLocation
  ) {
    let new = siblings.filter { !old.contains($0.dot) }
    let kept = siblings.filter { old.contains($0.dot) }
    if Int64(new.count) * Int64(kept.count) <= MergeReport.pairLimit,
      conflicts.count < MergeReport.conflictLimit
    {
      for new in new {
        for kept in kept { note(local: kept, remote: new, location) }
      }
    } else if let winner = siblings.winner {
      let isNew = !old.contains(winner.dot)
      for other in isNew ? kept : new {
        note(
          local: isNew ? other : winner, remote: isNew ? winner : other,
          location)
      }
    }
  }

  /// The maximum number of pairs of one field that are all reported: 32 writes
  /// that meet 32 others.
  static let pairLimit = 1_024

  /// The maximum number of pairs of all fields that are all reported.
  static let conflictLimit = 100_000

  /// Reports two concurrent writes, unless their values are equal.
  private mutating func note(
    local: Siblings<Stamped>.Element, remote: Siblings<Stamped>.Element,
    _ location: FieldLocation
  ) {
    let (x, y) = (RegisterWrite(local), RegisterWrite(remote))
    // An app cannot resolve conflicts in the library's own records.
    if x.value == y.value || BuiltIn.isBuiltIn(location.record.entity) {
      return
    }
    let localWins = (y.time, y.dot) < (x.time, x.dot)
    conflicts.append(
      WriteConflict(
        location: location, winner: localWins ? x : y,
        loser: localWins ? y : x, localWon: localWins,
        reason: x.time == y.time ? .device : .time))
  }
}

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
    if Int64(all.count) * Int64(edits.entries.count)
      <= MergeReport.searchLimit
    {
      open = edits.saves(beyond: all.commonlyCovered)
      deletions = all.filter { [$0].first(leaving: open) != nil }
      // A save of the message replaced the edit that a deletion met.
      if open.isEmpty { return }
    }
    let pairs = Int64(deletions.count) * Int64(open.entries.count)
    if pairs > MergeReport.pairLimit
      || deletionPairs >= MergeReport.conflictLimit
    {
      (deletions, open) = ([met.deletion], VectorClock(met.edit))
    }
    deletionPairs += Int(pairs)
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
