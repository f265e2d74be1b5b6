// SPDX-License-Identifier: Apache-2.0

/// The ID of one incarnation of an installation, which consists of 16 opaque
/// bytes.
///
///     let phone = DeviceID(1)
///     let tablet = DeviceID(2)
///     phone < tablet  // true
///
/// Device IDs are ordered as unsigned big-endian numbers. The order breaks ties
/// between concurrent writes and has no other meaning. A restored backup or a
/// cloned file must continue under a new device ID.
public struct DeviceID: Hashable, Sendable {
  /// The first eight bytes, most significant first.
  public let high: UInt64

  /// The last eight bytes, most significant first.
  public let low: UInt64

  /// Creates a device ID from two halves, with the layout of a UUID's bytes.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Creates a device ID from a small number, for tests and examples.
  public init(_ low: UInt64) {
    self.init(high: 0, low: low)
  }

  /// Creates a device ID from the UTF-8 bytes of a short text.
  ///
  /// The bytes are left-aligned and padded with zeros.
  ///
  /// - Returns: `nil` if the text is empty or longer than 16 bytes.
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

  /// Creates a device ID from 32 hexadecimal digits.
  ///
  /// - Returns: `nil` if the text is not exactly 32 lowercase digits.
  public init?(hexadecimal: String) {
    guard hexadecimal.utf8.count == 32,
      let high = UInt64(hexadecimal.prefix(16), radix: 16),
      let low = UInt64(hexadecimal.dropFirst(16), radix: 16)
    else { return nil }
    self.init(high: high, low: low)
    // The integer parser also accepts signs and uppercase digits.
    guard self.hexadecimal == hexadecimal else { return nil }
  }

  /// Returns a random device ID.
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

extension DeviceID: LosslessStringConvertible {
  /// The bytes as text if they are printable ASCII padded with zeros, or else
  /// 32 hexadecimal digits.
  public var description: String { name ?? hexadecimal }

  /// Creates a device ID from a ``description``.
  ///
  ///     DeviceID("phone")?.description  // "phone"
  ///
  /// - Returns: `nil` if the text does not describe a device ID.
  public init?(_ description: String) {
    guard
      let device = DeviceID(hexadecimal: description)
        ?? DeviceID(name: description),
      device.description == description
    else { return nil }
    self = device
  }

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

  /// Creates a device ID from 16 bytes.
  ///
  /// - Returns: `nil` if the collection does not contain exactly 16 bytes.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 16 else { return nil }
    let words = [bytes.prefix(8), bytes.dropFirst(8)].map {
      $0.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    }
    self.init(high: words[0], low: words[1])
  }
}

extension DeviceID: RunKey {
  var prehash: UInt32 {
    let half = high ^ low
    return UInt32(truncatingIfNeeded: half ^ half >> 32)
  }
}

extension DeviceID: Codable {
  /// Encodes the 32 hexadecimal digits.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(hexadecimal)
  }

  /// Decodes the 32 hexadecimal digits.
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let device = DeviceID(hexadecimal: text) else {
      throw decoder.corrupted(
        "expected a device ID of 32 hexadecimal digits, not \(text)")
    }
    self = device
  }
}
