// SPDX-License-Identifier: Apache-2.0

/// A counter that every device can increment, decrement and reset
/// independently.
///
///     var steps = PNCounter()
///     try steps.increment(by: 1200, on: phone)
///     var copy = steps
///     try copy.increment(by: 800, on: tablet)
///     steps.reset()
///     steps.merge(copy)
///     steps.value  // 800: the reset had not seen the tablet's steps
///
/// It holds the sums of each device's changes, and how much of them resets have
/// cancelled. A lattice only grows, so decrements have a sum of their own, which
/// reading subtracts (Shapiro et al. 2011, §3.1.3). A join keeps the later sums of
/// each device. A reset cancels exactly the changes it has seen: concurrent changes
/// survive in full, and two concurrent resets cancel a change once.
public struct PNCounter: Hashable, Sendable {
  /// The sums of a device's changes, up to one of them.
  @usableFromInline
  package struct Entry: Hashable, Codable, Sendable, DeviceEntry {
    /// The device.
    package let device: DeviceID
    /// The sequence number of its last change; never zero.
    package internal(set) var sequence: UInt64
    /// The sum of its increments.
    package internal(set) var increments: UInt64
    /// The sum of its decrements.
    package internal(set) var decrements: UInt64
  }

  /// The sums of each device, sorted by device.
  ///
  /// Setters that are private could not be inlined into `init(_:)`.
  @usableFromInline package internal(set) var entries: [Entry]

  /// The sums that resets have cancelled, sorted by device; each at most the
  /// entry of its device in ``entries``.
  @usableFromInline package internal(set) var cancelled: [Entry]

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
  public init() { (entries, cancelled) = ([], []) }

  /// The delta of a change.
  ///
  /// Sums are cumulative, so that the device's entry includes every earlier
  /// change. Inlined together with the changes: a caller that ignores the delta
  /// does not pay for it in an optimized build.
  @inlinable
  init(_ entry: Entry) { (entries, cancelled) = ([entry], []) }

  package init(entries: [Entry], cancelled: [Entry] = []) {
    (self.entries, self.cancelled) = (entries, cancelled)
  }

  /// The sum of all changes that no reset has cancelled, computed exactly and
  /// then clamped to `Int64`.
  ///
  /// - Complexity: O(*r*), where *r* is the number of devices that changed it.
  public var value: Int64 {
    let sum = { (entries: [Entry]) in entries.reduce(0) { $0 + $1.sum } }
    return Int64(clamping: sum(entries) - sum(cancelled))
  }

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
    by amount: UInt64 = 1, on device: DeviceID
  ) throws(Overflow) -> PNCounter {
    PNCounter(try change(amount, 0, on: device))
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
    by amount: UInt64 = 1, on device: DeviceID
  ) throws(Overflow) -> PNCounter {
    PNCounter(try change(0, amount, on: device))
  }

  /// Cancels every change that this value has seen.
  ///
  /// - Returns: The delta to merge elsewhere.
  /// - Complexity: O(*r*) for *r* devices.
  @discardableResult
  public mutating func reset() -> PNCounter {
    cancel()
    return self
  }

  /// Sets the value to `target`, by a reset and one change.
  ///
  /// - Returns: The delta to merge elsewhere.
  /// - Throws: ``Overflow`` if the sums of `device` would exceed `UInt64.max`; the
  ///   counter is then unchanged.
  @discardableResult
  public mutating func set(
    to target: Int64, on device: DeviceID
  ) throws(Overflow) -> PNCounter {
    var changed = self
    changed.cancel()
    if target > 0 {
      try changed.increment(by: target.magnitude, on: device)
    } else if target < 0 {
      try changed.decrement(by: target.magnitude, on: device)
    }
    self = changed
    return self
  }

  @usableFromInline
  mutating func change(
    _ increments: UInt64, _ decrements: UInt64, on device: DeviceID
  ) throws(Overflow) -> Entry {
    guard let entry = add(increments, decrements, on: device) else {
      throw Overflow(device: device)
    }
    return entry
  }
}

// What a save does to the counter of a record.
extension PNCounter {
  /// The entry of a device, with zeros if it has none.
  func entry(of device: DeviceID) -> Entry {
    entries.entry(of: device) ?? Entry(device)
  }

  /// Adds a change of a device: that of its save `sequence`, or else the one
  /// after its last.
  ///
  /// - Returns: The device's entry; `nil`, with nothing changed, if a sum or the
  ///   sequence number would overflow.
  package mutating func add(
    _ increments: UInt64, _ decrements: UInt64, on device: DeviceID,
    sequence: UInt64? = nil
  ) -> Entry? {
    let i = entries.position(of: device)
    let isNew = i == entries.count || entries[i].device != device
    var entry = isNew ? Entry(device) : entries[i]
    guard entry.canAdd(increments, decrements),
      sequence != nil || entry.sequence < .max
    else { return nil }
    entry.sequence = sequence ?? entry.sequence + 1
    entry.increments += increments
    entry.decrements += decrements
    if isNew { entries.insert(entry, at: i) } else { entries[i] = entry }
    _checkInvariants()
    return entry
  }

  /// Cancels the changes in `observed`, an earlier state of this counter; `nil`
  /// cancels all.
  package mutating func cancel(observed: PNCounter? = nil) {
    cancelled = PNCounter.join(cancelled, observed?.entries ?? entries)
    // A reset may arrive before the changes it cancels.
    entries = PNCounter.join(entries, cancelled)
    _checkInvariants()
  }
}

extension PNCounter: Lattice {
  /// Keeps the later entry of each device.
  ///
  /// - Complexity: O(*r*), where *r* is the number of devices of both.
  public mutating func merge(_ other: PNCounter) {
    // Idempotence; the most frequent join is of equal counters.
    if self == other { return }
    cancelled = PNCounter.join(cancelled, other.cancelled)
    entries = PNCounter.join(
      PNCounter.join(entries, other.entries), cancelled)
    _checkInvariants()
  }

  private static func join(_ a: [Entry], _ b: [Entry]) -> [Entry] {
    a.union(b) { $0.isBefore($1) }
  }
}

extension PNCounter: CustomStringConvertible {
  /// The value.
  public var description: String { "\(value)" }
}

extension PNCounter.Entry {
  /// A device that has changed nothing yet.
  init(_ device: DeviceID) {
    self.init(device: device, sequence: 0, increments: 0, decrements: 0)
  }

  /// The increments without the decrements.
  var sum: WideInt { WideInt(increments) - WideInt(decrements) }

  /// Whether the sums can be increased without overflow.
  func canAdd(_ increments: UInt64, _ decrements: UInt64) -> Bool {
    increments <= .max - self.increments
      && decrements <= .max - self.decrements
  }

  /// Orders the entries of one device by sequence number.
  ///
  /// Two entries with one number, which exist only if a device ID was used
  /// twice, are ordered by their sums.
  func isBefore(_ other: Self) -> Bool {
    (sequence, increments, decrements) < (
      other.sequence, other.increments, other.decrements
    )
  }
}

extension PNCounter {
  /// Traps in checked builds unless the invariants hold.
  @inline(__always)
  package func _checkInvariants() {
    #if REJOIN_CHECK_INVARIANTS
      precondition(
        entries.isSortedByDevice && cancelled.isSortedByDevice,
        "not sorted by device: \(self)")
      for entry in entries {
        precondition(entry.sequence > 0, "a change without a number: \(entry)")
      }
      for sums in cancelled {
        let entry = entry(of: sums.device)
        precondition(
          sums == entry || sums.isBefore(entry),
          "\(sums) is cancelled, but not in \(entry)")
      }
    #endif
  }
}
