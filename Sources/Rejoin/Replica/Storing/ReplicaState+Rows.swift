// SPDX-License-Identifier: Apache-2.0

/// The parts of a stored replica other than records, saves and own digests.
///
/// The head changes with exchanges and not with every save, so a store can keep
/// it separately and write it only then.
package struct StoredHead: Equatable, Sendable {
  private let identity: Identity
  private let prefixes: [DeviceID: ReplicaVersion.DevicePrefix]
  private let stabilityCut: VectorClock
  private let target: VectorClock
  private let passed: Set<DeviceID>
  /// The time of the clock and the number of the last local save, or `nil` if
  /// that save set the clock.
  private let clock: [UInt64]?

  package init(_ state: ReplicaState) {
    identity = state.identity.withoutDigests
    prefixes = state.version.devicePrefixes
    stabilityCut = state.version.stabilityCut
    target = state.stability.target
    passed = state.stability.passed
    let (latest, save) = (state.hybrid.latest, state.version[state.device])
    clock = latest == save.time ? nil : [latest.rawValue, save.sequence]
  }
}

// The parts of a stored replica, for a store that writes only changed parts.
extension ReplicaState {
  /// Returns the ``StoredHead`` and the last local save as a message.
  ///
  /// A later save sets the clock to its own time, so the head need not be
  /// written again.
  package func encodedHead() -> [UInt8] {
    let save = version[device]
    var message = MessageWriter(
      MessageContent([], names),
      save.sequence > 0 ? [device: .init(from: 0, to: save)] : [:], as: .stored)
    writeHead(to: &message)
    writePrefixes(to: &message)
    return message.sealed().bytes
  }

  /// Returns a record with the horizons of its large fields as a message.
  package func encodedRecord(at position: Int) -> [UInt8] {
    let content = MessageContent([records[position]], names)
    var message = MessageWriter(content, [:], as: .stored)
    writeHorizons(of: content, from: UInt32(position), to: &message)
    return message.sealed().bytes
  }

  /// The number of records, whose positions are all below it.
  package var recordCount: Int { records.count }

  /// Returns the ID of a record.
  package func recordID(at position: Int) -> RecordID { records[position].id }

  /// Returns the last save of each device that any field of a record has seen.
  package func lastSaves(ofRecordAt position: Int) -> VectorClock {
    records[position].slots.reduce(into: VectorClock()) {
      $0.merge($1.state.clock)
    }
  }
}

/// A stored replica that is assembled from its parts.
///
/// Add the saves first, because they determine which fields are ahead of the
/// version.
package struct StoredAssembly {
  private var state: ReplicaState
  private var table = RowTable()
  /// The last local save when the head was written.
  private var headSave: UInt64 = 0
  /// The prefixes, which are added after the saves.
  private var prefixes: [ReplicaVersion.Prefix] = []

  /// Creates an assembly from the head.
  package init(head bytes: [UInt8]) throws(WireError) {
    (state, headSave, prefixes) = try withBytes(of: bytes) {
      bytes throws(WireError) in
      var state = ReplicaState(device: DeviceID(0), hybrid: HybridClock())
      var sections = StoredSections()
      let head = try RecordReader(validating: bytes, as: [.stored]) {
        section, part throws(WireError) in
        try sections.read(section, into: &state, &part)
      }.head
      var save: UInt64 = 0
      for (device, interval) in head.saves.intervals {
        if device == state.device { save = interval.to.sequence }
      }
      guard sections.hasDevice, head.recordCount == 0,
        head.saves.lines.count == (save > 0 ? 1 : 0)
      else {
        throw WireError(
          code: .invalid, offset: 0,
          expected: "the replica's own device and save, and no records")
      }
      return (state, save, sections.prefixes)
    }
  }

  /// Creates an assembly of records without saves.
  package init() {
    state = ReplicaState(device: DeviceID(0), hybrid: HybridClock())
  }

  /// Creates an assembly that reads records as they were before a change.
  package init(of replica: Replica, _ former: FormerReplica) {
    state = former.withoutRecords
    // The fields must have the same numbers.
    state.names = replica.current.names
    state.fragmentSize = replica.fragmentSize
  }

  /// Returns the added records and the digests.
  package consuming func parts() -> ReplicaState { state }

  /// Adds the last save of a device.
  package mutating func add(_ save: DeviceSave, of device: DeviceID) {
    state.version.insert(save, of: device)
  }

  /// Ends the saves, before the first record is added.
  package mutating func endSaves() throws(WireError) {
    guard state.version.setPrefixes(prefixes) else {
      throw WireError(
        code: .invalid, offset: 0,
        expected: "prefixes with saves that the version lacks")
    }
  }

  /// Adds the digests of the own saves after number `floor`.
  package mutating func add(ownDigests digests: [UInt64], above floor: UInt64) {
    state.identity.ownDigests = OwnDigests(above: floor, digests)
  }

  /// Adds a record.
  ///
  /// - Returns: The ID of the record.
  package mutating func add(
    record bytes: UnsafeRawBufferPointer
  ) throws(WireError) -> RecordID {
    let position = UInt32(state.records.count)
    let row = try DecodedRow(bytes, &state.names, &table)
    let fields = row.fields.map { FieldPosition(record: position, name: $0) }
    guard state.add(row.record), state.restore(row.horizons, of: fields)
    else {
      throw WireError(
        code: .invalid, offset: 0,
        expected: "exactly one record, which no other row has")
    }
    return row.record.id
  }

  /// Joins the changes of a record since it was written.
  ///
  /// See ``ReplicaState/encodedPatch(ofRecordAt:)``.
  package mutating func add(
    patch bytes: UnsafeRawBufferPointer, toRecordAt position: Int
  ) throws(WireError) {
    try state.joinPatch(bytes, toRecordAt: position)
  }

  /// The saves that were added, without fields ahead of them.
  package var version: ReplicaVersion { state.version }

  /// The device of the head.
  package var device: DeviceID { state.device }

  /// Returns an added record with its patches.
  package func record(at position: Int) -> StoredRecord {
    StoredRecord(state: state.records[position], names: state.names)
  }

  /// Returns the changes that `basis` lacks, after all saves are added.
  package func missingChanges(
    since basis: ReplicaVersion, as form: MissingChanges.Form
  ) -> MissingChanges {
    state.missingChanges(since: basis, as: form)
  }

  /// Returns the stored replica, after all of its parts are added.
  package consuming func finished() throws(WireError) -> ReplicaState {
    let save = state.version[state.device]
    if save.sequence != headSave {
      state.hybrid = HybridClock(
        latest: save.time, now: nil, skewLimit: state.hybrid.skewLimit)
    }
    guard state.isConsistent else {
      throw WireError(
        code: .invalid, offset: 0,
        expected:
          "digests, servers and a stability cut that agree with the saves")
    }
    state._checkInvariants()
    return state
  }
}
