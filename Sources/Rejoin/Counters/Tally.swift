// SPDX-License-Identifier: Apache-2.0

/// The store of a counter: what every device has added and subtracted so far, and
/// how much of that resets have cancelled.
///
/// Entries of one device are ordered by their number, so that joining needs no
/// clock. A reset copies the entries it has seen; increments that it has not seen
/// lie above the copy and survive in full.
public struct Tally: Hashable, Sendable {
  /// The sums of one device's changes up to one of them.
  public struct Entry: Hashable, Codable, Sendable, DeviceEntry {
    /// The device.
    public let device: DeviceID
    /// The number of its last change.
    public internal(set) var sequence: UInt64
    /// Everything it has added.
    public internal(set) var increments: UInt64
    /// Everything it has subtracted.
    public internal(set) var decrements: UInt64
  }

  /// The sums of every device, sorted by device.
  public private(set) var entries: [Entry] = []

  /// The sums that resets have cancelled, sorted by device.
  public private(set) var cancelled: [Entry] = []

  /// Creates a tally without changes.
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

  /// The sums of one device.
  func entry(of device: DeviceID) -> Entry {
    entries.entry(of: device)
      ?? Entry(device: device, sequence: 0, increments: 0, decrements: 0)
  }

  /// Whether `increments` and `decrements` can be added to what `device` has.
  func canAdd(
    _ increments: UInt64, _ decrements: UInt64, by device: DeviceID
  ) -> Bool {
    let entry = entry(of: device)
    return increments <= .max - entry.increments
      && decrements <= .max - entry.decrements
  }

  /// Adds a change of `device`, which ``canAdd(_:_:by:)`` must have allowed.
  mutating func add(_ increments: UInt64, _ decrements: UInt64, at dot: Dot) {
    let i = entries.position(of: dot.device)
    if i == entries.count || entries[i].device != dot.device {
      entries.insert(entry(of: dot.device), at: i)
    }
    entries[i].sequence = dot.sequence
    entries[i].increments += increments
    entries[i].decrements += decrements
  }

  /// Cancels every change in `observed`, an earlier state of this tally, or every
  /// change there is.
  mutating func reset(observed: Tally? = nil) {
    cancelled = Tally.join(cancelled, observed?.entries ?? entries)
    entries = Tally.join(entries, cancelled)
  }

  /// Whether there is a change that no reset has cancelled.
  var hasUncancelled: Bool { entries != cancelled }
}

extension Tally: DotStore {
  /// Whether there has been no change.
  public var isEmpty: Bool { entries.isEmpty }

  public func impliesContext(_ clock: VectorClock) -> Bool {
    entries.isEmpty && clock.isEmpty
  }

  public var dots: VectorClock {
    var clock = VectorClock()
    for entry in entries { clock.insert(Dot(entry.device, entry.sequence)) }
    return clock
  }

  /// Keeps, of every device, the later sums.
  ///
  /// - Complexity: O(*r*) for the *r* devices of both.
  public mutating func merge(
    _ other: Tally, seen: some DotSet, otherSeen: some DotSet
  ) {
    merge(other)
  }
}

extension Tally: Lattice {
  /// Keeps, of every device, the later sums.
  public mutating func merge(_ other: Tally) {
    if self == other { return }
    cancelled = Tally.join(cancelled, other.cancelled)
    entries = Tally.join(Tally.join(entries, other.entries), cancelled)
  }

  private static func join(_ a: [Entry], _ b: [Entry]) -> [Entry] {
    a.union(b) { $0.isBefore($1) }
  }
}

extension Tally.Entry {
  /// Orders the entries of one device by number; under one number, which only a
  /// device name used twice produces, by the sums.
  func isBefore(_ other: Tally.Entry) -> Bool {
    (sequence, increments, decrements) < (
      other.sequence, other.increments, other.decrements
    )
  }
}
