// SPDX-License-Identifier: Apache-2.0

/// The store of a counter: the cumulative changes of each device, and how much
/// of them resets have cancelled.
///
/// The entries of one device are totally ordered by sequence number, so that a
/// join keeps the greater one and needs no clock. A reset copies the entries it
/// has seen to ``cancelled``; changes that it has not seen are not in the copy
/// and survive in full.
public struct Tally: Hashable, Sendable {
  /// The sums of a device's changes, up to one of them.
  public struct Entry: Hashable, Codable, Sendable, DeviceEntry {
    /// The device.
    public let device: DeviceID
    /// The sequence number of its last change; never zero.
    public internal(set) var sequence: UInt64
    /// The sum of its increments.
    public internal(set) var increments: UInt64
    /// The sum of its decrements.
    public internal(set) var decrements: UInt64
  }

  /// The sums of each device.
  ///
  /// Sorted by device.
  public private(set) var entries: [Entry] = []

  /// The sums that resets have cancelled.
  ///
  /// Sorted by device; each at most the entry of its device in ``entries``.
  public private(set) var cancelled: [Entry] = []

  /// Creates an empty tally.
  public init() {}

  init(entries: [Entry], cancelled: [Entry] = []) {
    self.entries = entries
    self.cancelled = cancelled
  }

  /// The sum of all changes that are not cancelled, computed exactly and then
  /// clamped to `Int64`.
  ///
  /// - Complexity: O(*r*) for *r* devices.
  public var value: Int64 {
    Int64(clamping: Tally.sum(entries) - Tally.sum(cancelled))
  }

  private static func sum(_ entries: [Entry]) -> Int128 {
    entries.reduce(0) {
      $0 + Int128($1.increments) - Int128($1.decrements)
    }
  }

  /// The entry of a device, with zeros if it has none.
  func entry(of device: DeviceID) -> Entry {
    entries.entry(of: device)
      ?? Entry(device: device, sequence: 0, increments: 0, decrements: 0)
  }

  /// Whether the sums of `device` can be increased without overflow.
  func canAdd(
    _ increments: UInt64, _ decrements: UInt64, by device: DeviceID
  ) -> Bool {
    let entry = entry(of: device)
    return increments <= .max - entry.increments
      && decrements <= .max - entry.decrements
  }

  /// Adds a change, which ``canAdd(_:_:by:)`` must have allowed.
  mutating func add(_ increments: UInt64, _ decrements: UInt64, at dot: Dot) {
    let i = entries.position(of: dot.device)
    if i == entries.count || entries[i].device != dot.device {
      entries.insert(entry(of: dot.device), at: i)
    }
    entries[i].sequence = dot.sequence
    entries[i].increments += increments
    entries[i].decrements += decrements
    _checkInvariants()
  }

  /// Cancels the changes in `observed`, an earlier state of this tally; `nil`
  /// cancels all.
  mutating func reset(observed: Tally? = nil) {
    cancelled = Tally.join(cancelled, observed?.entries ?? entries)
    // A reset may arrive before the changes it cancels.
    entries = Tally.join(entries, cancelled)
    _checkInvariants()
  }

  /// Whether any change has not been cancelled.
  var hasUncancelled: Bool { entries != cancelled }
}

extension Tally: DotStore {
  /// Whether there are no changes.
  public var isEmpty: Bool { entries.isEmpty }

  public func impliesContext(_ clock: VectorClock) -> Bool {
    entries.isEmpty && clock.isEmpty
  }

  public var dots: VectorClock {
    var clock = VectorClock()
    for entry in entries { clock.insert(Dot(entry.device, entry.sequence)) }
    return clock
  }

  /// Keeps the later entry of each device.
  ///
  /// The contexts play no part, since entries are never removed.
  ///
  /// - Complexity: O(*r*) for the *r* devices of both.
  public mutating func merge(
    _ other: Tally, seen: some DotSet, otherSeen: some DotSet
  ) {
    merge(other)
  }
}

extension Tally: Lattice {
  /// Keeps the later entry of each device.
  public mutating func merge(_ other: Tally) {
    // Idempotence; the most frequent join is of equal tallies.
    if self == other { return }
    cancelled = Tally.join(cancelled, other.cancelled)
    entries = Tally.join(Tally.join(entries, other.entries), cancelled)
    _checkInvariants()
  }

  private static func join(_ a: [Entry], _ b: [Entry]) -> [Entry] {
    a.union(b) { $0.isBefore($1) }
  }
}

extension Tally.Entry {
  /// Orders the entries of one device by sequence number.
  ///
  /// Two entries with one number, which exist only if a device ID was used
  /// twice, are ordered by their sums.
  func isBefore(_ other: Tally.Entry) -> Bool {
    (sequence, increments, decrements) < (
      other.sequence, other.increments, other.decrements
    )
  }
}

extension Tally {
  /// Traps in checked builds unless the invariants hold.
  @inline(__always)
  func _checkInvariants() {
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
