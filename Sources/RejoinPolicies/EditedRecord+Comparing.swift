// SPDX-License-Identifier: Apache-2.0

import Rejoin

// Comparing a record with its state in the store.
extension EditedRecord {
  /// Returns the base, mine and store values of the registers that may
  /// conflict.
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

  /// Returns whether the record was deleted in the store after it was fetched.
  private func wasDeleted(in now: Record) -> Bool {
    fetched.exists && !now.exists
  }

  /// Returns whether the record is in conflict even if its registers show no
  /// conflict.
  ///
  /// Any edit conflicts with a deletion in the store. A deletion in the context
  /// conflicts with any change of a clock: an increment, or a write of an equal
  /// value, is a change that its author wants to keep.
  func isContested(by now: Record) -> Bool {
    guard isDeleted else { return wasDeleted(in: now) }
    return hasMoved(.existence, in: now)
      || seenFields.union(now.fields).subtracting(quiet)
        .contains { hasMoved($0, in: now) }
  }

  private func hasMoved(_ key: FieldKey, in now: Record) -> Bool {
    seen(key).clock != now[key].clock
  }

  /// Returns the contested counters, sets, ledgers and quiet registers, sorted.
  ///
  /// These fields never conflict with each other.
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

  /// Returns the shown saves, without those after an unseen save of the same
  /// device.
  ///
  /// A refresh can show the later of two saves of a device and leave the
  /// earlier one unseen in an edited field. A clock that contains the later
  /// save contains both.
  func seenSaves(_ now: Record) -> VectorClock {
    let keys = seenFields.union(now.fields).union([.existence])
    var saves = keys.reduce(into: VectorClock()) { $0.merge(seen($1).clock) }
    for key in keys {
      let shown = seen(key).clock
      for entry in now[key].clock.saves(beyond: shown).entries {
        saves[entry.device] = min(saves[entry.device], entry.count - 1)
      }
    }
    return saves
  }

  /// Returns the saves that the record has seen and the replica's fields have
  /// not.
  func savesMissing(in replica: Replica) -> VectorClock {
    let now = replica.recordForEditing(id)
    var missing = VectorClock()
    for key in seenFields.union([.existence]) {
      missing.merge(seen(key).clock.saves(beyond: now[key].clock))
    }
    return missing
  }

  /// Returns the fields to drop when the record is created again, or `nil`
  /// unless it was deleted when it was fetched and still is.
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
  /// For the existence and for a field without a write, the last mark or write
  /// of the record counts. Counters and sets have no times.
  func comparison(with replica: Replica) -> (FieldKey) -> Bool {
    let next = (replica.timeOfNextSave ?? .max, replica.device)
    return { key in
      let field = exists && key != .existence ? self[key].write : nil
      let last = field.map { ($0.time, $0.dot.device) } ?? lastTime
      return last.map { next < $0 } ?? false
    }
  }

  /// The time and device of the last mark or, if the record exists, the last
  /// write.
  private var lastTime: (Timestamp, DeviceID)? {
    let marks = self[.existence].marks.map { ($0.time, $0.dot.device) }
    let writes =
      exists
      ? fields.compactMap { self[$0].write }
        .map { ($0.time, $0.dot.device) } : []
    return (marks + writes).max { $0 < $1 }
  }
}
