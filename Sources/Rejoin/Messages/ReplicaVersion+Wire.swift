// SPDX-License-Identifier: Apache-2.0

extension ReplicaVersion {
  /// Decodes a version that another replica sent to request missing saves.
  ///
  /// - Throws: ``WireError`` with the offset of the error.
  /// - Complexity: O(*n*), where *n* is the number of bytes.
  public init(
    decoding bytes: some Sequence<UInt8>
  ) throws(WireError) {
    self = try withBytes(of: bytes) { bytes throws(WireError) in
      var reader = try WireReader(opening: bytes, as: [.replicaVersion])
      var version = try reader.version()
      version.fieldsAhead = try reader.fieldsAhead(of: version)
      let start = reader.offset
      let isValid = version.setPrefixes(try reader.prefixes())
      try reader.require(
        isValid, .notCanonical,
        "sorted prefixes, each device in one, with saves beyond the version",
        at: start)
      try reader.finish()
      return version
    }
  }

  /// Returns the version as bytes: about 30 per device, including its 16-byte
  /// ID.
  public func encoded() -> [UInt8] {
    var writer = WireWriter(.replicaVersion)
    writer.saves(saves, stabilityCut)
    writer.varint(fieldsAhead.count)
    for (digest, saves) in fieldsAhead.sorted(by: { $0.key < $1.key }) {
      writer.fixed(digest)
      writer.clock(saves)
    }
    writer.prefixes(prefixes)
    return writer.sealed()
  }
}

/// The properties of a device in a version, in addition to its last save.
private struct DeviceFlags: OptionSet {
  let rawValue: UInt8
  static let isForked = DeviceFlags(rawValue: 1)
  static let isInCut = DeviceFlags(rawValue: 2)
}

extension WireWriter {
  /// Writes the latest save of each device and the stability cut.
  fileprivate mutating func saves(
    _ saves: LatestSaves, _ stabilityCut: VectorClock
  ) {
    varint(saves.vectorClock.entries.count)
    var times = TimeChain()
    for (id, save) in saves.entries {
      let cut = min(stabilityCut[id], save.sequence)
      var flags: DeviceFlags = save.isForked ? .isForked : []
      if cut > 0 { flags.insert(.isInCut) }
      device(id)
      byte(flags.rawValue)
      varint(save.sequence - 1)
      if cut > 0 { varint(save.sequence - cut) }
      times.write(save.time.rawValue, to: &self)
      fixed(save.digest)
    }
  }

  /// Writes the saves that only the first records contain.
  mutating func prefixes(_ prefixes: [ReplicaVersion.Prefix]) {
    varint(prefixes.count)
    for prefix in prefixes {
      value(.reference(prefix.through))
      saves(prefix.saves, VectorClock())
    }
  }
}

extension WireReader {
  fileprivate mutating func version() throws(WireError) -> ReplicaVersion {
    var version = ReplicaVersion()
    (version.saves, version.stabilityCut) = try saves()
    return version
  }

  /// Reads the latest save of each device and a stability cut.
  private mutating func saves() throws(WireError) -> (
    LatestSaves, cut: VectorClock
  ) {
    var (saves, times) = (LatestSaves(), TimeChain())
    var cut: [VectorClock.Entry] = []
    for _ in 0..<(try count(of: 27)) {
      let device = try device(after: saves.vectorClock.entries.last?.device)
      let start = offset
      let flags = DeviceFlags(rawValue: try byte())
      let number = try number(after: 0)
      let back = flags.contains(.isInCut) ? try varint() : 0
      try require(
        flags.isSubset(of: [.isForked, .isInCut]) && back < number, .invalid,
        "known flags, and a stability cut from 1 to \(number)", at: start)
      if flags.contains(.isInCut) {
        cut.append(.init(device: device, count: number - back))
      }
      let time = Timestamp(rawValue: try times.read(from: &self))
      saves.insert(
        DeviceSave(
          sequence: number, time: time, digest: try fixed(),
          isForked: flags.contains(.isForked)),
        of: device)
    }
    return (saves, VectorClock(sorted: cut))
  }

  /// Reads the saves that only the first records contain.
  mutating func prefixes() throws(WireError) -> [ReplicaVersion.Prefix] {
    var prefixes: [ReplicaVersion.Prefix] = []
    for _ in 0..<(try count(of: 31)) {
      let start = offset
      let through = try recordID()
      let (saves, cut) = try saves()
      guard let through, cut.isEmpty, !saves.isEmpty else {
        throw error(
          .invalid,
          "a prefix with a record and one device at least, and no stability cut",
          at: start)
      }
      prefixes.append(.init(through: through, saves: saves))
    }
    return prefixes
  }

  fileprivate mutating func fieldsAhead(
    of version: ReplicaVersion
  ) throws(WireError) -> [UInt64: VectorClock] {
    let count = try count(of: 26)
    try require(
      count <= ReplicaVersion.fieldsAheadLimit, .invalid,
      "at most 4,096 fields ahead of the version")
    var fields: [UInt64: VectorClock] = [:]
    var previous: UInt64 = 0
    for _ in 0..<count {
      let start = offset
      let digest = try fixed()
      let saves = try clock()
      try require(
        digest > previous && !saves.isEmpty
          && saves.entries.allSatisfy({
            $0.count > version.vectorClock[$0.device]
          }), .notCanonical,
        "sorted digests, each with saves beyond the version", at: start)
      fields[digest] = saves
      previous = digest
    }
    return fields
  }
}

extension WireWriter {
  /// Writes both ends of a range.
  init(_ range: RecordRange) {
    self.init()
    value(range.after.map(Value.reference))
    value(range.through.map(Value.reference))
  }
}

extension WireReader {
  /// Reads a range with at least one end.
  mutating func range() throws(WireError) -> RecordRange {
    let start = offset
    let range = RecordRange(after: try recordID(), through: try recordID())
    try require(
      (range.after != nil || range.through != nil)
        && (range.through.map(range.contains) ?? true), .invalid,
      "a range of records with one end, or with two in order", at: start)
    return range
  }

  /// Reads a record ID, or `nil` for an unset value.
  mutating func recordID() throws(WireError) -> RecordID? {
    let start = offset
    switch try value() {
    case nil: return nil
    case .reference(let id) where id.key.utf8.count <= Limits.keyBytes:
      return id
    default:
      throw error(
        .invalid, "a record ID with a key of at most 1024 bytes, or nothing",
        at: start)
    }
  }
}
