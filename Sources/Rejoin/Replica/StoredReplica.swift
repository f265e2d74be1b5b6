// SPDX-License-Identifier: Apache-2.0

/// Everything a replica has to keep between launches.
///
/// It is a value: keeping one is a backup. Open it with
/// ``Replica/init(opening:token:schema:wallClock:makeDeviceID:)``.
public struct StoredReplica: Sendable {
  /// The device under which the replica saves.
  public internal(set) var device: DeviceID
  package internal(set) var hybrid: HybridClock
  /// The saves of which every effect is here; which fields are ahead of it is not
  /// in it, but in `ahead`.
  var version = ReplicaVersion()
  var names = FieldNames()
  var records: [RecordState] = []
  var positions: [RecordID: Int] = [:]
  var byEntity: [Name: [Int]] = [:]
  var index = ChangeIndex()
  var aliases = AliasGroups()
  /// The fields that have seen saves beyond the clock: a part of a delta arrived,
  /// and the rest did not.
  var ahead: Set<ChangeIndex.Location> = []
  var stability = Stability()
  var ownDigests = OwnDigests()
  /// The last token that is known to be stored where no backup reaches.
  var durableToken: RestoreToken?
  /// The last save that was ours for certain, once later ones of our own have been
  /// shown to us.
  var rollbackDetected: UInt64?
  /// The device that this one took the place of, until a save has retired it.
  var predecessor: DeviceID?
  /// The devices of this installation that stand for servers, by their names.
  var pullers: [Name: DeviceID] = [:]

  init(device: DeviceID, hybrid: HybridClock) {
    self.device = device
    self.hybrid = hybrid
  }

  /// Whether another incarnation is known to use our ID.
  var needsNewDeviceID: Bool {
    rollbackDetected != nil || ours.contains { version[$0].isForked }
  }

  /// The devices that nobody but this replica saves as.
  var ours: [DeviceID] { [device] + pullers.values }

  /// Goes on under a device that has never saved.
  mutating func become(_ device: DeviceID) {
    self.device = device
    (rollbackDetected, durableToken, pullers) = (nil, nil, [:])
    ownDigests = OwnDigests()
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
      .init(record: UInt32(position), name: number), from: old, to: new
    ) { [records] device, at in records.lastSave(of: device, at: at) }
    return result
  }

  /// The state of a field, if any save has touched it.
  subscript(location: ChangeIndex.Location) -> FieldState? {
    records[Int(location.record)][location.name]
  }
}

extension [RecordState] {
  /// The number of a device's last save that touched a field.
  func lastSave(
    of device: DeviceID, at location: ChangeIndex.Location
  ) -> UInt64 {
    self[Int(location.record)][location.name]?.lastSave(of: device) ?? 0
  }
}
