// SPDX-License-Identifier: Apache-2.0

/// The source of a device's timestamps: rises with every save, follows the wall
/// clock, and is drawn by other devices' clocks only so far.
///
///     var clock = HybridClock()
///     try clock.tick(now: 1000)             // 1000
///     try clock.tick(now: 900)              // 1000+1: never backwards
///     clock.receive(stamp, now: 1000)       // a year ahead: moves by the skew
///
/// Kulkarni et al., *Logical Physical Clocks* (2014). The wall clock comes from
/// outside; nothing here reads one.
public struct HybridClock: Hashable, Sendable {
  /// The last timestamp given out or learned.
  public private(set) var latest: Timestamp

  /// How far another device's clock can move this one ahead of the wall clock, in
  /// milliseconds; never negative.
  package let skewLimit: Int64

  /// How far another device's clock can move this one ahead of the wall clock.
  public var maximumClockSkew: Duration { .milliseconds(skewLimit) }

  /// Five minutes, the bound unless another is given.
  public static let defaultMaximumClockSkew = Duration.seconds(5 * 60)

  /// The clock can give out no greater timestamp.
  public struct Exhausted: Error, Hashable, CustomStringConvertible {
    /// What happened, and how to mend it.
    public var description: String {
      "the hybrid clock is at its maximum: set the device's wall clock right "
        + "and open the replica again"
    }
  }

  /// Opens a clock that last stood at `latest`.
  ///
  /// Where our own wall clock was far ahead and has been mended since, the clock
  /// goes back to it. That is safe, because no write is superseded by its
  /// timestamp.
  ///
  /// - Parameters:
  ///   - latest: Where it stood.
  ///   - now: The wall-clock time; `nil` leaves the clock as it stood.
  ///   - maximumClockSkew: How far others can move it ahead of the wall clock, in
  ///     whole milliseconds.
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

  /// Takes the timestamp of a save at the wall-clock time `now`.
  ///
  /// - Parameter now: Milliseconds since 1970.
  /// - Throws: ``Exhausted`` at the maximum; the clock is then unchanged.
  @discardableResult
  public mutating func tick(now: Int64) throws(Exhausted) -> Timestamp {
    guard let next = latest.next else { throw Exhausted() }
    latest = max(next, Timestamp(milliseconds: now))
    return latest
  }

  /// Learns of another device's timestamp at the wall-clock time `now`.
  public mutating func receive(_ stamp: Timestamp, now: Int64) {
    latest = max(latest, min(stamp, bound(now)))
  }

  private func bound(_ now: Int64) -> Timestamp {
    let (ahead, overflow) = now.addingReportingOverflow(skewLimit)
    return Timestamp(milliseconds: overflow ? .max : ahead)
  }
}

extension Duration {
  /// The milliseconds, rounded down; the nearest that 64 bits can hold.
  fileprivate var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    guard !overflow else { return seconds < 0 ? .min : .max }
    let rest = attoseconds / 1_000_000_000_000_000
    return whole.addingReportingOverflow(rest).overflow ? .max : whole + rest
  }
}
