// SPDX-License-Identifier: Apache-2.0

// A device in a message: its ID, and the number that follows it.

/// The flags of a device: the lower four bits of the number after its ID.
///
/// The other bits are the number of its saves.
struct DeviceHead {
  private(set) var rawValue: UInt8 = 0

  init(rawValue: UInt8 = 0) { self.rawValue = rawValue }

  /// The device has an interval, which ends with one of the saves listed.
  var hasInterval: Bool {
    get { rawValue & 1 != 0 }
    set { rawValue = newValue ? rawValue | 1 : rawValue & ~1 }
  }

  /// The sequence numbers are contiguous, and only the first is written.
  var isDense: Bool {
    get { rawValue & 2 != 0 }
    set { rawValue = newValue ? rawValue | 2 : rawValue & ~2 }
  }

  /// The interval consists of one save.
  var isSingle: Bool {
    get { rawValue & 4 != 0 }
    set { rawValue = newValue ? rawValue | 4 : rawValue & ~4 }
  }

  /// The interval does not end with the last save listed and its timestamp.
  var isUnusual: Bool {
    get { rawValue & 8 != 0 }
    set { rawValue = newValue ? rawValue | 8 : rawValue & ~8 }
  }
}

extension WireWriter {
  /// Writes a device ID: how many bytes it shares with the previous one, and
  /// the rest.
  mutating func device(_ device: DeviceID, after previous: DeviceID?) {
    var shared = 0
    if let previous {
      shared = device.sharedBytes(with: previous)
      byte(UInt8(shared))
    }
    for i in shared..<16 { byte(device.byte(at: i)) }
  }
}

extension WireReader {
  /// Reads a device ID, which must be greater than `previous`.
  mutating func device(
    after previous: DeviceID?
  ) throws(WireError) -> DeviceID {
    let start = offset
    var shared = 0
    if previous != nil {
      shared = Int(try byte())
      guard shared < 16 else {
        throw error(
          .invalid, "at most 15 bytes shared with the previous device",
          at: start)
      }
    }
    let rest = try take(16 - shared)
    var halves: (high: UInt64, low: UInt64) = (0, 0)
    for i in 0..<16 {
      let byte = i < shared ? previous?.byte(at: i) ?? 0 : rest[i - shared]
      if i < 8 {
        halves.high = halves.high << 8 | UInt64(byte)
      } else {
        halves.low = halves.low << 8 | UInt64(byte)
      }
    }
    let device = DeviceID(high: halves.high, low: halves.low)
    if let previous {
      guard previous < device, shared == device.sharedBytes(with: previous)
      else {
        throw error(
          .notCanonical, "sorted devices with the longest shared prefix",
          at: start)
      }
    }
    return device
  }
}

extension DeviceID {
  /// The number of leading bytes that both have in common.
  fileprivate func sharedBytes(with other: DeviceID) -> Int {
    high == other.high
      ? 8 + (low ^ other.low).leadingZeroBitCount / 8
      : (high ^ other.high).leadingZeroBitCount / 8
  }

  /// One of the 16 bytes, the highest first.
  fileprivate func byte(at i: Int) -> UInt8 {
    UInt8(
      truncatingIfNeeded: (i < 8 ? high : low) >> UInt64(56 - 8 * (i & 7)))
  }
}
