//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

// Roster, acknowledgements, and what may be forgotten.
extension Replica {
  /// Puts a device on the roster: nothing is stable before it has acknowledged it.
  ///
  /// A device that has saved is on the roster anyway. Enter those that have not.
  ///
  /// - Throws: ``SaveError``; nothing has changed then.
  @discardableResult
  public func enroll(
    _ device: DeviceID, name: String? = nil
  ) throws(SaveError) -> SaveReport {
    try save { edit in
      let id = RecordID(BuiltIn.roster, device.hexadecimal)
      edit.apply(
        .write(BuiltIn.value(of: device)), to: BuiltIn.device, of: id)
      if let name {
        edit.apply(.write(.string(name)), to: BuiltIn.name, of: id)
      }
    }
  }

  /// The devices that are expected to acknowledge, retired ones included.
  public var roster: Set<DeviceID> {
    var roster = Set(stored.clock.vector.entries.map(\.device))
    for entry in devices(in: BuiltIn.roster) { roster.insert(entry.device) }
    roster.insert(device)
    return roster.filter { !$0.isImport }
  }

  /// Notes the clock that another device has reached, as it sent it to us.
  ///
  /// - Returns: What joining did of messages that had been kept aside, and that
  ///   the clock vouches for.
  @discardableResult
  public func acknowledge(
    _ clock: ReplicaClock, by device: DeviceID
  ) -> [MergeReport] {
    noticeOwnSaves(clock[self.device])
    guard device != self.device else { return [] }
    stored.acknowledged[device, default: VectorClock()].merge(clock.vector)
    let waiting = stored.aside
    stored.aside = []
    return waiting.map { apply($0) }.filter { $0.keptAside == nil }
  }

  /// The saves that every device on the roster is known to hold.
  ///
  /// What lies below can be purged and folded. Nothing depends on the cut but when
  /// that is done.
  public var stabilityCut: VectorClock {
    var cut = stored.clock.vector
    let roster = roster
    let witnesses = roster.subtracting(
      devices(in: BuiltIn.retirement).map(\.device))
    for other in roster
    where other != device && counts(other, among: witnesses) {
      cut = cut.intersection(stored.acknowledged[other] ?? VectorClock())
    }
    return cut
  }

  /// Drops what deleted records still hold, in one save, as far as the deletion
  /// is stable.
  ///
  /// They stay deleted.
  ///
  /// An `lww` field at the greatest timestamp, above which nothing can be written,
  /// stays as it is, and is reported.
  ///
  /// - Returns: The dot; `nil` if there was nothing to drop.
  /// - Throws: ``SaveError``; nothing has changed then.
  /// - Complexity: O(*r*) for *r* records.
  @discardableResult
  public func purge() throws(SaveError) -> SaveReport {
    let cut = stabilityCut
    return try save { edit in
      for record in stored.records where isPurgeable(record, below: cut) {
        edit.purge(record.id)
      }
    }
  }

  private func isPurgeable(
    _ record: RecordState, below cut: VectorClock
  ) -> Bool {
    record.isDead(schema[record.id.entity].deletion)
      && record.marks.allSatisfy { cut.contains($0.dot) }
      && record.slots.contains { $0.name != 0 && $0.state.hasContent }
  }

  /// Folds the entries of every ledger below the stability cut.
  ///
  /// Memos of folded entries are gone; no total changes, and no save is made.
  ///
  /// - Returns: The number of entries folded.
  /// - Complexity: O(*r*) for *r* records.
  @discardableResult
  public func fold() -> UInt64 {
    let cut = stabilityCut
    var count: UInt64 = 0
    for position in stored.records.indices {
      for slot in stored.records[position].slots {
        guard case .ledger = slot.state else { continue }
        stored.records[position].update(slot.name, kind: .ledger) { state in
          guard case .ledger(var field) = state else { return }
          field.reshape { count += $0.fold(below: cut) }
          state = .ledger(field)
        }
      }
    }
    return count
  }
}
