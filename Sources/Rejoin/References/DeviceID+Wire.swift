// SPDX-License-Identifier: Apache-2.0

extension WireWriter {
  /// Writes the 16 bytes of a device ID.
  mutating func device(_ device: DeviceID) {
    fixed(device.high.byteSwapped)
    fixed(device.low.byteSwapped)
  }
}

extension WireReader {
  /// Reads a device ID.
  mutating func device() throws(WireError) -> DeviceID {
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
