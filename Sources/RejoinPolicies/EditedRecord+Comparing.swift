// SPDX-License-Identifier: Apache-2.0

import Rejoin

// What has become of a record since it was fetched.
extension EditedRecord {
  /// The register and `lww` fields as three parties see them.
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

  /// Whether somebody deleted the record.
  private func wasDeleted(in now: RecordSnapshot) -> Bool {
    fetched.exists && !now.exists
  }

  /// Whether the edits conflict whatever the registers say: any edit does with a
  /// deletion, and a deletion with anything that has moved, by its clock.
  func isContested(by now: RecordSnapshot) -> Bool {
    guard isDeleted else { return wasDeleted(in: now) }
    let keys = Set(fetched.fields.keys).union(now.fields.keys)
    return fetched.existence.clock != now.existence.clock
      || keys.contains { hasMoved($0, in: now) }
  }

  private func hasMoved(_ key: FieldKey, in now: RecordSnapshot) -> Bool {
    fetched[key].clock != now[key].clock
  }

  /// The counters, sets and ledgers that are contested.
  func others(against now: RecordSnapshot) -> [FieldKey] {
    if isDeleted {
      return now.fields.keys.sorted().filter {
        $0.kind != .register && $0.kind != .lww && hasMoved($0, in: now)
      }
    }
    return wasDeleted(in: now) ? changes.edits.keys.sorted() : []
  }

  /// What creating the record again drops, where it had been deleted when it was
  /// fetched and still is.
  func fieldsToDrop(in replica: Replica) -> [FieldKey: FieldState]? {
    fetched.isDead && replica.fetch(id).isDead ? fetched.fields : nil
  }
}

extension RecordSnapshot {
  /// Compares the last write of a field, or of the record where the field holds
  /// none, with the write that a save would make now.
  func comparison(with replica: Replica) -> (FieldKey) -> Bool {
    let next = (replica.timeOfNextSave ?? .max, replica.device)
    return { key in
      let field = exists && key != .existence ? self[key].write : nil
      guard let write = field ?? existence.write else { return false }
      return next < (write.payload.time, write.dot.device)
    }
  }
}
