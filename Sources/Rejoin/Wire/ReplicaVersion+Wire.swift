// SPDX-License-Identifier: Apache-2.0

extension ReplicaVersion {
  /// Reads a version, which another replica has sent to ask for the saves it
  /// lacks.
  ///
  /// - Throws: ``WireError``, with the offset and what was expected there.
  /// - Complexity: O(*n*) for *n* bytes.
  public init(
    decoding bytes: some Sequence<UInt8>
  ) throws(WireError) {
    self = try withBytes(of: bytes) { bytes throws(WireError) in
      var reader = try WireReader(opening: bytes, as: [.replicaVersion])
      let clock = try reader.replicaVersion()
      try reader.finish()
      return clock
    }
  }

  /// The version as bytes: about 30 for each device, 16 of them its ID.
  public func encoded() -> [UInt8] {
    var writer = WireWriter(.replicaVersion)
    writer.saves(of: self)
    let devices = vectorClock.entries.map(\.device)
    writer.places(of: devices.filter { self[$0].isForked }, in: devices) {
      _, _ in
    }
    let cut = stabilityCut.intersection(vectorClock)
    writer.places(of: cut.entries.map(\.device), in: devices) {
      $0.varint(vectorClock[$1] - cut[$1])
    }
    writer.varint(fieldsAhead.count)
    for (digest, saves) in fieldsAhead.sorted(by: { $0.key < $1.key }) {
      writer.fixed(digest)
      writer.clock(saves)
    }
    return writer.sealed()
  }
}

extension WireWriter {
  fileprivate mutating func saves(of clock: ReplicaVersion) {
    varint(clock.vectorClock.entries.count)
    var times = TimeChain()
    var previous: DeviceID?
    for entry in clock.vectorClock.entries {
      let save = clock[entry.device]
      device(entry.device, after: previous)
      previous = entry.device
      varint(save.sequence)
      times.write(save.time == .zero ? nil : save.time.rawValue, to: &self)
      fixed(save.digest)
    }
  }

  /// Writes a subset of the devices: its size, and for each device how many are
  /// skipped before it, and what `body` writes.
  fileprivate mutating func places(
    of some: [DeviceID], in all: [DeviceID],
    _ body: (inout WireWriter, DeviceID) -> Void
  ) {
    varint(some.count)
    var (i, next) = (0, 0)
    for device in some {
      while all[i] != device { i += 1 }
      varint(i - next)
      body(&self, device)
      i += 1
      next = i
    }
  }
}

extension WireReader {
  fileprivate mutating func replicaVersion() throws(WireError) -> ReplicaVersion
  {
    var clock = ReplicaVersion()
    let count = try count(of: 12)
    var times = TimeChain()
    var previous: DeviceID?
    for _ in 0..<count {
      let device = try device(after: previous)
      previous = device
      let n = try number()
      let start = offset
      let time = try times.read(from: &self)
      guard time != 0 else {
        throw error(
          .notCanonical, "the form without a timestamp, not zero", at: start)
      }
      clock.insert(
        DeviceSave(
          sequence: n, time: Timestamp(rawValue: time ?? 0), digest: try fixed()
        ),
        of: device)
    }
    let entries = clock.vectorClock.entries
    try places(in: entries) { _, entry in clock.fork(entry.device) }
    var cut: [VectorClock.Entry] = []
    try places(in: entries) { reader, entry throws(WireError) in
      let start = reader.offset
      let back = try reader.varint()
      guard back < entry.count else {
        throw reader.error(
          .invalid, "a stability cut from 1 to \(entry.count)", at: start)
      }
      cut.append(.init(device: entry.device, count: entry.count - back))
    }
    clock.stabilityCut = VectorClock(sorted: cut)
    clock.fieldsAhead = try fieldsAhead(of: clock)
    return clock
  }

  private mutating func places(
    in entries: [VectorClock.Entry],
    _ body: (inout WireReader, VectorClock.Entry) throws(WireError) -> Void
  ) throws(WireError) {
    var next = 0
    for _ in 0..<(try count(of: 1)) {
      let start = offset
      let gap = try varint()
      guard gap < UInt64(entries.count - next) else {
        throw error(
          .invalid, "one of the version's \(entries.count) devices", at: start)
      }
      next += Int(gap) + 1
      try body(&self, entries[next - 1])
    }
  }

  private mutating func fieldsAhead(
    of clock: ReplicaVersion
  ) throws(WireError) -> [UInt64: VectorClock] {
    let count = try count(of: 26)
    guard count <= ReplicaVersion.fieldsAheadLimit else {
      throw error(.invalid, "at most 4,096 fields ahead of the version")
    }
    var fields: [UInt64: VectorClock] = [:]
    var previous: UInt64 = 0
    for _ in 0..<count {
      let start = offset
      let digest = try fixed()
      let saves = try self.clock()
      guard digest > previous, !saves.isEmpty,
        saves.entries.allSatisfy({ $0.count > clock.vectorClock[$0.device] })
      else {
        throw error(
          .notCanonical, "sorted digests, each with saves beyond the version",
          at: start)
      }
      fields[digest] = saves
      previous = digest
    }
    return fields
  }
}
