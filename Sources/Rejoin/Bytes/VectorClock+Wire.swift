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

extension WireWriter {
  /// Writes the 16 bytes of a device ID.
  package mutating func device(_ device: DeviceID) {
    fixed(device.high.byteSwapped)
    fixed(device.low.byteSwapped)
  }
}

extension WireReader {
  /// Reads a device ID.
  package mutating func device() throws(WireError) -> DeviceID {
    let bytes = try take(16)
    func half(at offset: Int) -> UInt64 {
      UInt64(
        bigEndian: bytes.loadUnaligned(
          fromByteOffset: offset, as: UInt64.self))
    }
    return DeviceID(high: half(at: 0), low: half(at: 8))
  }

  /// Reads a device ID of a sorted list.
  ///
  /// It must be greater than the previous ID.
  mutating func device(
    after previous: DeviceID?
  ) throws(WireError) -> DeviceID {
    let start = offset
    let device = try device()
    if let previous, device <= previous {
      throw error(.notCanonical, "sorted devices", at: start)
    }
    return device
  }

  /// Reads a sequence number, encoded as its distance from a lesser one.
  mutating func number(after last: UInt64) throws(WireError) -> UInt64 {
    let start = offset
    let (step, before) = try varint().addingReportingOverflow(1)
    let (number, after) = last.addingReportingOverflow(step)
    try require(
      !before && !after, .invalid, "a sequence number of 64 bits", at: start)
    return number
  }
}
