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

  /// The sums of each device, sorted by device.
  public var entries: [Entry] { sums }

  /// The sums that resets have cancelled, sorted by device; each at most the
  /// entry of its device in ``entries``.
  public var cancelled: [Entry] { cancelledSums }

  // A setter that is private could not be inlined into `init(_:)`.
  @usableFromInline var sums: [Entry]
  @usableFromInline var cancelledSums: [Entry]

  /// Creates an empty tally.
  public init() { self.init(entries: []) }

  @inlinable
  init(_ entry: Entry) { (sums, cancelledSums) = ([entry], []) }

  init(entries: [Entry], cancelled: [Entry] = []) {
    (sums, cancelledSums) = (entries, cancelled)
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
    entries.entry(of: device) ?? Entry(device)
  }

  /// Whether the sums of `device` can be increased without overflow.
  func canAdd(
    _ increments: UInt64, _ decrements: UInt64, by device: DeviceID
  ) -> Bool {
    entry(of: device).canAdd(increments, decrements)
  }

  /// Adds a change of a device: that of its save `sequence`, or else the one
  /// after its last.
  ///
  /// - Returns: The device's entry; `nil`, with nothing changed, if a sum or the
  ///   sequence number would overflow.
  mutating func add(
    _ increments: UInt64, _ decrements: UInt64, by device: DeviceID,
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
    if isNew { sums.insert(entry, at: i) } else { sums[i] = entry }
    _checkInvariants()
    return entry
  }

  /// Cancels the changes in `observed`, an earlier state of this tally; `nil`
  /// cancels all.
  mutating func reset(observed: Tally? = nil) {
    cancelledSums = Tally.join(cancelled, observed?.entries ?? entries)
    // A reset may arrive before the changes it cancels.
    sums = Tally.join(entries, cancelled)
    _checkInvariants()
  }
}

extension Tally: CustomReflectable {
  /// The parts by their public names.
  public var customMirror: Mirror {
    Mirror(self, children: ["entries": entries, "cancelled": cancelled])
  }
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
    cancelledSums = Tally.join(cancelled, other.cancelled)
    sums = Tally.join(Tally.join(entries, other.entries), cancelled)
    _checkInvariants()
  }

  private static func join(_ a: [Entry], _ b: [Entry]) -> [Entry] {
    a.union(b) { $0.isBefore($1) }
  }
}

extension Tally.Entry {
  /// A device that has changed nothing yet.
  init(_ device: DeviceID) {
    self.init(device: device, sequence: 0, increments: 0, decrements: 0)
  }

  /// Whether the sums can be increased without overflow.
  func canAdd(_ increments: UInt64, _ decrements: UInt64) -> Bool {
    increments <= .max - self.increments
      && decrements <= .max - self.decrements
  }

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
