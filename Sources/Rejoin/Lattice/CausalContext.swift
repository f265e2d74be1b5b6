// SPDX-License-Identifier: Apache-2.0

/// The saves that a causal value has seen: a vector clock and, in the deltas of
/// single changes, dots beyond a gap.
///
/// The context of a full value is a vector clock. The delta of a single change
/// has seen only the dot of that change and the dots that it superseded. A
/// vector clock would also contain all earlier saves, and joining the delta
/// would remove their content. Dots that become contiguous with the clock move
/// into it.
package struct CausalContext: Hashable, Sendable {
  private enum Storage: Hashable, Sendable {
    case clock(VectorClock)
    /// One dot beyond a gap at the start.
    ///
    /// This is the context of most deltas of single changes, and it needs no
    /// allocation.
    case dot(Dot)
    /// At least one dot, sorted and without duplicates.
    ///
    /// The clock does not contain the dots, and they do not follow it directly,
    /// so a context has only one form. Indirect, so the common case stays
    /// small.
    indirect case cloud(VectorClock, [Dot])
  }

  private var storage: Storage

  /// The contiguous part, which contains the saves of each device up to its
  /// first gap.
  package var clock: VectorClock {
    switch storage {
    case .clock(let clock), .cloud(let clock, _): clock
    case .dot: VectorClock()
    }
  }

  /// The dots beyond a gap, sorted.
  ///
  /// They are not in ``clock`` and do not follow it directly.
  package var dotCloud: [Dot] {
    switch storage {
    case .clock: []
    case .dot(let dot): [dot]
    case .cloud(_, let dots): dots
    }
  }

  /// Creates a context with the saves in `clock`.
  package init(_ clock: VectorClock = VectorClock()) { storage = .clock(clock) }

  /// Creates a context with one dot.
  init(_ dot: Dot) {
    storage =
      dot.sequence == 1
      ? .clock(VectorClock(dot)) : .dot(dot)
  }

  /// Creates a context with exactly the given dots.
  package init(dots: some Sequence<Dot>) {
    self.init()
    update(clock: VectorClock(), dots: Array(dots))
  }

  /// Adds the dot that follows all dots of `device` in the context.
  mutating func insertNext(of device: DeviceID) -> Dot {
    switch storage {
    case .clock:
      let dot = Dot(device, clock[device] + 1)
      insert(through: dot)
      return dot
    case .dot, .cloud:
      let last = dotCloud.reduce(clock[device]) { last, dot in
        dot.device == device ? max(last, dot.sequence) : last
      }
      let dot = Dot(device, last + 1)
      update(clock: clock, dots: dotCloud + [dot])
      return dot
    }
  }

  /// Adds `dot` and every earlier save of its device.
  mutating func insert(through dot: Dot) {
    switch storage {
    case .clock(var clock):
      // Release the stored clock, so it is changed in place.
      storage = .clock(VectorClock())
      clock.advance(to: dot)
      storage = .clock(clock)
    case .dot, .cloud:
      var clock = clock
      clock.advance(to: dot)
      update(clock: clock, dots: dotCloud)
    }
  }

  /// Moves the dots that are contiguous with the clock into it.
  ///
  /// - Parameter dots: The dots in any order, possibly with duplicates.
  private mutating func update(clock: VectorClock, dots: consuming [Dot]) {
    var clock = clock
    var previous: Dot?
    // After sorting, each dot of a contiguous run follows the clock, and equal
    // dots are adjacent.
    dots.sort()
    dots.removeAll { dot in
      defer { previous = dot }
      let isNext = dot.sequence &- 1 == clock[dot.device]
      if isNext { clock.advance(to: dot) }
      return isNext || dot == previous || clock.contains(dot)
    }
    storage =
      switch dots.count {
      case 0: .clock(clock)
      case 1 where clock.isEmpty: .dot(dots[0])
      default: .cloud(clock, dots)
      }
    _checkInvariants()
  }
}

extension CausalContext: DotSet {
  /// Returns whether the context contains `dot`.
  package func contains(_ dot: Dot) -> Bool {
    switch storage {
    case .clock(let clock): clock.contains(dot)
    case .dot(let only): only == dot
    case .cloud(let clock, let dots):
      clock.contains(dot) || dots.contains(sorted: dot)
    }
  }
}

extension [Dot] {
  /// Returns whether a sorted array contains `dot`.
  fileprivate func contains(sorted dot: Dot) -> Bool {
    let index = partitioningIndex { $0 >= dot }
    return index < count && self[index] == dot
  }
}

extension CausalContext: Lattice {
  /// Adds every save in `other`.
  package mutating func merge(_ other: CausalContext) {
    let clock = clock.merging(other.clock)
    switch (storage, other.storage) {
    case (.clock, .clock): storage = .clock(clock)
    default:
      update(clock: clock, dots: dotCloud + other.dotCloud)
    }
    _checkInvariants()
  }
}

extension CausalContext {
  /// Traps in checked builds unless the invariants hold.
  @inline(__always)
  func _checkInvariants() {
    #if REJOIN_CHECK_INVARIANTS
      let (clock, dots) = (clock, dotCloud)
      if case .cloud = storage {
        precondition(
          dots.count > (clock.isEmpty ? 1 : 0),
          "\(dots) beyond a gap of \(clock) have a shorter form")
      }
      precondition(
        zip(dots, dots.dropFirst()).allSatisfy(<), "not sorted: \(dots)")
      for dot in dots {
        precondition(
          dot.sequence > clock[dot.device] + 1, "\(dot) is not beyond a gap")
      }
    #endif
  }
}

extension CausalContext: Codable {
  private enum CodingKeys: CodingKey { case clock, dots }

  /// Encodes the contiguous part and any dots beyond it.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(clock, forKey: .clock)
    let dots = dotCloud
    if !dots.isEmpty { try container.encode(dots, forKey: .dots) }
  }

  /// Decodes the contiguous part and the dots beyond it.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let clock = try container.decode(VectorClock.self, forKey: .clock)
    let dots = try container.decodeIfPresent([Dot].self, forKey: .dots) ?? []
    // A stand-alone value adds one to get its next dot, which must not
    // overflow.
    guard clock.entries.allSatisfy({ $0.count < 1 << 63 }),
      dots.allSatisfy({ $0.sequence > 0 && $0.sequence < 1 << 63 })
    else {
      throw decoder.corrupted("expected sequence numbers from 1 to 2⁶³ − 1")
    }
    self = CausalContext(clock).merging(CausalContext(dots: dots))
    guard self.clock == clock, dotCloud == dots else {
      throw decoder.corrupted(
        "expected sorted dots, none contained in the clock or following it")
    }
  }
}

extension Decoder {
  /// Throws an error unless the dots are sorted, distinct and in the causal
  /// context.
  func check(_ dots: [Dot], areSeenBy seen: CausalContext) throws {
    guard zip(dots, dots.dropFirst()).allSatisfy(<) else {
      throw corrupted("expected sorted, distinct dots")
    }
    guard dots.allSatisfy({ $0.sequence > 0 && seen.contains($0) }) else {
      throw corrupted("expected dots that `seen` contains, numbered from one")
    }
  }
}
