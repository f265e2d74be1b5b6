//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

/// Everything a replica has to keep between launches.
///
/// It is a value: keeping one is a backup. Open it with
/// ``Replica/init(opening:token:schema:clock:renewal:)``.
public struct StoredReplica: Sendable {
  /// The device under which the replica saves.
  public internal(set) var device: DeviceID
  package internal(set) var hybrid: HybridClock
  var clock = ReplicaClock()
  var names = FieldNames()
  var records: [RecordState] = []
  var positions: [RecordID: Int] = [:]
  var byEntity: [Name: [Int]] = [:]
  var index = ChangeIndex()
  /// The last clock that each other device is known to have reached.
  var acknowledged: [DeviceID: VectorClock] = [:]
  /// The saves known to be missing: the last of each device.
  var missing: [DeviceID: UInt64] = [:]
  /// The digest of each of our own saves, by which a clock is recognized that
  /// stems from another history of ours.
  var ownDigests: [UInt64] = []
  /// Set when another incarnation is seen to use our name.
  var mustRenew = false
  /// Messages with saves of a retired device after its last one.
  var aside: [Delta] = []

  init(device: DeviceID, hybrid: HybridClock) {
    self.device = device
    self.hybrid = hybrid
  }

  /// The position of a record, which is added if it is new.
  mutating func intern(_ id: RecordID) -> Int {
    if let position = positions[id] { return position }
    let position = records.count
    records.append(RecordState(id))
    positions[id] = position
    byEntity[Name(id.entity), default: []].append(position)
    return position
  }

  /// Changes a field and notes it in the index.
  mutating func update<Result>(
    _ key: FieldKey, at position: Int,
    _ change: (inout FieldState) -> Result
  ) -> Result {
    let number = names.intern(key)
    var (old, new) = (VectorClock(), VectorClock())
    let result = records[position].update(number, kind: key.kind) { state in
      old = state.clock
      let result = change(&state)
      new = state.clock
      return result
    }
    index.note(
      .init(record: UInt32(position), name: number), from: old, to: new)
    return result
  }
}

/// What the caller keeps outside every backup, to tell whether a stored replica is
/// the one that was last in use.
///
/// It names the last save. Keep the one of ``Replica/token`` after each time you
/// persist the replica, where backups and clones do not reach.
public struct RestoreToken: Hashable, Sendable {
  /// The device that was in use.
  public let device: DeviceID
  let save: ReplicaClock.Save

  /// Creates the token that belongs to a stored replica.
  public init(_ stored: StoredReplica) {
    device = stored.device
    save = stored.clock[stored.device]
  }
}
