// SPDX-License-Identifier: Apache-2.0

/// A hybrid logical clock, the source of a device's timestamps.
///
///     var clock = HybridClock()
///     try clock.tick(now: 1000)             // 1000
///     try clock.tick(now: 900)              // 1000+1: never backwards
///     clock.receive(stamp, now: 1000)       // a year ahead: at most 5 minutes
///
/// The clock advances with every save and follows the wall clock. Timestamps of
/// other devices can move it ahead of the wall clock, but only by the maximum
/// skew. The caller supplies the wall-clock time. See Kulkarni et al., *Logical
/// Physical Clocks* (2014).
public struct HybridClock: Hashable, Sendable {
  /// The greatest timestamp that the clock issued or received within the
  /// maximum skew.
  ///
  /// It never decreases, except when a clock that was far ahead is opened
  /// again.
  public private(set) var latest: Timestamp

  /// The maximum clock skew in milliseconds.
  ///
  /// Never negative. Otherwise, every opening would set the clock back.
  package let skewLimit: Int64

  /// The maximum time that other devices' timestamps can move this clock ahead
  /// of the wall clock.
  public var maximumClockSkew: Duration { .milliseconds(skewLimit) }

  /// The default maximum clock skew, which is five minutes.
  public static let defaultMaximumClockSkew = Duration.seconds(5 * 60)

  /// An error that reports that the clock is at the greatest timestamp and
  /// cannot issue another one.
  public struct Exhausted: Error, Hashable, CustomStringConvertible {
    /// The cause of the error, and a remedy.
    public var description: String {
      "No timestamp follows because the hybrid clock is at its maximum. Correct "
        + "the device's wall clock, and open the replica again."
    }
  }

  /// Opens a clock whose last timestamp was `latest`.
  ///
  /// If `latest` is ahead of `now` by more than the maximum skew, the device's
  /// wall clock was wrong and is now corrected. The clock is then set back to
  /// `now`. That is safe, because dots and not timestamps decide which write
  /// supersedes which.
  ///
  /// - Parameters:
  ///   - latest: The clock's last timestamp.
  ///   - now: The wall-clock time, in milliseconds since 1970, or `nil` to keep
  ///     `latest` unchanged.
  ///   - maximumClockSkew: The maximum time that other devices' timestamps can
  ///     move the clock ahead of the wall clock. It is truncated to whole
  ///     milliseconds.
  public init(
    latest: Timestamp = .zero, now: Int64? = nil,
    maximumClockSkew: Duration = HybridClock.defaultMaximumClockSkew
  ) {
    self.init(
      latest: latest, now: now, skewLimit: maximumClockSkew.wholeMilliseconds)
  }

  package init(latest: Timestamp, now: Int64?, skewLimit: Int64) {
    self.skewLimit = max(skewLimit, 0)
    self.latest = latest
    guard let now else { return }
    if latest > bound(now) { self.latest = Timestamp(milliseconds: now) }
  }

  /// Advances the clock and returns the timestamp of a save.
  ///
  /// - Parameter now: The wall-clock time, in milliseconds since 1970.
  /// - Throws: ``Exhausted`` if the clock is at the greatest timestamp. If an
  ///   error is thrown, the clock is unchanged.
  @discardableResult
  public mutating func tick(now: Int64) throws(Exhausted) -> Timestamp {
    guard let next = latest.next else { throw Exhausted() }
    latest = max(next, Timestamp(milliseconds: now))
    return latest
  }

  /// Advances the clock to another device's timestamp, but at most to `now`
  /// plus the maximum skew.
  public mutating func receive(_ stamp: Timestamp, now: Int64) {
    latest = max(latest, min(stamp, bound(now)))
  }

  /// Returns the wall-clock time plus the maximum skew.
  func bound(_ now: Int64) -> Timestamp {
    let (ahead, overflow) = now.addingReportingOverflow(skewLimit)
    return Timestamp(milliseconds: overflow ? .max : ahead)
  }
}

extension Duration {
  /// The number of whole milliseconds, clamped to 64 bits.
  fileprivate var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    if overflow { return seconds < 0 ? .min : .max }
    return Int64(
      clamping: WideInt(whole) + WideInt(attoseconds / 1_000_000_000_000_000))
  }
}

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

/// A source of the wall-clock time, which the app provides.
///
///     import Foundation
///
///     extension WallClock {
///       static let system = WallClock {
///         Int64(Date().timeIntervalSince1970 * 1000)
///       }
///     }
public struct WallClock: Sendable {
  private let read: @Sendable () -> Int64

  /// Creates a clock from a closure that returns milliseconds since 1970.
  public init(_ read: @escaping @Sendable () -> Int64) { self.read = read }

  /// The current time in milliseconds since 1970.
  public var now: Int64 { read() }
}
