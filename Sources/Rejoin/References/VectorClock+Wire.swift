// SPDX-License-Identifier: Apache-2.0

extension VectorClock {
  /// Reads a clock.
  ///
  /// - Throws: ``WireError``, with the offset and what was expected there.
  /// - Complexity: O(*n*) for *n* bytes.
  public init(
    decoding bytes: some Sequence<UInt8>
  ) throws(WireError) {
    self = try withBytes(of: bytes) { bytes throws(WireError) in
      var reader = try WireReader(opening: bytes, as: [.vectorClock])
      let clock = try reader.clock()
      try reader.finish()
      return clock
    }
  }

  /// The clock as bytes: about 19 for each device, 16 of them its ID.
  public func encoded() -> [UInt8] {
    var writer = WireWriter(.vectorClock)
    writer.clock(self)
    return writer.sealed()
  }
}

extension WireWriter {
  /// Writes the number of devices, and each with its count of saves.
  mutating func clock(_ clock: VectorClock) {
    varint(clock.entries.count)
    var previous: DeviceID?
    for entry in clock.entries {
      device(entry.device, after: previous)
      varint(entry.count)
      previous = entry.device
    }
  }
}

extension WireReader {
  /// Reads the number of devices, and each with its count of saves.
  mutating func clock() throws(WireError) -> VectorClock {
    let count = try count(of: 3)
    var entries: [VectorClock.Entry] = []
    entries.reserveCapacity(count)
    for _ in 0..<count {
      let device = try device(after: entries.last?.device)
      entries.append(.init(device: device, count: try number()))
    }
    return VectorClock(sorted: entries)
  }

  /// Reads the sequence number of a save.
  mutating func number() throws(WireError) -> UInt64 {
    let start = offset
    let n = try varint()
    guard n > 0 else {
      throw error(.notCanonical, "a sequence number above zero", at: start)
    }
    return n
  }
}
