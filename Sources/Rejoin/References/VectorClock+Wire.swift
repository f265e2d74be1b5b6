// SPDX-License-Identifier: Apache-2.0

extension VectorClock {
  /// Decodes a clock.
  ///
  /// - Throws: ``WireError`` with the offset of the error.
  /// - Complexity: O(*n*), where *n* is the number of bytes.
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

  /// Returns the clock as bytes: about 18 per device, including its 16-byte ID.
  public func encoded() -> [UInt8] {
    var writer = WireWriter(.vectorClock)
    writer.clock(self)
    return writer.sealed()
  }
}

extension WireWriter {
  /// Writes the number of devices and the number of saves of each device.
  mutating func clock(_ clock: VectorClock) {
    varint(clock.entries.count)
    for entry in clock.entries {
      device(entry.device)
      varint(entry.count - 1)
    }
  }
}

extension WireReader {
  /// Reads the number of devices and the number of saves of each device.
  mutating func clock() throws(WireError) -> VectorClock {
    let count = try count(of: 17)
    var entries: [VectorClock.Entry] = []
    entries.reserveCapacity(count)
    for _ in 0..<count {
      let device = try device(after: entries.last?.device)
      entries.append(.init(device: device, count: try number(after: 0)))
    }
    return VectorClock(sorted: entries)
  }
}
