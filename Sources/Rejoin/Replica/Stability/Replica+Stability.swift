// SPDX-License-Identifier: Apache-2.0

// The saves that every device on the roster is known to hold, and the content
// that a replica can drop because of them.
extension Replica {
  /// Records the saves that another device holds.
  ///
  /// The replica learns from the version which saves are stable. Apply the
  /// changes that came with the version first: until the replica holds the
  /// device's own saves in the version, the version does not count. A hub that
  /// relays between devices must pass on each version under the ID of the
  /// device that showed it.
  ///
  /// A version is only a claim, so it does not mark a device as forked. If it
  /// shows a later save of this device than the replica holds, the replica
  /// takes a new device ID before its next save.
  ///
  /// - Parameters:
  ///   - version: The version of the other device.
  ///   - device: The device that showed the version, or `nil` for a hub, which
  ///     keeps saves for devices and makes no saves itself. Saves that are
  ///     stable at the hub then become stable in this replica.
  /// - Returns: A report without faults, or with
  ///   ``MergeReport/lastSaveBeforeRollback``.
  /// - Complexity: O(*r* + *s*), where *r* is the number of devices in the
  ///   version and *s* the number of servers pulled from. Occasionally also
  ///   O(*d*), where *d* is the number of devices on the roster.
  @discardableResult
  public func recordVersion(
    _ version: ReplicaVersion, of device: DeviceID? = nil
  ) -> MergeReport {
    recordVersion(version, of: device, counting: [])
  }

  /// Records the saves that another device holds, in a replica that lacks
  /// records.
  ///
  /// - Parameter devices: The devices with saves in records that this replica
  ///   lacks.
  package func recordVersion(
    _ version: ReplicaVersion, of device: DeviceID?,
    counting devices: some Collection<DeviceID>
  ) -> MergeReport {
    var report = MergeReport()
    if current.isBehind(version) {
      report.lastSaveBeforeRollback = current.identity.recordRollback(
        at: current.version)
    }
    let (shown, held) = (version.vectorClock, current.version.vectorClock)
    let missing = shown.saves(beyond: held)
    // The other device took the cut from saves that it holds. Until they are
    // here, an edit that was made before a stable deletion could be missing.
    if missing.isEmpty {
      current.version.stabilityCut.merge(
        version.stabilityCut.intersection(held))
    }
    // Stability awaits only other devices.
    if let device, device != self.device {
      let mayPass = canMiss(missing, of: device, counting: devices)
      current.stability.record(
        shown, of: device, holding: held,
        beyond: current.version.stabilityCut, mayPass: mayPass)
    }
    advanceStability(counting: devices)
    return report
  }

  /// Returns whether a device can pass a target although the replica lacks some
  /// saves in the version that it showed.
  ///
  /// Such a save must be from another device on the roster, because that device
  /// must pass the target itself. Pulls and imports save under devices that are
  /// not on the roster.
  private func canMiss(
    _ missing: VectorClock, of device: DeviceID,
    counting devices: some Collection<DeviceID>
  ) -> Bool {
    if missing.isEmpty { return true }
    // A device that this replica does not know can stand for a server.
    let roster = roster(counting: devices)
    return missing.entries.allSatisfy {
      $0.device != device && roster.contains($0.device)
    }
  }

  /// Returns the roster with the devices on it that have saves only in records
  /// that this replica lacks.
  func roster(
    counting devices: some Collection<DeviceID>
  ) -> Set<DeviceID> {
    roster.union(devices.filter(isOnRoster))
  }

  /// Sets the next target if every other device on the roster passed the last
  /// one.
  ///
  /// - Parameter devices: The devices with saves in records that this replica
  ///   lacks.
  func advanceStability(counting devices: some Collection<DeviceID> = []) {
    // Listing the roster is not necessary while one of its devices must still
    // pass.
    if let awaited = current.stability.awaited, awaited != device,
      isOnRoster(awaited)
    {
      return current._checkInvariants()
    }
    var others = roster(counting: devices)
    // This replica holds all saves in its own target.
    others.remove(device)
    if let stable = current.stability.advance(
      others, holding: current.version.vectorClock)
    {
      current.version.stabilityCut.merge(stable)
    }
    current._checkInvariants()
  }

  /// The saves that every device on the roster is known to hold.
  ///
  /// Deletions below the cut can be purged, and ledger entries below it can be
  /// folded. The cut decides only when that happens. Content does not depend on
  /// it, except for the memos of folded entries. It also decides until when a
  /// deleted record can be restored, and an edit from before the deletion saved
  /// (``purgeDeletedRecords()``). The cut never falls.
  public var stabilityCut: VectorClock { current.version.stabilityCut }

  /// Folds the entries below the stability cut, in every ledger, into their
  /// sums.
  ///
  /// Folding drops the memos of these entries. It does not change totals or
  /// create a save.
  ///
  /// - Returns: The number of folded entries.
  /// - Complexity: O(*r*), where *r* is the number of records.
  @discardableResult
  public func foldLedgers() -> UInt64 {
    advanceStability()
    let cut = stabilityCut
    var count: UInt64 = 0
    for position in current.records.indices {
      // Bypass the index: folding does not change any clock.
      for slot in current.records[position].slots {
        guard current.names.kind(of: slot.name) == .ledger,
          let ledger = slot.state.store(of: Ledger.self),
          ledger.canFold(below: cut)
        else { continue }
        current.recordChange(of: UInt32(position))
        let location = FieldPosition(
          record: UInt32(position), name: slot.name)
        current.largeFields[location]?.recordFold()
        current.records[position].update(
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
    current._checkInvariants()
    return count
  }
}

/// The known progress of other devices, in memory linear in the number of
/// devices.
///
/// A *target* is the replica's version at some moment. When every device on the
/// roster passed it, the saves in the target are stable, and the next target is
/// set. A device passes by showing a version that contains the target, after the
/// replica received the device's own saves in this version. An edit that its
/// author made before it saw a stable deletion is therefore never missing. A
/// matrix clock would find the cut sooner, in memory quadratic in the number of
/// devices.
struct Stability: Sendable {
  /// The awaited saves, which the replica's version always contains.
  private(set) var target = VectorClock()

  /// The devices that passed the target.
  ///
  /// Versions only grow, so a device that passed stays passed.
  private(set) var passed: Set<DeviceID> = []

  /// A device on the roster that must still pass, or `nil` if it must be found.
  ///
  /// The choice does not matter. A set chooses at random, so few devices that
  /// pass are the awaited one, regardless of their order.
  private(set) var awaited: DeviceID?

  init() {}

  init(target: VectorClock, passed: Set<DeviceID>) {
    (self.target, self.passed) = (target, passed)
  }

  /// Records the version that a device showed.
  ///
  /// - Parameters:
  ///   - held: The version of the replica.
  ///   - cut: The saves that are stable.
  ///   - mayPass: Whether the device passes if `clock` contains the target.
  mutating func record(
    _ clock: VectorClock, of device: DeviceID, holding held: VectorClock,
    beyond cut: VectorClock, mayPass: Bool
  ) {
    // This is also the case for the empty target of a new replica, which every
    // version contains.
    if isReached(at: cut, holding: held) { (target, passed) = (held, []) }
    if mayPass, target.isContained(in: clock) {
      passed.insert(device)
      if device == awaited { awaited = nil }
    }
  }

  /// Returns whether the target is stable, and there are saves beyond it.
  func isReached(at cut: VectorClock, holding held: VectorClock) -> Bool {
    target != held && target.isContained(in: cut)
  }

  /// Sets the next target if every device on the roster passed the last one.
  ///
  /// - Parameters:
  ///   - roster: The other devices that stability awaits.
  ///   - held: The version of the replica.
  /// - Returns: The saves that are now stable, or `nil` if a device must still
  ///   pass.
  mutating func advance(
    _ roster: Set<DeviceID>, holding held: VectorClock
  ) -> VectorClock? {
    awaited = roster.first { !passed.contains($0) }
    if roster.isEmpty { return held }
    guard awaited == nil else { return nil }
    // Without later saves, each device would pass the same target again.
    defer { if target != held { (target, passed) = (held, []) } }
    return target
  }
}

extension Stability {
  #if REJOIN_CHECK_INVARIANTS
    /// Checks that the replica's version contains the target.
    func _checkInvariants(holding held: VectorClock) {
      precondition(
        target.isContained(in: held),
        "the stability target \(target) is beyond the version \(held)")
    }
  #else
    func _checkInvariants(holding held: VectorClock) {}
  #endif
}
