// SPDX-License-Identifier: Apache-2.0

extension ReplicaState {
  /// Decodes the bytes that ``encoded()`` returned.
  ///
  /// The replica is much larger than the bytes. See <doc:WireFormat>.
  ///
  /// - Throws: ``WireError``, with the offset and the expected content.
  /// - Complexity: O(*n*), where *n* is the number of bytes.
  public init(
    decoding bytes: some Sequence<UInt8>
  ) throws(WireError) {
    self = try withBytes(of: bytes) { bytes throws(WireError) in
      try ReplicaState(reading: bytes)
    }
  }

  private init(
    reading bytes: UnsafeRawBufferPointer
  ) throws(WireError) {
    var stored = ReplicaState(device: DeviceID(0), hybrid: HybridClock())
    var sections = StoredSections()
    var records = try RecordReader(validating: bytes, as: [.stored]) {
      section, part throws(WireError) in
      try sections.read(section, into: &stored, &part)
    }
    guard sections.hasDevice else {
      throw WireError(
        code: .truncated, offset: bytes.count - WireChecksum.size,
        expected: "a section with the replica's own device")
    }
    for (device, interval) in records.head.saves.intervals {
      stored.version.insert(interval.to, of: device)
    }
    let hasPrefixes = stored.version.setPrefixes(sections.prefixes)
    var report = MergeReport()
    var refused: [RefusedPart] = []
    let joined = stored.join(&records, [], .faults, &report, &refused)
    guard hasPrefixes, stored.isConsistent, !records.hasFragments,
      stored.restore(sections.horizons, of: joined.map(\.location))
    else {
      throw WireError(
        code: .invalid, offset: bytes.count - WireChecksum.size,
        expected:
          "digests, servers, horizons, prefixes and a stability cut that agree "
          + "with the saves")
    }
    stored.recordAhead(joined, hasAdvanced: false)
    self = stored
  }

  /// Whether the data other than records agrees with the saves.
  var isConsistent: Bool {
    identity.agrees(with: version, index) && isStabilityHeld
  }

  /// Whether the stability cut and mark are within the version.
  private var isStabilityHeld: Bool {
    version.stabilityCut.isContained(in: version.vectorClock)
      && stability.mark.isContained(in: version.vectorClock)
  }

  /// Returns the whole state of the replica, as bytes for its own device.
  ///
  /// The bytes include data that is never sent to other devices: the replica's
  /// own device, the digests of its saves, and its view of stability. To send a
  /// replica's records elsewhere, use a ``ReplicaSnapshot``.
  ///
  /// - Complexity: O(*n*), where *n* is the number of bytes.
  public func encoded() -> [UInt8] {
    var message = MessageWriter(content, intervals, as: .stored)
    writeHead(to: &message)
    identity.writeDigests(to: &message)
    writeHorizons(of: content, to: &message)
    writePrefixes(to: &message)
    return message.sealed().bytes
  }

  /// All records that have fields.
  var content: MessageContent { MessageContent(records, names) }

  /// The interval of all saves of each device that the version contains.
  var intervals: [DeviceID: SaveInterval] {
    var intervals: [DeviceID: SaveInterval] = [:]
    for entry in version.vectorClock.entries {
      intervals[entry.device] = .init(from: 0, to: version[entry.device])
    }
    return intervals
  }
}
