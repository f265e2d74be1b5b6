// SPDX-License-Identifier: Apache-2.0

/// The saves that a causal value has seen: a vector clock and, in small deltas,
/// single dots beyond a gap.
///
/// The context of a whole value is a clock. The delta of one change has seen that
/// change and what it superseded, and must not claim anything else; a clock would
/// claim everything before it. Dots that become contiguous move into the clock.
public struct CausalContext: Hashable, Sendable {
  private enum Storage: Hashable, Sendable {
    case clock(VectorClock)
    indirect case scattered(VectorClock, Set<Dot>)
  }

  private var storage: Storage

  /// The contiguous part.
  public var clock: VectorClock {
    switch storage {
    case .clock(let clock), .scattered(let clock, _): clock
    }
  }

  /// The dots beyond a gap.
  public var scattered: Set<Dot> {
    if case .scattered(_, let dots) = storage { dots } else { [] }
  }

  /// Creates a context that has seen what `clock` contains.
  public init(_ clock: VectorClock = VectorClock()) { storage = .clock(clock) }

  /// Creates a context that has seen the given dots and nothing else.
  public init(dots: some Sequence<Dot>) {
    self.init()
    update(clock: VectorClock(), dots: Set(dots))
  }

  /// The dot of the next change of `device`, after all that have been seen.
  func next(of device: DeviceID) -> Dot {
    let last = scattered.reduce(clock[device]) { last, dot in
      dot.device == device ? max(last, dot.sequence) : last
    }
    return Dot(device, last + 1)
  }

  /// Adds `dot` and everything that its device saved before it.
  mutating func insert(through dot: Dot) {
    switch storage {
    case .clock(var clock):
      storage = .clock(VectorClock())
      clock.insert(dot)
      storage = .clock(clock)
    case .scattered(var clock, let dots):
      clock.insert(dot)
      update(clock: clock, dots: dots)
    }
  }

  private mutating func update(clock: VectorClock, dots: Set<Dot>) {
    var clock = clock
    var rest: Set<Dot> = []
    for dot in dots.sorted() where !clock.contains(dot) {
      if dot.sequence == clock[dot.device] + 1 {
        clock.insert(dot)
      } else {
        rest.insert(dot)
      }
    }
    storage = rest.isEmpty ? .clock(clock) : .scattered(clock, rest)
  }
}

extension CausalContext: DotSet {
  /// Whether `dot` has been seen.
  public func contains(_ dot: Dot) -> Bool {
    switch storage {
    case .clock(let clock): clock.contains(dot)
    case .scattered(let clock, let dots):
      clock.contains(dot) || dots.contains(dot)
    }
  }
}

extension CausalContext: Lattice {
  /// Adds everything that `other` has seen.
  public mutating func merge(_ other: CausalContext) {
    let clock = clock.merging(other.clock)
    switch (storage, other.storage) {
    case (.clock, .clock): storage = .clock(clock)
    default: update(clock: clock, dots: scattered.union(other.scattered))
    }
  }
}
