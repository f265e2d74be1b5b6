// SPDX-License-Identifier: Apache-2.0

/// What a stored replica keeps besides records, saves and own digests.
///
/// It changes with exchanges and not with every save, so that a store can keep it
/// apart and write it only then.
package struct StoredHead: Equatable, Sendable {
  private let identity: Identity
  private let prefixes: [ReplicaVersion.Prefix]
  private let stabilityCut: VectorClock
  private let mark: VectorClock
  private let passed: Set<DeviceID>
  /// The time of the clock and the number of the last local save; `nil` if that
  /// has set the clock.
  private let clock: [UInt64]?

  package init(_ stored: ReplicaState) {
    identity = stored.identity.withoutDigests
    prefixes = stored.version.prefixes
    stabilityCut = stored.version.stabilityCut
    mark = stored.stability.mark
    passed = stored.stability.passed
    let (latest, save) = (stored.hybrid.latest, stored.version[stored.device])
    clock = latest == save.time ? nil : [latest.rawValue, save.sequence]
  }
}

// A stored replica in parts, for a store that writes only what has changed.
extension ReplicaState {
  /// The ``StoredHead``, as a message, with the last local save.
  ///
  /// A later one sets the clock to its own time, so that the head need not be
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

  /// A record with the horizons of its large fields, as a message.
  package func encodedRecord(at position: Int) -> [UInt8] {
    let content = MessageContent([records[position]], names)
    var message = MessageWriter(content, [:], as: .stored)
    writeHorizons(of: content, from: UInt32(position), to: &message)
    return message.sealed().bytes
  }

  /// The number of records, each of which has a position below it.
  package var recordCount: Int { records.count }

  /// The ID of a record.
  package func recordID(at position: Int) -> RecordID { records[position].id }

  /// For each device, its last save that any field of a record has seen.
  package func lastSaves(ofRecordAt position: Int) -> VectorClock {
    records[position].slots.reduce(into: VectorClock()) {
      $0.merge($1.state.clock)
    }
  }
}

/// Puts a stored replica together from its parts.
///
/// First the saves, since they tell which fields are ahead of them.
package struct StoredAssembly {
  private var stored: ReplicaState
  /// The last local save when the head was written.
  private var headSave: UInt64 = 0
  /// The prefixes, which follow after the saves.
  private var prefixes: [ReplicaVersion.Prefix] = []

  /// Begins with the head.
  package init(head bytes: [UInt8]) throws(WireError) {
    (stored, headSave, prefixes) = try withBytes(of: bytes) {
      bytes throws(WireError) in
      var stored = ReplicaState(device: DeviceID(0), hybrid: HybridClock())
      var sections = StoredSections()
      let head = try RecordReader(validating: bytes, as: [.stored]) {
        section, part throws(WireError) in
        try sections.read(section, into: &stored, &part)
      }.head
      var save: UInt64 = 0
      for (device, interval) in head.saves.intervals {
        if device == stored.device { save = interval.to.sequence }
      }
      guard sections.hasDevice, head.recordCount == 0,
        head.saves.lines.count == (save > 0 ? 1 : 0)
      else {
        throw WireError(
          code: .invalid, offset: 0,
          expected: "the replica's own device and save, and no records")
      }
      return (stored, save, sections.prefixes)
    }
  }

  /// Starts to read records of a replica as they were before a change.
  package init(of replica: Replica, _ former: FormerReplica) {
    stored = former.withoutRecords
    // Fields must have the same numbers.
    stored.names = replica.stored.names
    stored.fragmentSize = replica.fragmentSize
  }

  /// Returns the records that were added, and the digests.
  package consuming func parts() -> ReplicaState { stored }

  /// Adds the last save of a device.
  package mutating func add(_ save: DeviceSave, of device: DeviceID) {
    stored.version.insert(save, of: device)
  }

  /// Ends the saves, which comes before the records.
  package mutating func endSaves() throws(WireError) {
    for prefix in prefixes {
      guard stored.version.append(prefix) else {
        throw WireError(
          code: .invalid, offset: 0,
          expected: "prefixes with saves that the version lacks")
      }
    }
  }

  /// Adds the digests of the own saves after the one with number `floor`.
  package mutating func add(ownDigests digests: [UInt64], above floor: UInt64) {
    stored.identity.ownDigests = OwnDigests(above: floor, digests)
  }

  /// Adds a record.
  ///
  /// - Returns: Its ID.
  package mutating func add(
    record bytes: UnsafeRawBufferPointer
  ) throws(WireError) -> RecordID {
    let position = stored.records.count
    let (fields, horizons) = try stored.joinRow(bytes, isPatch: false)
    guard stored.records.count == position + 1,
      stored.restore(horizons, of: fields.map(\.location))
    else {
      throw WireError(
        code: .invalid, offset: 0,
        expected: "exactly one record, which no other row has")
    }
    stored.recordAhead(fields, hasAdvanced: false)
    return stored.records[position].id
  }

  /// Joins what has changed of a record since it was written, see
  /// ``ReplicaState/encodedPatch(ofRecordAt:)``.
  package mutating func add(
    patch bytes: UnsafeRawBufferPointer, toRecordAt position: Int
  ) throws(WireError) {
    try stored.joinPatch(bytes, toRecordAt: position)
  }

  /// What is here and not in `basis`, once the saves have been added.
  package func missingChanges(
    since basis: ReplicaVersion, inParts: Bool
  ) -> MissingChanges {
    stored.missingChanges(since: basis, inParts: inParts)
  }

  /// The stored replica, once all of its parts have been added.
  package consuming func finished() throws(WireError) -> ReplicaState {
    let save = stored.version[stored.device]
    if save.sequence != headSave {
      stored.hybrid = HybridClock(
        latest: save.time, now: nil, skewLimit: stored.hybrid.skewLimit)
    }
    guard stored.isConsistent else {
      throw WireError(
        code: .invalid, offset: 0,
        expected:
          "digests, servers and a stability cut that agree with the saves")
    }
    stored._checkInvariants()
    return stored
  }
}
