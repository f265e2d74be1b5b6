// SPDX-License-Identifier: Apache-2.0

/// A timestamp of a hybrid logical clock, with 48 bits of milliseconds and 16
/// bits of logical time.
///
/// Timestamps decide which of two *concurrent* writes is visible. Dots, not
/// timestamps, decide whether two writes are concurrent.
public struct Timestamp: RawRepresentable, Hashable, Codable, Sendable {
  /// The milliseconds since 1970 in the upper 48 bits and the logical time in
  /// the lower 16.
  public let rawValue: UInt64

  /// The greatest timestamp.
  public static let max = Timestamp(rawValue: .max)

  /// The timestamp before every save.
  public static let zero = Timestamp(rawValue: 0)

  /// Creates a timestamp from 64 bits.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Creates the first timestamp of a millisecond, clamped to 48 bits.
  public init(milliseconds: Int64) {
    let bound: Int64 = (1 << 48) - 1
    rawValue = UInt64(Swift.min(Swift.max(milliseconds, 0), bound)) << 16
  }

  /// The number of milliseconds since 1970.
  public var milliseconds: Int64 { Int64(rawValue >> 16) }

  /// The next greater timestamp, or `nil` after ``max``.
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
  /// The milliseconds and, unless it is zero, the logical time, for example
  /// `1000+2`.
  public var description: String {
    let logical = rawValue & 0xffff
    return logical == 0 ? "\(milliseconds)" : "\(milliseconds)+\(logical)"
  }
}
