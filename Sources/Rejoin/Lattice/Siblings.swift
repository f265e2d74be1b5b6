// SPDX-License-Identifier: Apache-2.0

/// Concurrent payloads, one per dot: the content of a register, or of a set for
/// one element.
///
/// What survives a join is decided here: what both sides hold stays, and what
/// one side holds stays unless the other has seen its dot. Only by the second
/// rule is anything ever superseded or removed.
///
/// If both sides hold the same dot with different payloads, a device ID was
/// used twice (equivocation). The greater payload stays, so that the join is
/// still total and commutative.
///
/// A single sibling, by far the most common case, needs no allocation of its
/// own.
public struct Siblings<Payload: Hashable & Comparable & Sendable>: Sendable {
  /// A payload and the dot of the save that wrote it.
  public struct Element: Hashable, Sendable {
    /// The save.
    public let dot: Dot
    /// What it wrote.
    public let payload: Payload
  }

  /// There is one case for each number of siblings, so that equal siblings have
  /// equal storage.
  private enum Storage: Hashable, Sendable {
    case none
    case one(Element)
    /// Two or more. Sorted by dot; never two of one dot.
    case many([Element])
  }

  private var storage: Storage

  private init(_ storage: Storage) { self.storage = storage }

  /// Creates a single sibling.
  public init(_ payload: Payload, at dot: Dot) {
    storage = .one(Element(dot: dot, payload: payload))
  }

  /// Creates siblings from elements that are sorted by dot, one per dot.
  init(sorted elements: [Element]) {
    switch elements.count {
    case 0: storage = .none
    case 1: storage = .one(elements[0])
    default: storage = .many(elements)
    }
    _checkInvariants()
  }

  /// Removes the siblings whose dots `seen` contains.
  mutating func drop(seen: some DotSet) {
    switch storage {
    case .none: break
    case .one(let only): if seen.contains(only.dot) { storage = .none }
    case .many(let all):
      self = Siblings(sorted: all.filter { !seen.contains($0.dot) })
    }
  }

  /// Adds a sibling, replacing one with the same dot.
  mutating func insert(_ payload: Payload, at dot: Dot) {
    let new = Element(dot: dot, payload: payload)
    switch storage {
    case .none: return storage = .one(new)
    case .one(let only) where only.dot == dot: return storage = .one(new)
    case .one, .many: break
    }
    let others = filter { $0.dot != dot }
    let place = others.firstIndex { dot < $0.dot } ?? others.count
    self = Siblings(sorted: others[..<place] + [new] + others[place...])
  }
}

extension Siblings: RandomAccessCollection {
  /// The position of the first sibling.
  public var startIndex: Int { 0 }

  /// The number of siblings.
  public var endIndex: Int {
    switch storage {
    case .none: 0
    case .one: 1
    case .many(let all): all.count
    }
  }

  /// The sibling at `position`, in the order of dots.
  public subscript(position: Int) -> Element {
    switch storage {
    case .none:
      preconditionFailure("index \(position) is out of range: no siblings")
    case .one(let only):
      precondition(
        position == 0, "index \(position) is out of range: one sibling")
      return only
    case .many(let all): return all[position]
    }
  }
}

extension Siblings: DotStore {
  /// Creates an empty store.
  public init() { storage = .none }

  public func impliesContext(_ clock: VectorClock) -> Bool {
    switch storage {
    case .none: clock.isEmpty
    case .one(let only):
      clock.entries.count == 1 && clock[only.dot.device] == only.dot.sequence
    case .many: clock == dots
    }
  }

  public func impliesContext(_ dot: Dot) -> Bool {
    if case .one(let only) = storage { return only.dot == dot }
    return impliesContext(VectorClock(dot))
  }

  public var onlyDot: Dot? { only?.dot }

  /// The sibling, if there is just one.
  var only: Element? {
    if case .one(let only) = storage { only } else { nil }
  }

  public var dots: VectorClock {
    guard case .many(let all) = storage else {
      return only.map { VectorClock($0.dot) } ?? VectorClock()
    }
    var entries: [VectorClock.Entry] = []
    entries.reserveCapacity(all.count)
    for dot in all.lazy.map(\.dot) {
      // Sorted by device and then by number: the last of a device is the
      // greatest.
      if dot.device == entries.last?.device { entries.removeLast() }
      entries.append(.init(device: dot.device, count: dot.sequence))
    }
    return VectorClock(sorted: entries)
  }

  public func lastDot(of device: DeviceID) -> UInt64 {
    reduce(0) { $1.dot.device == device ? Swift.max($0, $1.dot.sequence) : $0 }
  }

  /// Joins two sets of siblings.
  ///
  /// - Complexity: O(*n*) for the *n* siblings of both, and a look-up in a clock
  ///   for each that only one side holds.
  public mutating func merge(
    _ other: Siblings, seen: some DotSet, otherSeen: some DotSet
  ) {
    if case (.one(let a), .one(let b)) = (storage, other.storage), a == b {
      // Idempotence: what both sides hold stays, whatever the contexts.
      return
    }
    var union: [Element] = []
    var (i, j) = (0, 0)
    while i < count || j < other.count {
      if j == other.count || (i < count && self[i].dot < other[j].dot) {
        // Only this side holds the dot.
        if !otherSeen.contains(self[i].dot) { union.append(self[i]) }
        i += 1
      } else if i == count || other[j].dot < self[i].dot {
        // Only the other side holds the dot.
        if !seen.contains(other[j].dot) { union.append(other[j]) }
        j += 1
      } else {
        let (mine, theirs) = (self[i], other[j])
        // Both hold the dot. The payloads differ only after an equivocation.
        union.append(mine.payload < theirs.payload ? theirs : mine)
        i += 1
        j += 1
      }
    }
    self = Siblings(sorted: union)
  }
}

extension Siblings: Hashable {
  public static func == (a: Siblings, b: Siblings) -> Bool {
    a.storage == b.storage
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(storage) }
}

extension Siblings {
  /// Traps in checked builds unless the invariants hold.
  @inline(__always)
  func _checkInvariants() {
    #if REJOIN_CHECK_INVARIANTS
      guard case .many(let all) = storage else { return }
      precondition(all.count > 1, "\(all.count) siblings as many")
      precondition(
        zip(all, all.dropFirst()).allSatisfy { $0.dot < $1.dot },
        "not sorted, or several of one dot: \(all.map(\.dot))")
    #endif
  }
}
