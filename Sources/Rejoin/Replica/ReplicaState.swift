// SPDX-License-Identifier: Apache-2.0

/// The state that a replica needs when it is opened again.
///
/// A state is a value, and a copy of it is a backup. Open it with
/// ``Replica/init(opening:token:schema:wallClock:makeDeviceID:)``.
///
/// The state consists of the records and the version. The indexes (`positions`,
/// `index`, `ahead`, `conflicted`) are derived from them and rebuilt on
/// decoding. `_checkInvariants()` checks that they agree.
public struct ReplicaState: Sendable {
  /// The devices that only this replica saves under, and the evidence for it.
  package internal(set) var identity: Identity
  /// The source of the timestamps of local saves.
  package internal(set) var hybrid: HybridClock
  /// The saves whose effects are fully applied here.
  ///
  /// The version's clock contains its stability cut. The version's
  /// `fieldsAhead` is empty: fields ahead of the version are in `ahead`, and
  /// `shownVersion` adds them.
  package internal(set) var version = ReplicaVersion()
  /// The field names of all records.
  ///
  /// A slot refers to a name by number.
  var names = FieldNames()
  /// The records, each at a position that never changes.
  ///
  /// Records are never removed, because a deletion is a mark. The name of every
  /// slot is in `names`, with the kind of the slot's state.
  var records: [RecordState] = []
  /// The position of each record: the inverse of `records`.
  var positions = RecordIndex()
  /// The fields that the saves of each device touched: the inverse of the
  /// fields' clocks.
  var index = ChangeIndex()
  /// The fields ahead of the version: those whose clock it does not contain.
  ///
  /// Fields get ahead when only a part of a delta arrives.
  var ahead: Set<FieldPosition> = []
  /// The registers with more than one sibling.
  private(set) var conflicted: Set<FieldPosition> = []
  /// The additional data of large fields that can be sent in part.
  var largeFields: [FieldPosition: LargeField] = [:]
  /// The minimum size of a large field.
  ///
  /// It is not stored.
  package var fragmentSize = ReplicaState.defaultFragmentSize
  /// The maximum number of bytes in an encoded record after a save.
  ///
  /// It is not stored.
  package var recordByteLimit = Limits.recordBytes
  /// The records that changed since a store last asked, or `nil` if no store
  /// asks.
  var changedRecords: Set<UInt32>?
  /// The records that changed since an observer last asked, or `nil` without
  /// observers.
  var formerRecords: FormerRecords?
  /// The saves that other devices are known to hold.
  ///
  /// `version` contains its mark.
  var stability = Stability()

  #if REJOIN_CHECK_INVARIANTS
    /// The number of mutations since the invariants were last checked.
    var uncheckedMutations = 0
  #endif

  init(device: DeviceID, hybrid: HybridClock) {
    identity = Identity(device)
    self.hybrid = hybrid
  }

  /// The device ID of the replica's saves.
  public var device: DeviceID { identity.device }

  /// The digests of the latest saves of `device`.
  package var ownDigests: OwnDigests { identity.ownDigests }

  /// Whether another incarnation is known to use the replica's device ID.
  @inline(__always)
  var needsNewDeviceID: Bool { identity.needsNewDeviceID(at: version) }

  /// Returns the position of a record, and adds the record if it is new.
  mutating func intern(_ id: RecordID) -> Int {
    if let position = positions[id] { return position }
    let position = records.count
    records.append(RecordState(id))
    positions.update(id.entity) { $0.add(id.key, at: position, records) }
    return position
  }

  /// Sorts the records of an entity by key.
  mutating func sortRecords(of entity: String) {
    guard positions[entity]?.isSorted == false else { return }
    positions.update(entity) { [records] in $0.sort(records) }
  }

  /// Joins a field and adds the change to the index.
  ///
  /// - Parameters:
  ///   - merge: A closure that joins `theirs` into the state here.
  ///   - note: A closure that records the join in the data of a large field.
  ///     Its second argument is the field's clock before the join.
  mutating func join(
    _ theirs: FieldState, at location: FieldPosition, kind: FieldKind,
    record: ((inout LargeField, VectorClock) -> Void)? = nil,
    _ merge: (inout FieldState) -> Void
  ) {
    let only = theirs.onlyWrite?.dot
    let clock = only == nil ? theirs.clock : VectorClock()
    records[Int(location.record)].byteBound = 0
    var (before, known) = (0 as UInt64, VectorClock())
    update(location, kind: kind, refers: theirs.mayContainReferences) { mine in
      if let only {
        before = mine.lastSave(of: only.device)
      } else {
        known = mine.state.clock
      }
      mine.update(merge)
    }
    if let only { return recordSave(only, over: before, at: location) }
    for entry in clock.entries {
      recordSave(
        Dot(entry.device, entry.count), over: known[entry.device], at: location)
    }
    guard kind.supportsFragments else { return }
    trackLargeField(at: location, isNew: known.isEmpty) { field in
      if let record {
        record(&field, known)
      } else {
        field.recordJoin(clock, over: known)
      }
    }
  }

  /// Adds a field that no known save touched, and adds it to the index.
  mutating func add(_ state: FieldState, at location: FieldPosition) {
    let position = Int(location.record)
    recordChange(of: location.record)
    let slot = FieldSlot(location.name, state)
    let existence = records[position].existence
    records[position].add(slot)
    records[position].byteBound = 0
    recount(position, from: existence)
    track(slot, at: location)
  }

  /// Adds a record whose fields are complete, and adds them to the index.
  ///
  /// - Returns: `false` if the record was added before, and otherwise `true`.
  mutating func add(_ record: consuming RecordState) -> Bool {
    if positions[record.id] != nil { return false }
    let (id, position) = (record.id, records.count)
    let (slots, existence) = (record.slots, record.existence)
    records.append(record)
    positions.update(id.entity) {
      $0.add(id.key, at: position, records)
      $0.recount(from: Existence(), to: existence)
    }
    for slot in slots {
      track(slot, at: FieldPosition(record: UInt32(position), name: slot.name))
    }
    recordAhead(slots, of: UInt32(position))
    return true
  }

  /// Adds a field that no known save touched to the index and to the lists.
  private mutating func track(_ slot: FieldSlot, at location: FieldPosition) {
    trackConflicted(slot, at: location)
    if slot.isOneWrite {
      return recordSave(slot.save.dot, over: 0, at: location)
    }
    let clock = slot.clock
    for entry in clock.entries {
      recordSave(Dot(entry.device, entry.count), over: 0, at: location)
    }
    guard names.kind(of: location.name).supportsFragments else { return }
    trackLargeField(at: location, isNew: true) {
      $0.recordJoin(clock, over: VectorClock())
    }
  }

  /// Records that a record is about to change.
  mutating func recordChange(of record: UInt32) {
    changedRecords?.insert(record)
    formerRecords?.record(record, of: records)
  }

  /// Adds a field to the index if it has seen a later save of a device.
  ///
  /// Every change of a field's clock must call this method. Otherwise
  /// `delta(since:)` would not find the change.
  private mutating func recordSave(
    _ dot: Dot, over before: UInt64, at location: FieldPosition
  ) {
    guard dot.sequence > before else { return }
    index.record(location, at: dot, isReplacing: before > 0) {
      [records] device, at in records.lastSave(of: device, at: at)
    }
  }

  /// Updates the count of existing records after a record's existence changed.
  private mutating func recount(_ position: Int, from old: Existence) {
    let now = records[position].existence
    guard now != old else { return }
    positions.update(records[position].id.entity) {
      $0.recount(from: old, to: now)
    }
  }

  /// Edits a field in a save, and adds the change to the index.
  ///
  /// - Returns: The superseded siblings that the author had not observed.
  mutating func change(
    _ name: UInt32, at position: Int, in save: EditContext
  ) -> [Siblings<Stamped>.Element] {
    let location = FieldPosition(record: UInt32(position), name: name)
    let kind = names.kind(of: name)
    let isNew = kind.supportsFragments && !records[position].has(name)
    var before: UInt64 = 0
    let superseded = update(
      location, kind: kind, refers: save.edit?.mayContainReferences ?? false
    ) { slot in
      before = slot.lastSave(of: save.dot.device)
      return slot.apply(save)
    }
    // An edit changes only the author's entry in the field's clock.
    recordSave(save.dot, over: before, at: location)
    if kind.supportsFragments {
      trackLargeField(at: location, isNew: isNew) { $0.recordEdit(save) }
    }
    return superseded
  }

  /// Changes the marks of a record's existence in a save, and adds the change
  /// to the index.
  mutating func changeMarks(
    of position: Int, at dot: Dot,
    _ change: (inout Siblings<ExistenceMark>) -> Void
  ) {
    let location = FieldPosition(record: UInt32(position), name: 0)
    var before: UInt64 = 0
    // A deletion also contains a clock, which no bound of an edit covers.
    records[position].byteBound = 0
    update(location, kind: .existence, refers: false) { slot in
      before = slot.lastSave(of: dot.device)
      slot.update { $0.changeMarks(at: dot, change) }
    }
    recordSave(dot, over: before, at: location)
  }

  /// Lists a register in `conflicted` if it has several siblings.
  mutating func trackConflicted(_ slot: FieldSlot, at location: FieldPosition) {
    if slot.isShared { conflicted.insert(location) }
  }

  /// Removes a register from `conflicted`.
  mutating func forgetShared(at location: FieldPosition) {
    if !conflicted.isEmpty { conflicted.remove(location) }
  }

  /// Changes a field in place, and updates the counts of its record and
  /// siblings.
  private mutating func update<Result>(
    _ location: FieldPosition, kind: FieldKind, refers: Bool,
    _ change: (inout FieldSlot) -> Result
  ) -> Result {
    let position = Int(location.record)
    recordChange(of: location.record)
    let existence = records[position].existence
    var (wasShared, isShared) = (false, false)
    let result = records[position].update(
      location.name, kind: kind, refers: refers
    ) { slot in
      wasShared = slot.isShared
      let result = change(&slot)
      isShared = slot.isShared
      return result
    }
    if wasShared != isShared {
      if isShared {
        conflicted.insert(location)
      } else {
        conflicted.remove(location)
      }
    }
    recount(position, from: existence)
    return result
  }

  /// Returns the number of a device's last save that the version or a field
  /// contains.
  func lastKnownSave(of device: DeviceID) -> UInt64 {
    max(version[device].sequence, index.last(of: device))
  }

  /// The state of a field, or `nil` if no save touched it.
  subscript(location: FieldPosition) -> FieldState? {
    records[Int(location.record)][location.name]
  }
}

extension [RecordState] {
  /// Returns the number of a device's last save that touched a field, or zero
  /// without such a save.
  func lastSave(
    of device: DeviceID, at location: FieldPosition
  ) -> UInt64 {
    self[Int(location.record)].lastSave(of: device, in: location.name)
  }
}
