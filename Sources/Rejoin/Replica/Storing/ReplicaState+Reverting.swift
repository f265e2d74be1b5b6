// SPDX-License-Identifier: Apache-2.0

/// The state of a replica before a change, except the content of its records.
///
/// With the stored form of the changed records, it can undo the change. The
/// cost depends on the size of the change.
package struct FormerReplica {
  fileprivate let identity: Identity
  fileprivate let hybrid: HybridClock
  let version: ReplicaVersion
  fileprivate let stability: Stability
  fileprivate let ahead: Set<FieldPosition>
  fileprivate let positions: RecordIndex.Checkpoint
  fileprivate let index: ChangeIndex.Checkpoint
  /// The number of records before the change.
  package let recordCount: Int

  let deviceChange: Replica.DeviceChange?

  fileprivate init(
    _ state: ReplicaState, _ deviceChange: Replica.DeviceChange?
  ) {
    self.deviceChange = deviceChange
    (identity, hybrid) = (state.identity.withoutDigests, state.hybrid)
    (version, stability) = (state.version, state.stability)
    (ahead, recordCount) = (state.ahead, state.records.count)
    (positions, index) = (state.positions.checkpoint, state.index.checkpoint)
  }
}

extension FormerReplica {
  /// The former state without its records.
  var withoutRecords: ReplicaState {
    var state = ReplicaState(device: identity.device, hybrid: hybrid)
    state.version = version
    return state
  }
}

extension Replica {
  /// The state of the replica before a change.
  ///
  /// - Complexity: O(*d*), where *d* is the number of devices.
  package var former: FormerReplica {
    FormerReplica(current, deviceChange)
  }

  /// Undoes a change, unless the change sorted an index.
  ///
  /// - Parameters:
  ///   - former: The replica before the change.
  ///   - changed: The positions of the changed records.
  ///   - parts: The changed records that existed before, in the same order, and
  ///     the digests of the replica's own saves.
  /// - Returns: Whether the change was undone. Otherwise, the replica is
  ///   unchanged.
  package func revert(
    to former: FormerReplica, _ changed: [Int], as parts: ReplicaState
  ) -> Bool {
    guard current.positions.canRevert(to: former.positions),
      current.index.canRevert(to: former.index)
    else { return false }
    current.revert(to: former, changed, as: parts)
    deviceChange = former.deviceChange
    current.formerRecords = nil
    current.changedRecords = []
    current._checkInvariants()
    return true
  }
}

extension ReplicaState {
  fileprivate mutating func revert(
    to former: FormerReplica, _ changed: [Int], as parts: ReplicaState
  ) {
    for position in changed { forgetFields(ofRecordAt: position) }
    positions.revert(
      to: former.positions, without: records[former.recordCount...])
    records.removeSubrange(former.recordCount...)
    for (index, position) in changed.enumerated()
    where position < former.recordCount {
      records[position] = parts.records[index]
      for slot in records[position].slots {
        let location = FieldPosition(record: UInt32(position), name: slot.name)
        trackConflicted(slot, at: location)
        largeFields[location] =
          parts.largeFields[
            FieldPosition(record: UInt32(index), name: slot.name)]
      }
    }
    index.revert(to: former.index)
    (identity, hybrid) = (former.identity, former.hybrid)
    (version, stability) = (former.version, former.stability)
    (ahead, identity.ownDigests) = (former.ahead, parts.ownDigests)
  }

  /// Removes a record's fields from the lists of shared and large fields.
  private mutating func forgetFields(ofRecordAt position: Int) {
    for slot in records[position].slots {
      let location = FieldPosition(record: UInt32(position), name: slot.name)
      forgetShared(at: location)
      largeFields[location] = nil
    }
  }
}

// The authors of the changes in a message, which a hub checks.
extension ReplicaState {
  /// Returns the devices in whose name records changed.
  ///
  /// A new save names its device by a dot that the field had not seen. All
  /// other changes alter the content of known saves, which a message must not
  /// do. In a counter or a ledger, the content is the additions of each device.
  /// In any field, it is everything that changes without a new save. A mark
  /// whose author had seen later saves of a device than the replica knows
  /// speaks for that device.
  ///
  /// - Parameter before: The state when the recording of changed records
  ///   started.
  /// - Complexity: O(*k*), where *k* is the number of changed records.
  package func authors(since before: ReplicaState) -> Set<DeviceID> {
    var authors: Set<DeviceID> = []
    for record in changedRecords ?? [] {
      let isNew = Int(record) >= before.records.count
      for slot in records[Int(record)].slots {
        let location = FieldPosition(record: record, name: slot.name)
        slot.state.addAuthors(
          since: isNew ? nil : before[location], to: &authors)
        for entry in slot.marks.flatMap(\.payload.clock.entries)
        where entry.count > lastKnownSave(of: entry.device) {
          authors.insert(entry.device)
        }
      }
    }
    return authors
  }
}

extension FieldState {
  fileprivate func addAuthors(
    since before: FieldState?, to authors: inout Set<DeviceID>
  ) {
    let devices = contributors
    guard let before else {
      authors.formUnion(devices)
      return
    }
    let (clock, known) = (clock, before.clock)
    var hasSave = false
    for device in devices {
      if clock[device] > known[device] {
        hasSave = true
        authors.insert(device)
      } else if !adds(sameAs: before, by: device) {
        authors.insert(device)
      }
    }
    // A removal is also a save. Folding does not make a state unequal.
    if !hasSave, self != before { authors.formUnion(devices) }
  }

  /// The devices in the clock and, if a message is forged, the devices that
  /// have additions without a save in the clock.
  private var contributors: Set<DeviceID> {
    Set(clock.entries.map(\.device)).union(read { $0.contributors })
  }
}
