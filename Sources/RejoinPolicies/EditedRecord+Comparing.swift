// SPDX-License-Identifier: Apache-2.0

import Rejoin

// Comparing a record with its state in the store.
extension EditedRecord {
  /// The base, mine and store values of the register and `lww` fields.
  func differences(
    from now: RecordSnapshot, storeIsLater: (FieldKey) -> Bool
  ) -> [FieldKey: FieldDifference] {
    let keys = Set(fetched.fields.keys).union(now.fields.keys)
      .union(changes.values.keys)
    var differences: [FieldKey: FieldDifference] = [:]
    for key in keys where key.kind == .register || key.kind == .lww {
      differences[key] = FieldDifference(
        field: key.name, base: base(key), mine: value(of: key),
        store: now.exists ? now[key].value : nil,
        storeWasDeleted: wasDeleted(in: now), storeIsLater: storeIsLater(key))
    }
    return differences
  }

  /// Whether the record was deleted in the store since it was fetched.
  private func wasDeleted(in now: RecordSnapshot) -> Bool {
    fetched.exists && !now.exists
  }

  /// Whether the record is in conflict even if its registers show none.
  ///
  /// Any edit conflicts with a deletion in the store. A deletion in the context
  /// conflicts with any change by its clock: an increment, or a write of an
  /// equal value, is a change that its author wants to keep.
  func isContested(by now: RecordSnapshot) -> Bool {
    guard isDeleted else { return wasDeleted(in: now) }
    let keys = Set(fetched.fields.keys).union(now.fields.keys)
    return fetched.existence.clock != now.existence.clock
      || keys.contains { hasMoved($0, in: now) }
  }

  private func hasMoved(_ key: FieldKey, in now: RecordSnapshot) -> Bool {
    fetched[key].clock != now[key].clock
  }

  /// The contested counters, sets and ledgers, sorted.
  func others(against now: RecordSnapshot) -> [FieldKey] {
    if isDeleted {
      return now.fields.keys.sorted().filter {
        $0.kind != .register && $0.kind != .lww && hasMoved($0, in: now)
      }
    }
    return wasDeleted(in: now) ? changes.edits.keys.sorted() : []
  }

  /// What creating the record again drops: the fields as fetched, if the record
  /// was deleted then and still is.
  func fieldsToDrop(in replica: Replica) -> [FieldKey: FieldState]? {
    fetched.isDead && replica.fetch(id).isDead ? fetched.fields : nil
  }
}

extension RecordSnapshot {
  /// Returns whether the store's last write of a field is later than a write
  /// that a save would make now.
  ///
  /// If the field holds no write, the last mark of the record's existence
  /// counts.
  func comparison(with replica: Replica) -> (FieldKey) -> Bool {
    let next = (replica.timeOfNextSave ?? .max, replica.device)
    return { key in
      let field = exists && key != .existence ? self[key].write : nil
      guard let write = field ?? existence.write else { return false }
      return next < (write.payload.time, write.dot.device)
    }
  }
}
