// SPDX-License-Identifier: Apache-2.0

/// A moment on a hybrid logical clock: 48 bits of milliseconds, 16 bits of
/// logical time.
///
/// A timestamp settles which of two *concurrent* writes is shown. Whether writes
/// are concurrent is decided by dots, never by a timestamp.
public struct Timestamp: RawRepresentable, Hashable, Codable, Sendable {
  /// Milliseconds since 1970 in the upper 48 bits, logical time in the lower 16.
  public let rawValue: UInt64

  /// The greatest timestamp there is.
  public static let max = Timestamp(rawValue: .max)

  /// The timestamp before every save.
  public static let zero = Timestamp(rawValue: 0)

  /// Creates a timestamp from its 64 bits.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Creates the first timestamp of a millisecond; what is out of range is
  /// clamped to it.
  public init(milliseconds: Int64) {
    let bound: Int64 = (1 << 48) - 1
    rawValue = UInt64(Swift.min(Swift.max(milliseconds, 0), bound)) << 16
  }

  /// Milliseconds since 1970.
  public var milliseconds: Int64 { Int64(rawValue >> 16) }

  /// The least timestamp that is greater than this one, if there is one.
  public var next: Timestamp? {
    rawValue == .max ? nil : Timestamp(rawValue: rawValue + 1)
  }
}

extension Timestamp: Comparable {
  public static func < (a: Timestamp, b: Timestamp) -> Bool {
    a.rawValue < b.rawValue
  }
}

extension Timestamp: CustomStringConvertible {
  /// Milliseconds and, where there is one, the logical part: `1000+2`.
  public var description: String {
    let logical = rawValue & 0xffff
    return logical == 0 ? "\(milliseconds)" : "\(milliseconds)+\(logical)"
  }
}
