// SPDX-License-Identifier: Apache-2.0

// What every device on the roster is known to hold, and what may be forgotten.
extension Replica {
  /// Notes the clock that another device has shown.
  ///
  /// From it the replica learns what is stable, and whether an ID is in use twice.
  /// Whoever relays between devices that never meet, as a hub does, must say whose
  /// clock it was shown.
  ///
  /// - Returns: Which devices are forked, and whether later saves of our own were
  ///   shown.
  /// - Complexity: O(*r*) for *r* devices.
  @discardableResult
  public func acknowledge(
    _ clock: ReplicaVersion, by device: DeviceID
  ) -> MergeReport {
    var report = MergeReport()
    for entry in clock.vector.entries {
      see(clock[entry.device], of: entry.device, &report)
    }
    stored.raiseStabilityCut(
      to: clock.stabilityCut.intersection(stored.version.vector))
    if device != self.device {
      stored.stability.note(
        clock.vector, of: device, holding: stored.version.vector)
    }
    advanceStability()
    return report
  }

  /// Sets the next mark when everybody has passed the last.
  func advanceStability() {
    var others = roster
    others.remove(device)
    if let stable = stored.stability.advance(
      others, holding: stored.version.vector)
    {
      stored.raiseStabilityCut(to: stable)
    }
  }

  /// The saves that every device on the roster is known to hold.
  ///
  /// What lies below can be purged and folded. Nothing depends on the cut but when
  /// that is done. It never falls.
  public var stabilityCut: VectorClock { stored.version.stabilityCut }

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
    advanceStability()
    let cut = stabilityCut
    return try save { transaction in
      for record in stored.records where isPurgeable(record, below: cut) {
        transaction.purge(record.id)
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
    advanceStability()
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

extension StoredReplica {
  /// Adds to what is stable, and forgets own digests that no clock can contradict
  /// any more.
  fileprivate mutating func raiseStabilityCut(to cut: VectorClock) {
    version.stabilityCut.merge(cut)
    ownDigests.forget(through: version.stabilityCut[device])
  }
}
