// SPDX-License-Identifier: Apache-2.0

/// Everything a replica has to keep between launches.
///
/// A stored replica is a value, and a copy of it is a backup. Open it with
/// ``Replica/init(opening:token:schema:wallClock:makeDeviceID:)``.
///
/// The records and the version are the state. The indexes (`positions`,
/// `byEntity`, `index`, `aliases`, `ahead`) are derived from them and rebuilt
/// on decoding; `_checkInvariants()` checks that they agree.
public struct StoredReplica: Sendable {
  /// The device under which the replica saves.
  ///
  /// Unless `needsNewDeviceID`, no field here has seen a later save of it than
  /// `version[device]`: nobody else saves as this device.
  public internal(set) var device: DeviceID
  /// The source of the timestamps of its saves.
  package internal(set) var hybrid: HybridClock
  /// The saves whose effects are fully applied here.
  ///
  /// Its stability cut is contained in its vector. Its `fieldsAhead` is empty:
  /// fields ahead of the version are in `ahead`, and `shownVersion` adds them.
  var version = ReplicaVersion()
  /// The field names of all records; a slot refers to one by number.
  var names = FieldNames()
  /// The records, each at a position that never changes.
  ///
  /// None is ever removed, since a deletion is a mark. The name of every slot
  /// is in `names`, with the kind of the slot's state.
  var records: [RecordState] = []
  /// The position of each record: the inverse of `records`.
  var positions: [RecordID: Int] = [:]
  /// The positions of each entity's records, ascending: every record is there
  /// once.
  var byEntity: [Name: [Int]] = [:]
  /// For each device, the fields that its saves touched: the inverse of the
  /// fields' clocks.
  var index = ChangeIndex()
  /// The aliases; the IDs that one alias record declares are in one group.
  var aliases = AliasGroups()
  /// The fields ahead of the version: exactly those whose clock it does not
  /// contain.
  ///
  /// There are some when a part of a delta arrived and the rest did not.
  var ahead: Set<ChangeIndex.Location> = []
  /// What the other devices are known to hold; its mark is contained in
  /// `version`.
  var stability = Stability()
  /// The digests of the latest saves of `device`.
  ///
  /// Unless `needsNewDeviceID`, they end with the digest of its last save.
  var ownDigests = OwnDigests()
  /// The last token known to be stored outside every backup; it is of `device`.
  var durableToken: RestoreToken?
  /// The last local save before a peer revealed later ones under our ID.
  ///
  /// Once set, it stays until the replica takes a new device. Saves joined in
  /// the meantime are another incarnation's and must not move it forward.
  var rollbackDetected: UInt64?
  /// The device that `device` replaced, until a save has retired it.
  var predecessor: DeviceID?
  /// The devices under which this installation pulls, by the server's name.
  ///
  /// Unless `needsNewDeviceID`, they are distinct, none of them is `device`,
  /// and no field here has seen a later save of them than `version`.
  var pullers: [Name: DeviceID] = [:]

  #if REJOIN_CHECK_INVARIANTS
    /// The number of mutations since the invariants were last checked.
    var uncheckedMutations = 0
  #endif

  init(device: DeviceID, hybrid: HybridClock) {
    self.device = device
    self.hybrid = hybrid
  }

  /// Whether another incarnation is known to use our ID.
  var needsNewDeviceID: Bool {
    rollbackDetected != nil || ours.contains { version[$0].isForked }
  }

  /// The devices under which only this replica saves.
  var ours: [DeviceID] { [device] + pullers.values }

  /// Replaces the identity by a device that has never saved.
  mutating func resetIdentity(to device: DeviceID) {
    self.device = device
    // All of this is about saves under the old ID. The pullers go, too:
    // whatever gave the old ID to two replicas gave theirs to both as well.
    (rollbackDetected, durableToken, pullers) = (nil, nil, [:])
    ownDigests = OwnDigests()
  }

  /// Returns the position of a record, and adds the record if it is new.
  mutating func intern(_ id: RecordID) -> Int {
    if let position = positions[id] { return position }
    let position = records.count
    records.append(RecordState(id))
    positions[id] = position
    byEntity[Name(id.entity), default: []].append(position)
    return position
  }

  /// Changes a field and enters the change into the index.
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
    // Every change of a field's clock must pass here, or `delta(since:)` would
    // not find it.
    index.note(
      .init(record: UInt32(position), name: number), from: old, to: new
    ) { [records] device, at in records.lastSave(of: device, at: at) }
    return result
  }

  /// Edits a field in a save, and enters the change into the index.
  ///
  /// - Returns: The unobserved siblings that were superseded.
  mutating func change(
    _ key: FieldKey, at position: Int, _ edit: FieldEdit?,
    in save: EditContext
  ) -> [Siblings<Stamped>.Element] {
    let number = names.intern(key)
    var before: UInt64 = 0
    let superseded = records[position].update(number, kind: key.kind) { state in
      before = state.lastSave(of: save.dot.device)
      return state.change(edit, in: save)
    }
    // Of the field's clock, an edit moves only the entry of the author.
    index.note(
      .init(record: UInt32(position), name: number), at: save.dot,
      isReplacing: before > 0
    ) { [records] device, at in records.lastSave(of: device, at: at) }
    return superseded
  }

  /// The state of a field, if any save has touched it.
  subscript(location: ChangeIndex.Location) -> FieldState? {
    records[Int(location.record)][location.name]
  }
}

extension [RecordState] {
  /// The number of a device's last save that touched a field; zero if none did.
  func lastSave(
    of device: DeviceID, at location: ChangeIndex.Location
  ) -> UInt64 {
    self[Int(location.record)][location.name]?.lastSave(of: device) ?? 0
  }
}
