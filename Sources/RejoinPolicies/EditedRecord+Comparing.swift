// SPDX-License-Identifier: Apache-2.0

import Rejoin

// Comparing a record with its state in the store.
extension EditedRecord {
  /// The base, mine and store values of the registers that may be in conflict.
  func differences(
    from now: Record, storeIsLater: (FieldKey) -> Bool
  ) -> [FieldKey: FieldDifference] {
    let keys = seenFields.union(now.fields).union(changes.values.keys)
    var differences: [FieldKey: FieldDifference] = [:]
    for key in keys.subtracting(quiet)
    where key.kind == .register && changes.resolved[key] == nil {
      differences[key] = FieldDifference(
        field: key.name, base: base(key), mine: value(of: key),
        store: now.exists ? now[key].value : nil,
        storeWasDeleted: wasDeleted(in: now), storeIsLater: storeIsLater(key))
    }
    return differences
  }

  /// Whether the record was deleted in the store since it was fetched.
  private func wasDeleted(in now: Record) -> Bool {
    fetched.exists && !now.exists
  }

  /// Whether the record is in conflict even if its registers show none.
  ///
  /// Any edit conflicts with a deletion in the store. A deletion in the context
  /// conflicts with any change by its clock: an increment, or a write of an
  /// equal value, is a change that its author wants to keep.
  func isContested(by now: Record) -> Bool {
    guard isDeleted else { return wasDeleted(in: now) }
    return isMarked(in: now)
      || seenFields.union(now.fields).subtracting(quiet)
        .contains { hasMoved($0, in: now) }
  }

  /// Whether the record's existence has changed since the fetch.
  ///
  /// Every save marks the record as existing, and the mark of a save that writes
  /// a quiet register does not count.
  private func isMarked(in now: Record) -> Bool {
    guard hasMoved(.existence, in: now) else { return false }
    let (before, marks) = (seen(.existence).clock, now[.existence].writes)
    let new = marks.map(\.dot).filter { !before.contains($0) }
    let quietSaves = Set(quiet.flatMap { now[$0].writes.map(\.dot) })
    return new.isEmpty || !quietSaves.isSuperset(of: new)
  }

  private func hasMoved(_ key: FieldKey, in now: Record) -> Bool {
    seen(key).clock != now[key].clock
  }

  /// The contested fields that never conflict with each other, sorted:
  /// counters, sets, ledgers and quiet registers.
  func others(against now: Record) -> [FieldKey] {
    if isDeleted {
      return now.fields.filter {
        $0.kind != .register && hasMoved($0, in: now)
      }
    }
    guard wasDeleted(in: now) else { return [] }
    return
      (Array(changes.edits.keys) + quietWrites.keys
      + changes.resolved.keys).sorted()
  }

  /// The states that the edits are based on.
  var seenStates: [FieldKey: FieldState] {
    seenFields.reduce(into: [:]) { $0[$1] = seen($1) }
  }

  /// The saves that the record has seen and that a replica's fields have not.
  func savesMissing(in replica: Replica) -> VectorClock {
    let now = replica.recordForEditing(id)
    var missing = VectorClock()
    for key in seenFields.union([.existence]) {
      missing.merge(seen(key).clock.saves(beyond: now[key].clock))
    }
    return missing
  }

  /// What creating the record again drops: the fields as fetched, if the record
  /// was deleted then and still is.
  func fieldsToDrop(in replica: Replica) -> [FieldKey: FieldState]? {
    fetched.isDead && replica.recordForEditing(id).isDead ? seenStates : nil
  }
}

extension Record {
  /// The states of all fields.
  var states: [FieldKey: FieldState] {
    fields.reduce(into: [:]) { $0[$1] = self[$1] }
  }

  /// Returns whether the store's last write of a field is later than a write
  /// that a save would make now.
  ///
  /// If the field holds no write, the last mark of the record's existence
  /// counts.
  func comparison(with replica: Replica) -> (FieldKey) -> Bool {
    let next = (replica.timeOfNextSave ?? .max, replica.device)
    return { key in
      let field = exists && key != .existence ? self[key].write : nil
      guard let write = field ?? self[.existence].write else { return false }
      return next < (write.payload.time, write.dot.device)
    }
  }
}
