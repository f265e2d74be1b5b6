// SPDX-License-Identifier: Apache-2.0

extension ReplicaState {
  /// Writes the sections that do not belong to a record or a save.
  func writeHead(to message: inout MessageWriter) {
    identity.writeDevice(hybrid, to: &message)
    if !version.stabilityCut.isEmpty || !stability.target.isEmpty
      || !stability.passed.isEmpty
    {
      var section = WireWriter()
      section.clock(version.stabilityCut)
      section.clock(stability.target)
      section.varint(stability.passed.count)
      for device in stability.passed.sorted() { section.device(device) }
      message.section(.stability, section)
    }
    identity.writePullDevices(to: &message)
  }

  /// Writes the prefixes of the version.
  func writePrefixes(to message: inout MessageWriter) {
    if version.devicePrefixes.isEmpty { return }
    var section = WireWriter()
    section.prefixes(version.prefixes)
    message.section(.prefixes, section)
  }

  /// Writes the horizons that differ from the clocks of their fields.
  ///
  /// Each horizon follows the index of its field among all written fields.
  ///
  /// - Parameter first: The position of the first record.
  func writeHorizons(
    of content: MessageContent, from first: UInt32 = 0,
    to message: inout MessageWriter
  ) {
    if largeFields.isEmpty { return }
    var (section, next) = (WireWriter(), 0)
    for (index, location) in content.locations(from: first).enumerated() {
      if let horizon = largeFields[location]?.horizon,
        horizon != self[location]?.clock
      {
        section.varint(index - next)
        section.clock(horizon)
        next = index + 1
      }
    }
    message.section(.horizons, section)
  }

  /// Restores the horizons of large fields.
  ///
  /// - Parameter fields: All fields, in the order of the message.
  /// - Returns: `false` if the message could not have these horizons.
  mutating func restore(
    _ horizons: [(index: Int, horizon: VectorClock)],
    of fields: [FieldPosition]
  ) -> Bool {
    for (index, horizon) in horizons {
      guard index < fields.count, let state = self[fields[index]],
        state.kind.supportsFragments, horizon != state.clock,
        horizon.isContained(in: state.clock)
      else { return false }
      largeFields[fields[index]] = LargeField(horizon: horizon)
    }
    return true
  }
}

/// The contents of the sections of a stored replica.
struct StoredSections {
  private(set) var hasDevice = false
  /// The prefixes of the version.
  private(set) var prefixes: [ReplicaVersion.Prefix] = []
  /// The horizons of some large fields, each with the index of its field.
  private(set) var horizons: [(index: Int, horizon: VectorClock)] = []

  mutating func read(
    _ section: WireSection, into state: inout ReplicaState,
    _ part: inout WireReader
  ) throws(WireError) {
    switch section {
    case .device:
      hasDevice = true
      state.identity = try Identity(reading: &part, &state.hybrid)
    case .stability: try StoredSections.readStability(into: &state, &part)
    case .servers: try state.identity.readPullDevices(&part)
    case .digests: try state.identity.readDigests(&part)
    case .horizons: try readHorizons(&part)
    case .prefixes: try readPrefixes(&part)
    case .range: break
    }
  }

  private mutating func readPrefixes(
    _ part: inout WireReader
  ) throws(WireError) {
    let start = part.offset
    prefixes = try part.prefixes()
    try part.require(
      !prefixes.isEmpty, .notCanonical, "no section for no prefix", at: start)
  }

  mutating func readHorizons(
    _ part: inout WireReader
  ) throws(WireError) {
    var next = 0
    repeat {
      horizons.append(
        (try StoredSections.index(&next, &part), try part.clock()))
    } while part.remaining > 0
  }

  /// Reads the index of a field.
  ///
  /// - Parameter next: The smallest possible index.
  private static func index(
    _ next: inout Int, _ part: inout WireReader
  ) throws(WireError) -> Int {
    let start = part.offset
    let gap = try part.varint()
    try part.require(
      gap < UInt64(Int32.max - Int32(clamping: next)), .invalid,
      "one of the fields", at: start)
    defer { next += Int(gap) + 1 }
    return next + Int(gap)
  }

  private static func readStability(
    into state: inout ReplicaState, _ part: inout WireReader
  ) throws(WireError) {
    let start = part.offset
    let (cut, target) = (try part.clock(), try part.clock())
    var passed: Set<DeviceID> = []
    var previous: DeviceID?
    for _ in 0..<(try part.count(of: 1)) {
      let device = try part.device(after: previous)
      passed.insert(device)
      previous = device
    }
    try part.require(
      !cut.isEmpty || !target.isEmpty || !passed.isEmpty, .notCanonical,
      "no section for an empty stability cut and target", at: start)
    state.version.stabilityCut = cut
    state.stability = Stability(target: target, passed: passed)
  }
}

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
    var state = ReplicaState(device: DeviceID(0), hybrid: HybridClock())
    var sections = StoredSections()
    var records = try RecordReader(validating: bytes, as: [.stored]) {
      section, part throws(WireError) in
      try sections.read(section, into: &state, &part)
    }
    guard sections.hasDevice else {
      throw WireError(
        code: .truncated, offset: bytes.count - WireChecksum.size,
        expected: "a section with the replica's own device")
    }
    for (device, interval) in records.head.saves.intervals {
      state.version.insert(interval.to, of: device)
    }
    let hasPrefixes = state.version.setPrefixes(sections.prefixes)
    var report = MergeReport()
    var refused: [RefusedPart] = []
    let joined = state.join(&records, [], .faults, &report, &refused)
    guard hasPrefixes, state.isConsistent, !records.hasFragments,
      state.restore(sections.horizons, of: joined.map(\.location))
    else {
      throw WireError(
        code: .invalid, offset: bytes.count - WireChecksum.size,
        expected:
          "digests, servers, horizons, prefixes and a stability cut that agree "
          + "with the saves")
    }
    state.recordAhead(joined, hasAdvanced: false)
    self = state
  }

  /// Whether the data other than records agrees with the saves.
  var isConsistent: Bool {
    identity.agrees(with: version, index) && isStabilityHeld
  }

  /// Whether the stability cut and target are within the version.
  private var isStabilityHeld: Bool {
    version.stabilityCut.isContained(in: version.vectorClock)
      && stability.target.isContained(in: version.vectorClock)
  }

  /// Returns the whole state of the replica, as bytes for its own device.
  ///
  /// The bytes include data that is never sent to other devices: the replica's
  /// own device, the digests of its saves, and its view of stability. To send a
  /// replica's records elsewhere, use ``Replica/delta()``.
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
