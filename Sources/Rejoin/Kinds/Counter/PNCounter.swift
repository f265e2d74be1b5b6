// SPDX-License-Identifier: Apache-2.0

/// A counter that every device can increment, decrement and reset
/// independently.
///
///     var steps = PNCounter()
///     try steps.increment(by: 1200, at: phone)
///     var copy = steps
///     try copy.increment(by: 800, at: tablet)
///     steps.reset()
///     steps.merge(copy)
///     steps.value  // 800: the reset had not seen the tablet's steps
///
/// A lattice only grows, so decrements have a sum of their own, which reading
/// subtracts (Shapiro et al. 2011, §3.1.3). A reset cancels exactly the changes
/// it has seen: concurrent changes survive in full, and two concurrent resets
/// cancel a change once.
public struct PNCounter: Hashable, Sendable {
  @usableFromInline var tally: Tally

  /// A device's sum would exceed `UInt64.max`.
  public struct Overflow: Error, Hashable, CustomStringConvertible {
    /// The device whose sum would overflow.
    public let device: DeviceID

    /// What happened, and what to do about it.
    public var description: String {
      "the sum of \(device)'s changes would exceed UInt64.max: count under a "
        + "new device ID"
    }
  }

  /// Creates a counter whose value is zero.
  public init() { tally = Tally() }

  /// The delta of a change.
  ///
  /// Sums are cumulative, so that the device's entry includes every earlier
  /// change. Inlined together with the changes: a caller that ignores the delta
  /// does not pay for it in an optimized build.
  @inlinable
  init(_ entry: Tally.Entry) { tally = Tally(entry) }

  init(tally: Tally) {
    self.tally = tally
    tally._checkInvariants()
  }

  /// The sum of all changes that no reset has cancelled, computed exactly and
  /// then clamped to `Int64`.
  ///
  /// - Complexity: O(*r*), where *r* is the number of devices that changed it.
  public var value: Int64 { tally.value }

  /// Increments the counter.
  ///
  /// - Parameters:
  ///   - amount: By how much.
  ///   - device: The device that makes the change.
  /// - Returns: The delta to merge elsewhere.
  /// - Throws: ``Overflow`` if the increments of `device` would exceed
  ///   `UInt64.max`; the counter is then unchanged.
  /// - Complexity: O(log *r*) for a device that has changed it before.
  @inlinable @discardableResult
  public mutating func increment(
    by amount: UInt64 = 1, at device: DeviceID
  ) throws(Overflow) -> PNCounter {
    PNCounter(try add(amount, 0, by: device))
  }

  /// Decrements the counter.
  ///
  /// - Parameters:
  ///   - amount: By how much.
  ///   - device: The device that makes the change.
  /// - Returns: The delta to merge elsewhere.
  /// - Throws: ``Overflow`` if the decrements of `device` would exceed
  ///   `UInt64.max`; the counter is then unchanged.
  /// - Complexity: O(log *r*) for a device that has changed it before.
  @inlinable @discardableResult
  public mutating func decrement(
    by amount: UInt64 = 1, at device: DeviceID
  ) throws(Overflow) -> PNCounter {
    PNCounter(try add(0, amount, by: device))
  }

  /// Cancels every change that this value has seen.
  ///
  /// - Returns: The delta to merge elsewhere.
  /// - Complexity: O(*r*) for *r* devices.
  @discardableResult
  public mutating func reset() -> PNCounter {
    tally.reset()
    return self
  }

  /// Sets the value to `target`, by a reset and one change.
  ///
  /// - Returns: The delta to merge elsewhere.
  /// - Throws: ``Overflow`` if the sums of `device` would exceed `UInt64.max`; the
  ///   counter is then unchanged.
  @discardableResult
  public mutating func set(
    to target: Int64, at device: DeviceID
  ) throws(Overflow) -> PNCounter {
    var changed = self
    changed.reset()
    if target > 0 {
      try changed.increment(by: target.magnitude, at: device)
    } else if target < 0 {
      try changed.decrement(by: target.magnitude, at: device)
    }
    self = changed
    return self
  }

  @usableFromInline
  mutating func add(
    _ increments: UInt64, _ decrements: UInt64, by device: DeviceID
  ) throws(Overflow) -> Tally.Entry {
    guard let entry = tally.add(increments, decrements, by: device) else {
      throw Overflow(device: device)
    }
    return entry
  }
}

extension PNCounter: Lattice {
  /// - Complexity: O(*r*), where *r* is the number of devices of both.
  public mutating func merge(_ other: PNCounter) { tally.merge(other.tally) }
}

extension PNCounter: CustomStringConvertible {
  /// The value.
  public var description: String { "\(value)" }
}
