// SPDX-License-Identifier: Apache-2.0

/// A hybrid logical clock, the source of a device's timestamps.
///
///     var clock = HybridClock()
///     try clock.tick(now: 1000)             // 1000
///     try clock.tick(now: 900)              // 1000+1: never backwards
///     clock.receive(stamp, now: 1000)       // a year ahead: at most 5 minutes
///
/// It advances with every save and follows the wall clock. Timestamps of other
/// devices move it ahead of the wall clock by a bounded skew at most. The
/// caller supplies the wall-clock time. Kulkarni et al., *Logical Physical
/// Clocks* (2014).
public struct HybridClock: Hashable, Sendable {
  /// The greatest timestamp that was issued, or received within the maximum
  /// skew.
  ///
  /// It never decreases, except when a clock is opened that was far ahead.
  public private(set) var latest: Timestamp

  /// The maximum clock skew in milliseconds.
  ///
  /// Never negative, or the clock would be set back whenever it is opened.
  package let skewLimit: Int64

  /// How far other devices' timestamps can move this clock ahead of the wall
  /// clock.
  public var maximumClockSkew: Duration { .milliseconds(skewLimit) }

  /// The maximum clock skew by default: five minutes.
  public static let defaultMaximumClockSkew = Duration.seconds(5 * 60)

  /// The clock is at the greatest timestamp and cannot issue another one.
  public struct Exhausted: Error, Hashable, CustomStringConvertible {
    /// What happened, and what to do about it.
    public var description: String {
      "No timestamp follows because the hybrid clock is at its maximum. Correct "
        + "the device's wall clock, and open the replica again."
    }
  }

  /// Opens a clock whose last timestamp was `latest`.
  ///
  /// If `latest` is ahead of `now` by more than the maximum skew, the device's
  /// own wall clock was wrong and has been corrected since. The clock is then
  /// set back to `now`. That is safe, because dots and not timestamps decide
  /// which write supersedes which.
  ///
  /// - Parameters:
  ///   - latest: The clock's last timestamp.
  ///   - now: The wall-clock time, in milliseconds since 1970; `nil` keeps
  ///     `latest` in any case.
  ///   - maximumClockSkew: How far other devices' timestamps can move the clock
  ///     ahead of the wall clock, in whole milliseconds.
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

  /// Advances the clock and returns the timestamp of a save at the wall-clock
  /// time `now`.
  ///
  /// - Parameter now: Milliseconds since 1970.
  /// - Throws: ``Exhausted`` at the greatest timestamp; the clock is then
  ///   unchanged.
  @discardableResult
  public mutating func tick(now: Int64) throws(Exhausted) -> Timestamp {
    guard let next = latest.next else { throw Exhausted() }
    latest = max(next, Timestamp(milliseconds: now))
    return latest
  }

  /// Advances the clock to another device's timestamp, but not beyond `now`
  /// plus the maximum skew.
  public mutating func receive(_ stamp: Timestamp, now: Int64) {
    latest = max(latest, min(stamp, bound(now)))
  }

  /// The wall-clock time plus the maximum skew.
  private func bound(_ now: Int64) -> Timestamp {
    let (ahead, overflow) = now.addingReportingOverflow(skewLimit)
    return Timestamp(milliseconds: overflow ? .max : ahead)
  }
}

extension Duration {
  /// The whole milliseconds, clamped to 64 bits.
  fileprivate var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    if overflow { return seconds < 0 ? .min : .max }
    return Int64(
      clamping: WideInt(whole) + WideInt(attoseconds / 1_000_000_000_000_000))
  }
}
