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
  fileprivate let positions: RecordIndex.Mark
  fileprivate let index: ChangeIndex.Mark
  /// The number of records before the change.
  package let recordCount: Int

  let deviceChange: Replica.DeviceChange?

  fileprivate init(
    _ stored: ReplicaState, _ deviceChange: Replica.DeviceChange?
  ) {
    self.deviceChange = deviceChange
    (identity, hybrid) = (stored.identity.withoutDigests, stored.hybrid)
    (version, stability) = (stored.version, stored.stability)
    (ahead, recordCount) = (stored.ahead, stored.records.count)
    (positions, index) = (stored.positions.mark, stored.index.mark)
  }
}

extension FormerReplica {
  /// The former state without its records.
  var withoutRecords: ReplicaState {
    var stored = ReplicaState(device: identity.device, hybrid: hybrid)
    stored.version = version
    return stored
  }
}

extension Replica {
  /// The state of the replica before a change.
  ///
  /// - Complexity: O(*d*), where *d* is the number of devices.
  package var former: FormerReplica {
    FormerReplica(stored, deviceChange)
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
    guard stored.positions.canTakeBack(to: former.positions),
      stored.index.canTakeBack(to: former.index)
    else { return false }
    stored.revert(to: former, changed, as: parts)
    deviceChange = former.deviceChange
    stored.formerRecords = nil
    stored.changedRecords = []
    stored._checkInvariants()
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
    for (place, position) in changed.enumerated()
    where position < former.recordCount {
      records[position] = parts.records[place]
      for slot in records[position].slots {
        let location = FieldPosition(record: UInt32(position), name: slot.name)
        trackConflicted(slot, at: location)
        largeFields[location] =
          parts.largeFields[
            FieldPosition(record: UInt32(place), name: slot.name)]
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
