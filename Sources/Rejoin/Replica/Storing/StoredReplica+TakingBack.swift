// SPDX-License-Identifier: Apache-2.0

/// What a replica was before a change, except the content of its records.
///
/// With the records that the change has touched, as a store has them, it takes the
/// change back. That costs what the change has touched.
package struct FormerReplica {
  fileprivate let device: DeviceID
  fileprivate let hybrid: HybridClock
  fileprivate let version: ReplicaVersion
  fileprivate let stability: Stability
  fileprivate let durableToken: RestoreToken?
  fileprivate let rollbackDetected: UInt64?
  fileprivate let predecessor: DeviceID?
  fileprivate let pullers: Pullers
  fileprivate let ahead: Set<FieldLocation>
  fileprivate let positions: RecordIndex.Mark
  fileprivate let index: ChangeIndex.Mark
  /// How many records there were.
  package let recordCount: Int

  fileprivate init(_ stored: StoredReplica) {
    (device, hybrid) = (stored.device, stored.hybrid)
    (version, stability) = (stored.version, stored.stability)
    durableToken = stored.durableToken
    rollbackDetected = stored.rollbackDetected
    (predecessor, pullers) = (stored.predecessor, stored.pullers)
    (ahead, recordCount) = (stored.ahead, stored.records.count)
    (positions, index) = (stored.positions.mark, stored.index.mark)
  }
}

extension FormerReplica {
  /// What a record of it is joined to.
  var withoutRecords: StoredReplica {
    var stored = StoredReplica(device: device, hybrid: hybrid)
    stored.version = version
    return stored
  }
}

extension Replica {
  /// What the replica is before a change.
  ///
  /// - Complexity: O(*d*) for *d* devices.
  package var former: FormerReplica { FormerReplica(stored) }

  /// Takes a change back, if nothing has been sorted in it.
  ///
  /// - Parameters:
  ///   - former: The replica before the change.
  ///   - changed: The positions of the records that have changed.
  ///   - parts: Those of them that were there before, in the same order, and the
  ///     digests of the own saves.
  /// - Returns: Whether it is taken back; if not, nothing has changed.
  package func takeBack(
    to former: FormerReplica, _ changed: [Int], as parts: StoredReplica
  ) -> Bool {
    guard stored.positions.canTakeBack(to: former.positions),
      stored.index.canTakeBack(to: former.index)
    else { return false }
    stored.takeBack(to: former, changed, as: parts)
    stored.formerRecords = nil
    stored.changedRecords = []
    stored._checkInvariants()
    return true
  }
}

extension StoredReplica {
  fileprivate mutating func takeBack(
    to former: FormerReplica, _ changed: [Int], as parts: StoredReplica
  ) {
    for position in changed { forgetFields(ofRecordAt: position) }
    positions.takeBack(
      to: former.positions, without: records[former.recordCount...])
    records.removeSubrange(former.recordCount...)
    for (place, position) in changed.enumerated()
    where position < former.recordCount {
      records[position] = parts.records[place]
      for slot in records[position].slots {
        let location = FieldLocation(record: UInt32(position), name: slot.name)
        noteShared(slot, at: location)
        large[location] =
          parts.large[FieldLocation(record: UInt32(place), name: slot.name)]
      }
    }
    index.takeBack(to: former.index)
    (device, hybrid) = (former.device, former.hybrid)
    (version, stability) = (former.version, former.stability)
    durableToken = former.durableToken
    rollbackDetected = former.rollbackDetected
    (predecessor, pullers) = (former.predecessor, former.pullers)
    (ahead, ownDigests) = (former.ahead, parts.ownDigests)
  }

  /// Forgets what is kept beside a record's fields.
  private mutating func forgetFields(ofRecordAt position: Int) {
    for slot in records[position].slots {
      let location = FieldLocation(record: UInt32(position), name: slot.name)
      forgetShared(at: location)
      large[location] = nil
    }
  }
}
