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
/// For each device, a counter stores the sums of its changes and the part of
/// them that resets canceled. A lattice only grows, so decrements have their
/// own sum, which ``value`` subtracts (Shapiro et al. 2011, §3.1.3). A join
/// keeps the later sums of each device. A reset cancels exactly the changes
/// that it has seen. Concurrent changes survive in full, and two concurrent
/// resets cancel a change once.
public struct PNCounter: Hashable, Sendable {
  /// The sums of a device's changes up to one change.
  @usableFromInline
  package struct Entry: Hashable, Codable, Sendable, DeviceEntry {
    /// The device.
    package let device: DeviceID
    /// The sequence number of the device's last change.
    ///
    /// Never zero.
    package internal(set) var sequence: UInt64
    /// The sum of the device's increments.
    package internal(set) var increments: UInt64
    /// The sum of the device's decrements.
    package internal(set) var decrements: UInt64
  }

  /// The canceled changes of a device.
  @usableFromInline
  package struct Canceled: Hashable, Sendable, DeviceEntry {
    /// The device.
    package let device: DeviceID
    /// The last decision of a reset, or of the undo of one.
    package let decision: Cancellation
  }

  /// The sums of each device, sorted by device.
  ///
  /// The setter is not private, so `init(_:)` can be inlined.
  @usableFromInline package internal(set) var entries: [Entry]

  /// The canceled changes, sorted by device.
  ///
  /// Each device has an entry in ``entries``, whose last change is not before
  /// the last change that was decided on. The canceled sum can be older.
  @usableFromInline package internal(set) var canceled: [Canceled]

  /// An error that reports that a device's sum would exceed `UInt64.max`.
  public struct Overflow: Error, Hashable, CustomStringConvertible {
    /// The device whose sum would overflow.
    public let device: DeviceID

    /// The cause of the error, and a remedy.
    public var description: String {
      "The counter cannot be changed because the changes of device \(device) "
        + "would exceed UInt64.max. Use a new device ID."
    }
  }

  /// Creates a counter whose value is zero.
  public init() { (entries, canceled) = ([], []) }

  /// Creates the delta of a change.
  ///
  /// Sums are cumulative, so the device's entry includes every earlier change.
  /// This initializer is inlined together with the changes. In an optimized
  /// build, a caller that ignores the delta does not pay for it.
  @inlinable
  init(_ entry: Entry) { (entries, canceled) = ([entry], []) }

  package init(entries: [Entry], canceled: [Canceled] = []) {
    (self.entries, self.canceled) = (entries, canceled)
    _checkInvariants()
  }

  /// The sum of all changes that are not canceled, computed exactly and then
  /// clamped to `Int64`.
  ///
  /// - Complexity: O(*r*), where *r* is the number of devices with changes.
  public var value: Int64 {
    let sum = entries.reduce(0) { $0 + $1.sum }
    return Int64(clamping: canceled.reduce(sum) { $0 - $1.decision.sum })
  }

  /// Increments the counter.
  ///
  /// - Parameters:
  ///   - amount: The amount to add.
  ///   - device: The device that increments the counter.
  /// - Returns: The delta to merge into other copies.
  /// - Throws: ``Overflow`` if the increments of `device` would exceed
  ///   `UInt64.max`. If an error is thrown, the counter is unchanged.
  /// - Complexity: O(log *r*), where *r* is the number of devices with changes,
  ///   if `device` is one of them.
  @inlinable @discardableResult
  public mutating func increment(
    by amount: UInt64 = 1, on device: DeviceID
  ) throws(Overflow) -> PNCounter {
    PNCounter(try change(amount, 0, on: device))
  }

  /// Decrements the counter.
  ///
  /// - Parameters:
  ///   - amount: The amount to subtract.
  ///   - device: The device that decrements the counter.
  /// - Returns: The delta to merge into other copies.
  /// - Throws: ``Overflow`` if the decrements of `device` would exceed
  ///   `UInt64.max`. If an error is thrown, the counter is unchanged.
  /// - Complexity: O(log *r*), where *r* is the number of devices with changes,
  ///   if `device` is one of them.
  @inlinable @discardableResult
  public mutating func decrement(
    by amount: UInt64 = 1, on device: DeviceID
  ) throws(Overflow) -> PNCounter {
    PNCounter(try change(0, amount, on: device))
  }

  /// Cancels every change that this counter contains.
  ///
  /// - Returns: The delta to merge into other copies.
  /// - Complexity: O(*r* log *r*), where *r* is the number of devices.
  @discardableResult
  public mutating func reset() -> PNCounter {
    cancel()
    return self
  }

  /// Sets the value to `target` with a reset and one change.
  ///
  /// - Returns: The delta to merge into other copies.
  /// - Throws: ``Overflow`` if the sums of `device` would exceed `UInt64.max`.
  ///   If an error is thrown, the counter is unchanged.
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

// Changes that a save applies to the counter of a record.
extension PNCounter {
  /// Returns the entry of a device, or zeros for a device without an entry.
  func entry(of device: DeviceID) -> Entry {
    entries.entry(of: device) ?? Entry(device)
  }

  /// Returns the decision on the changes of a device.
  func cancellation(of device: DeviceID) -> Cancellation {
    canceled.entry(of: device)?.decision ?? Cancellation()
  }

  /// The decisions which changes of devices are canceled.
  var decisions: [DeviceID: Cancellation] {
    canceled.reduce(into: [:]) { $0[$1.device] = $1.decision }
  }

  /// Adds a change of a device.
  ///
  /// - Parameter sequence: The number of the device's save, or `nil` for the
  ///   number after that of its last change.
  /// - Returns: The device's entry, or `nil` if a sum or the sequence number
  ///   would overflow. In that case, the counter is unchanged.
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

  /// Cancels the changes in `observed`, an earlier state of this counter, or
  /// all changes if it is `nil`.
  package mutating func cancel(observed: PNCounter? = nil) {
    // A reset may arrive before the changes that it cancels.
    if let observed { entries = PNCounter.join(entries, observed.entries) }
    decide(
      (observed ?? self).entries.map { entry in
        var decision = cancellation(of: entry.device)
        decision.cancel(upTo: entry.sequence, sum: entry.sum)
        return Canceled(device: entry.device, decision: decision)
      })
  }

  /// Turns the decisions on the changes of some devices.
  mutating func turn(_ turns: [DeviceID: Cancellation]) {
    decide(
      turns.sorted { $0.key < $1.key }
        .map { Canceled(device: $0.key, decision: $0.value) })
  }

  /// Joins decisions, sorted by device.
  private mutating func decide(_ decisions: [Canceled]) {
    canceled = canceled.union(decisions) { $0.decision < $1.decision }
    _checkInvariants()
  }
}

extension PNCounter: Lattice {
  /// Keeps the later entry and the later decision of each device.
  ///
  /// - Complexity: O(*r*), where *r* is the number of devices in both counters.
  public mutating func merge(_ other: PNCounter) {
    // Most joins are of equal counters.
    if self == other { return }
    entries = PNCounter.join(entries, other.entries)
    decide(other.canceled)
  }

  private static func join(_ a: [Entry], _ b: [Entry]) -> [Entry] {
    a.union(b) { $0.isBefore($1) }
  }
}

extension PNCounter: CustomStringConvertible {
  /// The value as text.
  public var description: String { "\(value)" }
}

extension PNCounter.Entry {
  /// Creates the entry of a device without changes.
  init(_ device: DeviceID) {
    self.init(device: device, sequence: 0, increments: 0, decrements: 0)
  }

  /// The increments minus the decrements.
  var sum: WideInt { WideInt(increments) - WideInt(decrements) }

  /// Returns whether increments and decrements can have the sum `sum`.
  static func isSum(_ sum: WideInt) -> Bool {
    sum.isWithin(WideInt(UInt64.max))
  }

  /// Returns whether the sums can grow without an overflow.
  func canAdd(_ increments: UInt64, _ decrements: UInt64) -> Bool {
    increments <= .max - self.increments
      && decrements <= .max - self.decrements
  }

  /// Orders the entries of one device by sequence number.
  ///
  /// The sums order two entries with the same number, which exist only if a
  /// device ID was used twice.
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
        entries.isSortedByDevice && canceled.isSortedByDevice,
        "not sorted by device: \(self)")
      for entry in entries {
        precondition(entry.sequence > 0, "a change without a number: \(entry)")
      }
      for part in canceled {
        part.decision._checkInvariants()
        let last = entry(of: part.device).sequence
        precondition(
          part.decision.decided > 0 && part.decision.decided <= last,
          "\(part) decides on changes after the last one, \(last)")
      }
    #endif
  }
}

extension PNCounter: Codable {
  private enum CodingKeys: CodingKey { case entries, canceled }

  /// Encodes the sums of each device, sorted by device, and the canceled
  /// changes.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(entries, forKey: .entries)
    if !canceled.isEmpty {
      try container.encode(canceled, forKey: .canceled)
    }
  }

  /// Decodes the sums of each device and the canceled changes.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let entries = try container.decode([Entry].self, forKey: .entries)
    let canceled =
      try container.decodeIfPresent([Canceled].self, forKey: .canceled) ?? []
    for devices in [entries.map(\.device), canceled.map(\.device)] {
      guard zip(devices, devices.dropFirst()).allSatisfy(<) else {
        throw decoder.corrupted("expected each device once, sorted")
      }
    }
    guard entries.allSatisfy({ $0.sequence > 0 }) else {
      throw decoder.corrupted("expected sequence numbers above zero")
    }
    let isWithin = { (part: Canceled) in
      let last = entries.entry(of: part.device)?.sequence ?? 0
      return part.decision.decided <= last && Entry.isSum(part.decision.sum)
    }
    guard canceled.allSatisfy(isWithin) else {
      throw decoder.corrupted(
        "expected decisions on changes of the entries, and sums within their "
          + "range")
    }
    self.init(entries: entries, canceled: canceled)
  }
}

extension PNCounter.Canceled: Codable {
  private enum CodingKeys: CodingKey { case device }

  /// Encodes the device and the parts of its decision.
  @usableFromInline
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(device, forKey: .device)
    try decision.encode(to: encoder)
  }

  /// Decodes the device and the parts of its decision.
  @usableFromInline
  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    device = try container.decode(DeviceID.self, forKey: .device)
    decision = try Cancellation(from: decoder)
  }
}
