// SPDX-License-Identifier: Apache-2.0

/// The saves that a causal value has seen: a vector clock and, in the deltas of
/// single changes, dots beyond a gap.
///
/// The context of a full value is a vector clock. The delta of a single change
/// has seen the dot of that change and the dots it superseded. It must not
/// claim any other: a vector clock would claim all earlier saves, and joining
/// the delta would remove what they wrote. Dots that become contiguous with the
/// clock move into it.
public struct CausalContext: Hashable, Sendable {
  private enum Storage: Hashable, Sendable {
    case clock(VectorClock)
    /// There are dots, and none of them is in the clock or follows it directly:
    /// one context has one form. Indirect, so that the common case stays small.
    indirect case scattered(VectorClock, Set<Dot>)
  }

  private var storage: Storage

  /// The contiguous part: the saves of each device up to the first gap.
  public var clock: VectorClock {
    switch storage {
    case .clock(let clock), .scattered(let clock, _): clock
    }
  }

  /// The dots beyond a gap.
  ///
  /// None is in ``clock`` or follows it directly.
  public var scattered: Set<Dot> {
    if case .scattered(_, let dots) = storage { dots } else { [] }
  }

  /// Creates a context of the saves in `clock`.
  public init(_ clock: VectorClock = VectorClock()) { storage = .clock(clock) }

  /// Creates a context of one dot.
  init(_ dot: Dot) {
    storage =
      dot.sequence == 1
      ? .clock(VectorClock(dot)) : .scattered(VectorClock(), [dot])
  }

  /// Creates a context of exactly the given dots.
  public init(dots: some Sequence<Dot>) {
    self.init()
    update(clock: VectorClock(), dots: Set(dots))
  }

  /// Adds the dot after all dots of `device` in the context.
  mutating func insertNext(of device: DeviceID) -> Dot {
    switch storage {
    case .clock:
      let dot = Dot(device, clock[device] + 1)
      insert(through: dot)
      return dot
    case .scattered(let clock, let dots):
      let last = dots.reduce(clock[device]) { last, dot in
        dot.device == device ? max(last, dot.sequence) : last
      }
      let dot = Dot(device, last + 1)
      update(clock: clock, dots: dots.union([dot]))
      return dot
    }
  }

  /// Adds `dot` and every earlier save of its device.
  mutating func insert(through dot: Dot) {
    switch storage {
    case .clock(var clock):
      // Releases the stored clock, so that it is changed in place.
      storage = .clock(VectorClock())
      clock.insert(dot)
      storage = .clock(clock)
    case .scattered(var clock, let dots):
      clock.insert(dot)
      update(clock: clock, dots: dots)
    }
  }

  /// Moves the dots that are contiguous with the clock into it.
  private mutating func update(clock: VectorClock, dots: Set<Dot>) {
    var clock = clock
    var rest: Set<Dot> = []
    // In order, so that each dot of a contiguous run follows the clock.
    for dot in dots.sorted() where !clock.contains(dot) {
      if dot.sequence == clock[dot.device] + 1 {
        clock.insert(dot)
      } else {
        rest.insert(dot)
      }
    }
    storage = rest.isEmpty ? .clock(clock) : .scattered(clock, rest)
    _checkInvariants()
  }
}

extension CausalContext: DotSet {
  /// Whether the context contains `dot`.
  public func contains(_ dot: Dot) -> Bool {
    switch storage {
    case .clock(let clock): clock.contains(dot)
    case .scattered(let clock, let dots):
      clock.contains(dot) || dots.contains(dot)
    }
  }
}

extension CausalContext: Lattice {
  /// Adds every save in `other`.
  public mutating func merge(_ other: CausalContext) {
    let clock = clock.merging(other.clock)
    switch (storage, other.storage) {
    case (.clock, .clock): storage = .clock(clock)
    default: update(clock: clock, dots: scattered.union(other.scattered))
    }
    _checkInvariants()
  }
}

extension CausalContext {
  /// Traps in checked builds unless the invariants hold.
  @inline(__always)
  func _checkInvariants() {
    #if REJOIN_CHECK_INVARIANTS
      guard case .scattered(let clock, let dots) = storage else { return }
      precondition(!dots.isEmpty, "no dots beyond a gap of \(clock)")
      for dot in dots {
        precondition(
          dot.sequence > clock[dot.device] + 1, "\(dot) is not beyond a gap")
      }
    #endif
  }
}
