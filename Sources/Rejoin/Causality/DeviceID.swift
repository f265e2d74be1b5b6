//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

/// The name of one incarnation of one installation: 16 opaque bytes.
///
///     let phone = DeviceID(1)
///     let tablet = DeviceID(2)
///     phone < tablet  // true
///
/// Devices are ordered by their bytes as unsigned numbers, most significant
/// first. The order settles ties between concurrent writes and has no other
/// meaning. A restored backup or a cloned file goes on under a new device.
public struct DeviceID: Hashable, Sendable {
  /// The first eight bytes, most significant first.
  public let high: UInt64

  /// The last eight bytes, most significant first.
  public let low: UInt64

  /// Creates the device with the given halves, as a UUID's bytes would be.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Creates a device with a small number, for tests and examples.
  public init(_ low: UInt64) {
    self.init(high: 0, low: low)
  }

  /// Creates the device that `name` spells: its UTF-8 bytes, left-aligned and
  /// filled with zeros.
  ///
  /// - Returns: `nil` if the name is empty or longer than 16 bytes.
  public init?(name: String) {
    var halves: (UInt64, UInt64) = (0, 0)
    var count = 0
    for byte in name.utf8 {
      guard count < 16 else { return nil }
      let shifted = UInt64(byte) << UInt64(56 - 8 * (count & 7))
      if count < 8 { halves.0 |= shifted } else { halves.1 |= shifted }
      count += 1
    }
    guard count > 0 else { return nil }
    self.init(high: halves.0, low: halves.1)
  }

  /// Draws a device from a source of random numbers.
  public static func random(
    using source: inout some RandomNumberGenerator
  ) -> DeviceID {
    DeviceID(high: source.next(), low: source.next())
  }
}

extension DeviceID: Comparable {
  public static func < (a: DeviceID, b: DeviceID) -> Bool {
    a.high != b.high ? a.high < b.high : a.low < b.low
  }
}

extension DeviceID: CustomStringConvertible {
  /// The 32 hexadecimal digits, or the name the bytes spell in ASCII.
  public var description: String { name ?? hexadecimal }

  /// The 32 hexadecimal digits of the bytes.
  public var hexadecimal: String {
    [high, low].map { half in
      let digits = String(half, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  private var name: String? {
    var bytes: [UInt8] = []
    for half in [high, low] {
      for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: half >> UInt64(shift)))
      }
    }
    while bytes.last == 0 { bytes.removeLast() }
    guard !bytes.isEmpty, bytes.allSatisfy({ (0x21...0x7e).contains($0) })
    else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }
}
