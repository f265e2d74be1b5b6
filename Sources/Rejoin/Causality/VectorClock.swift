// SPDX-License-Identifier: Apache-2.0

/// The number of seen saves of each device.
///
///     var a: VectorClock = [phone: 2]
///     let b: VectorClock = [phone: 1, tablet: 1]
///     a.order(relativeTo: b)      // .concurrent
///     a.merge(b)                  // [phone: 2, tablet: 1]
///     a.contains(Dot(tablet, 1))  // true
///
/// A missing device counts as zero. Clocks form a lattice under the pointwise
/// maximum (Fidge 1988, Mattern 1989). The entries are a sorted array, because
/// most clocks have fewer than eight.
public struct VectorClock: Hashable, Sendable {
  /// A device and the number of its saves that were seen.
  public struct Entry: Hashable, Sendable, DeviceEntry {
    /// The device.
    public let device: DeviceID

    /// The number of its saves that were seen.
    ///
    /// Never zero.
    public internal(set) var count: UInt64
  }

  /// The devices in the clock, sorted, with their counts.
  ///
  /// No count is zero, so equal clocks have equal entries.
  public private(set) var entries: [Entry] = []

  /// Creates an empty clock.
  public init() {}

  /// Creates the smallest clock that contains `dot`.
  public init(_ dot: Dot) {
    if dot.sequence > 0 {
      entries = [Entry(device: dot.device, count: dot.sequence)]
    }
    _checkInvariants()
  }

  /// Creates a clock from sorted entries whose counts are not zero.
  init(sorted entries: [Entry]) {
    self.entries = entries
    _checkInvariants()
  }

  /// Creates a clock from the greatest sequence number of each device.
  ///
  /// It omits numbers that are zero.
  init(greatest: [DeviceID: UInt64]) {
    entries = greatest.filter { $0.value > 0 }
      .map { Entry(device: $0.key, count: $0.value) }
      .sorted { $0.device < $1.device }
    _checkInvariants()
  }

  /// Whether the clock has seen no saves.
  public var isEmpty: Bool { entries.isEmpty }

  /// The number of saves of `device` that the clock has seen.
  ///
  /// If you set it to zero, the device is removed.
  ///
  /// - Complexity: O(log *r*) to get and O(*r*) to set, where *r* is the number
  ///   of devices.
  public subscript(device: DeviceID) -> UInt64 {
    get {
      entries.entry(of: device)?.count ?? 0
    }
    set {
      let i = entries.position(of: device)
      let present = i < entries.count && entries[i].device == device
      switch (present, newValue) {
      case (true, 0): entries.remove(at: i)
      case (true, _): entries[i].count = newValue
      case (false, 0): break
      case (false, _):
        entries.insert(Entry(device: device, count: newValue), at: i)
      }
      _checkInvariants()
    }
  }

  /// Adds `dot` and every earlier save of its device.
  public mutating func advance(to dot: Dot) {
    if dot.sequence > self[dot.device] { self[dot.device] = dot.sequence }
  }
}

extension VectorClock: DotSet {
  /// Returns whether the clock has seen `dot`.
  public func contains(_ dot: Dot) -> Bool { dot.sequence <= self[dot.device] }
}

extension VectorClock {
  /// Returns the causal order of two clocks.
  ///
  /// - Complexity: O(*r*), where *r* is the number of devices in both clocks.
  public func order(relativeTo other: VectorClock) -> CausalOrder {
    switch (isContained(in: other), other.isContained(in: self)) {
    case (true, true): .equal
    case (true, false): .before
    case (false, true): .after
    case (false, false): .concurrent
    }
  }

  /// Returns whether `other` has seen every save in this clock.
  ///
  /// - Complexity: O(min(*r* + *s*, *r* log *s*)), where *r* is the number of
  ///   devices in this clock and *s* is the number of devices in `other`.
  public func isContained(in other: VectorClock) -> Bool {
    if entries.count < other.entries.count / 16 {
      return entries.allSatisfy { $0.count <= other[$0.device] }
    }
    // Both arrays are sorted by device, so one pass is enough.
    var j = 0
    for entry in entries {
      while j < other.entries.count, other.entries[j].device < entry.device {
        j += 1
      }
      guard j < other.entries.count,
        other.entries[j].device == entry.device,
        entry.count <= other.entries[j].count
      else { return false }
    }
    return true
  }

  /// Returns the last save of each device with saves that `other` has not seen.
  package func saves(beyond other: VectorClock) -> VectorClock {
    VectorClock(sorted: entries.beyond(other) { $0.count })
  }

  /// Returns the saves that both clocks have seen.
  public func intersection(_ other: VectorClock) -> VectorClock {
    var meet = VectorClock()
    for entry in entries {
      let count = min(entry.count, other[entry.device])
      if count > 0 {
        meet.entries.append(Entry(device: entry.device, count: count))
      }
    }
    meet._checkInvariants()
    return meet
  }
}

extension VectorClock {
  /// Adds the saves that `other` has seen.
  ///
  /// - Complexity: O(*r*), where *r* is the number of devices in both clocks.
  public mutating func merge(_ other: VectorClock) {
    // If b ⊑ a, then a ⊔ b = a. This common case allocates nothing.
    guard !other.isContained(in: self) else { return }
    entries = entries.union(other.entries) { $0.count < $1.count }
    _checkInvariants()
  }
}

extension VectorClock {
  /// Creates the join of several clocks.
  ///
  /// - Complexity: O(*n* log *n*), where *n* is the number of entries in all
  ///   clocks.
  init(joining clocks: some Sequence<VectorClock>) {
    var (join, greatest) = (VectorClock(), [:] as [DeviceID: UInt64])
    for clock in clocks {
      // The cost of a merge grows with the number of devices in the join.
      if greatest.isEmpty, join.entries.count < 16 {
        join.merge(clock)
        continue
      }
      if greatest.isEmpty {
        for entry in join.entries { greatest[entry.device] = entry.count }
      }
      for entry in clock.entries {
        greatest[entry.device] = max(greatest[entry.device] ?? 0, entry.count)
      }
    }
    self = greatest.isEmpty ? join : VectorClock(greatest: greatest)
  }
}

extension VectorClock: ExpressibleByDictionaryLiteral {
  /// Creates a clock from the number of seen saves of each device.
  public init(dictionaryLiteral elements: (DeviceID, UInt64)...) {
    for (device, n) in elements { advance(to: Dot(device, n)) }
  }
}

extension VectorClock: CustomStringConvertible {
  /// The entries in order, for example `[phone: 2, tablet: 1]`.
  public var description: String {
    "[" + entries.map { "\($0.device): \($0.count)" }.joined(separator: ", ")
      + "]"
  }
}

extension VectorClock {
  /// Traps in checked builds unless the invariants hold.
  @inline(__always)
  func _checkInvariants() {
    #if REJOIN_CHECK_INVARIANTS
      precondition(entries.isSortedByDevice, "not sorted by device: \(self)")
      precondition(
        entries.allSatisfy { $0.count > 0 }, "a count of zero: \(self)")
    #endif
  }
}

/// The causal relation of two vector clocks.
///
/// Causality is a partial order, which `Comparable` cannot express: two clocks
/// may be concurrent.
public enum CausalOrder: Hashable, Sendable {
  /// The second clock has seen all saves of the first, and more.
  case before

  /// Both clocks have seen the same saves.
  case equal

  /// The first clock has seen all saves of the second, and more.
  case after

  /// Each clock has seen a save that the other clock has not.
  case concurrent
}

extension VectorClock: Codable {
  /// Encodes the last dot of each device, in order.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    for entry in entries {
      try container.encode(Dot(entry.device, entry.count))
    }
  }

  /// Decodes the last dot of each device.
  public init(from decoder: any Decoder) throws {
    let dots = try [Dot](from: decoder)
    let areSorted = zip(dots, dots.dropFirst()).allSatisfy {
      $0.device < $1.device
    }
    guard areSorted, dots.allSatisfy({ $0.sequence > 0 }) else {
      throw decoder.corrupted(
        "expected each device once, sorted, with a sequence number above zero")
    }
    self.init(sorted: dots.map { Entry(device: $0.device, count: $0.sequence) })
  }
}
