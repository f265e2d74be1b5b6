// SPDX-License-Identifier: Apache-2.0

// The saves that every device on the roster is known to hold, and what can be
// dropped because of it.
extension Replica {
  /// Records the saves that another device holds.
  ///
  /// The replica learns which saves are stable. A hub that relays between
  /// devices must pass on each version under the ID of the device that showed
  /// it.
  ///
  /// A version is a claim, so it marks no device as forked. If it shows a later
  /// save of this device than the replica holds, the replica takes a new device
  /// ID before its next save.
  ///
  /// - Parameters:
  ///   - version: The version of the other device.
  ///   - device: The device that showed the version, or `nil` for a hub, which
  ///     keeps saves for devices and makes no saves itself. Saves that are
  ///     stable at the hub then become stable in this replica.
  /// - Returns: A report without faults, or with
  ///   ``MergeReport/lastSaveBeforeRollback``.
  /// - Complexity: O(*r* + *s*), where *r* is the number of devices in the version
  ///   and *s* the number of servers pulled from, and now and then O(*d*), where *d*
  ///   is the number of devices on the roster.
  @discardableResult
  public func recordVersion(
    _ version: ReplicaVersion, of device: DeviceID? = nil
  ) -> MergeReport {
    recordVersion(version, of: device, beside: [])
  }

  /// Records the saves that another device holds, in a replica that lacks records.
  ///
  /// - Parameter devices: The devices that have saves in records which this
  ///   replica lacks.
  package func recordVersion(
    _ version: ReplicaVersion, of device: DeviceID?,
    beside devices: some Collection<DeviceID>
  ) -> MergeReport {
    var report = MergeReport()
    let isBehind = stored.identity.ownDevices.contains {
      version[$0].sequence > stored.version[$0].sequence
    }
    if isBehind {
      report.lastSaveBeforeRollback = stored.identity.recordRollback(
        at: stored.version)
    }
    // Saves that are stable but not here yet would put the cut beyond the
    // version.
    stored.version.stabilityCut.merge(
      version.stabilityCut.intersection(stored.version.vectorClock))
    // Stability awaits only the others.
    if let device, device != self.device {
      stored.stability.note(
        version.vectorClock, of: device, holding: stored.version.vectorClock)
    }
    advanceStability(beside: devices)
    return report
  }

  /// Sets the next mark if every other device on the roster has passed the
  /// last.
  ///
  /// - Parameter devices: The devices that have saves in records which this
  ///   replica lacks.
  func advanceStability(beside devices: some Collection<DeviceID> = []) {
    // Most devices have not shown a later version since. The roster need not be
    // listed while one of them is missing.
    if let awaited = stored.stability.awaited, awaited != device,
      isOnRoster(awaited)
    {
      return stored._checkInvariants()
    }
    var others = roster.union(devices.filter(isOnRoster))
    // We hold whatever is in our own mark.
    others.remove(device)
    if let stable = stored.stability.advance(
      others, holding: stored.version.vectorClock)
    {
      stored.version.stabilityCut.merge(stable)
    }
    stored._checkInvariants()
  }

  /// The saves that every device on the roster is known to hold.
  ///
  /// Deletions below it can be purged, and ledger entries below it folded. The
  /// cut decides only when that happens: no result depends on it, except the
  /// memos of folded entries. It never falls.
  public var stabilityCut: VectorClock { stored.version.stabilityCut }

  /// Drops the contents of records whose deletion is stable, in one save.
  ///
  /// The records stay deleted.
  ///
  /// - Returns: The report of the save; its dot is `nil` if there was nothing
  ///   to drop.
  /// - Throws: ``SaveError``. On error, the replica is unchanged.
  /// - Complexity: O(*r*) for *r* records.
  @discardableResult
  public func purgeDeletedRecords() throws(SaveError) -> SaveReport {
    advanceStability()
    let cut = stabilityCut
    return try save { transaction in
      for record in stored.records where isPurgeable(record, below: cut) {
        transaction.purge(record.id)
      }
    }
  }

  /// Whether a record is dead, all its marks are stable, and it has contents.
  ///
  /// A mark above the cut could be a deletion that others have yet to see:
  /// their updates would then be concurrent with the purge.
  private func isPurgeable(
    _ record: RecordState, below cut: VectorClock
  ) -> Bool {
    record.isDead(schema[record.id.entity].deletion)
      && record.marks.allSatisfy { cut.contains($0.dot) }
      && record.slots.contains { $0.name != 0 && $0.state.hasContent }
  }

  /// Folds the entries below the stability cut, in every ledger, into their
  /// sums.
  ///
  /// Folding drops the memos of these entries. It changes no total and makes no
  /// save.
  ///
  /// - Returns: The number of entries folded.
  /// - Complexity: O(*r*) for *r* records.
  @discardableResult
  public func foldLedgers() -> UInt64 {
    advanceStability()
    let cut = stabilityCut
    var count: UInt64 = 0
    for position in stored.records.indices {
      // Past the index, which need not know: folding changes no clock.
      for slot in stored.records[position].slots {
        guard stored.names.kind(of: slot.name) == .ledger,
          let ledger = slot.state.store(of: Ledger.self),
          ledger.canFold(below: cut)
        else { continue }
        stored.recordChange(of: UInt32(position))
        let location = FieldPosition(
          record: UInt32(position), name: slot.name)
        stored.largeFields[location]?.recordFold()
        stored.records[position].update(
          slot.name, kind: .ledger, refers: false
        ) { slot in
          slot.update { state in
            _ = state.change(Ledger.self) { field in
              field.reshape { count += $0.fold(below: cut) }
            }
          }
        }
      }
    }
    stored._checkInvariants()
    return count
  }
}
