// SPDX-License-Identifier: Apache-2.0

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

  /// Creates the device that `name` impliesContext: its UTF-8 bytes, left-aligned and
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

  /// Creates a device from its 32 hexadecimal digits.
  ///
  /// - Returns: `nil` if the text is anything else.
  public init?(hexadecimal: String) {
    guard hexadecimal.utf8.count == 32,
      let high = UInt64(hexadecimal.prefix(16), radix: 16),
      let low = UInt64(hexadecimal.dropFirst(16), radix: 16)
    else { return nil }
    self.init(high: high, low: low)
    guard self.hexadecimal == hexadecimal else { return nil }
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
    guard let end = bytes.lastIndex(where: { $0 != 0 }) else { return nil }
    let text = bytes[...end]
    guard text.allSatisfy({ (0x21...0x7e).contains($0) }) else { return nil }
    return String(decoding: text, as: UTF8.self)
  }
}

extension DeviceID {
  /// The 16 bytes, most significant first.
  public var bytes: [UInt8] {
    [high, low].flatMap { half in
      stride(from: 56, through: 0, by: -8).map {
        UInt8(truncatingIfNeeded: half >> UInt64($0))
      }
    }
  }

  /// Creates a device from 16 bytes.
  ///
  /// - Returns: `nil` if there are more or fewer.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 16 else { return nil }
    let words = [bytes.prefix(8), bytes.dropFirst(8)].map {
      $0.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    }
    self.init(high: words[0], low: words[1])
  }
}
