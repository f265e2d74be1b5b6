// SPDX-License-Identifier: Apache-2.0

/// Concurrent payloads with one dot each: the content of a register, or of one
/// element of a set.
///
/// This type decides what survives a join. A sibling that both sides have
/// stays. A sibling that only one side has stays unless the other side has seen
/// its dot. Content is superseded or removed only by this second rule.
///
/// If two siblings with the same dot have different payloads, a device ID was
/// used twice (equivocation). The greater payload stays, so the join remains
/// total and commutative.
///
/// The most common case by far is a single sibling, which needs no allocation.
package struct Siblings<Payload: Hashable & Comparable & Sendable>: Sendable {
  /// A payload and the dot of the save that wrote it.
  package struct Element: Hashable, Sendable {
    /// The dot of the save.
    package let dot: Dot
    /// The content that the save wrote.
    package let payload: Payload
  }

  /// Each number of siblings has one case, so equal siblings have equal
  /// storage.
  private enum Storage: Hashable, Sendable {
    case none
    case one(Element)
    /// Two or more siblings, sorted by dot.
    ///
    /// No two of them share a dot.
    case many([Element])
  }

  private var storage: Storage

  private init(_ storage: Storage) { self.storage = storage }

  /// Creates siblings from a single payload.
  package init(_ payload: Payload, at dot: Dot) {
    storage = .one(Element(dot: dot, payload: payload))
  }

  /// Creates siblings from elements that are sorted by dot, with one per dot.
  init(sorted elements: [Element]) {
    switch elements.count {
    case 0: storage = .none
    case 1: storage = .one(elements[0])
    default: storage = .many(elements)
    }
    _checkInvariants()
  }

  /// Removes the siblings with dots in `seen`.
  mutating func drop(seen: some DotSet) {
    switch storage {
    case .none: break
    case .one(let only): if seen.contains(only.dot) { storage = .none }
    case .many(let all):
      self = Siblings(sorted: all.filter { !seen.contains($0.dot) })
    }
  }

  /// Adds a sibling, or replaces the sibling with the same dot.
  mutating func insert(_ payload: Payload, at dot: Dot) {
    let new = Element(dot: dot, payload: payload)
    switch storage {
    case .none: return storage = .one(new)
    case .one(let only) where only.dot == dot: return storage = .one(new)
    case .one, .many: break
    }
    let others = filter { $0.dot != dot }
    let index = others.firstIndex { dot < $0.dot } ?? others.count
    self = Siblings(sorted: others[..<index] + [new] + others[index...])
  }
}

extension Siblings: RandomAccessCollection {
  /// The siblings in the order of their dots.
  private var elements: [Element] {
    switch storage {
    case .none: []
    case .one(let only): [only]
    case .many(let all): all
    }
  }

  /// An iterator over the siblings in the order of their dots.
  package struct Iterator: IteratorProtocol {
    fileprivate var only: Element?
    fileprivate var many: IndexingIterator<[Element]>

    /// Returns the next sibling, or `nil` after the last one.
    package mutating func next() -> Element? {
      guard let only else { return many.next() }
      self.only = nil
      return only
    }
  }

  /// Creates an iterator over the siblings in the order of their dots.
  package func makeIterator() -> Iterator {
    switch storage {
    case .none, .one: Iterator(only: only, many: [].makeIterator())
    case .many(let all): Iterator(only: nil, many: all.makeIterator())
    }
  }

  /// The position of the first sibling.
  package var startIndex: Int { 0 }

  /// The number of siblings.
  package var endIndex: Int {
    switch storage {
    case .none: 0
    case .one: 1
    case .many(let all): all.count
    }
  }

  /// The sibling at `position`, in the order of dots.
  package subscript(position: Int) -> Element {
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
  package init() { storage = .none }

  package func impliesContext(_ clock: VectorClock) -> Bool {
    switch storage {
    case .none: clock.isEmpty
    case .one(let only):
      clock.entries.count == 1 && clock[only.dot.device] == only.dot.sequence
    case .many: clock == dots
    }
  }

  package func impliesContext(_ dot: Dot) -> Bool {
    if case .one(let only) = storage { return only.dot == dot }
    return impliesContext(VectorClock(dot))
  }

  package var onlyDot: Dot? { only?.dot }

  /// The only sibling, or `nil` if there are several or none.
  var only: Element? {
    if case .one(let only) = storage { only } else { nil }
  }

  package var dots: VectorClock {
    guard case .many(let all) = storage else {
      return only.map { VectorClock($0.dot) } ?? VectorClock()
    }
    var entries: [VectorClock.Entry] = []
    entries.reserveCapacity(all.count)
    for element in all {
      let dot = element.dot
      // Sorted by device and then by number, so the last dot of a device is the
      // greatest.
      if dot.device == entries.last?.device { entries.removeLast() }
      entries.append(.init(device: dot.device, count: dot.sequence))
    }
    return VectorClock(sorted: entries)
  }

  package func lastDot(of device: DeviceID) -> UInt64 {
    switch storage {
    case .none: return 0
    case .one(let only):
      return only.dot.device == device ? only.dot.sequence : 0
    case .many(let all):
      let end = all.partitioningIndex { device < $0.dot.device }
      return end > 0 && all[end - 1].dot.device == device
        ? all[end - 1].dot.sequence : 0
    }
  }

  /// A join keeps the last dot of each device.
  ///
  /// The side that has it, and no later dot, has also seen no later one.
  package static var keepsLastDots: Bool { true }

  /// The sibling with a dot, or `nil` if no sibling has it.
  subscript(dot: Dot) -> Element? {
    switch storage {
    case .none: return nil
    case .one(let only): return only.dot == dot ? only : nil
    case .many(let all):
      let index = all.partitioningIndex { $0.dot >= dot }
      return index < all.count && all[index].dot == dot ? all[index] : nil
    }
  }

  /// Joins two sets of siblings.
  ///
  /// - Complexity: O(*m* log *n*), where *n* is the number of siblings and *m*
  ///   is the number of siblings in `other`, plus a clock look-up for each.
  package mutating func merge(
    _ other: Siblings, seen: some DotSet, otherSeen: some DotSet
  ) {
    if count < 2, other.count < 2 {
      return join(only, other.only, seen: seen, otherSeen: otherSeen)
    }
    // Release the stored array, so it is changed in place.
    var union = elements
    storage = .none
    union.removeAll { otherSeen.contains($0.dot) && other[$0.dot] == nil }
    var new: [Element] = []
    for theirs in other {
      let index = union.partitioningIndex { $0.dot >= theirs.dot }
      if index < union.count, union[index].dot == theirs.dot {
        union[index] = union[index].joined(theirs)
      } else if !seen.contains(theirs.dot) {
        new.append(theirs)
      }
    }
    if new.count == 1 {
      let index = union.partitioningIndex { $0.dot >= new[0].dot }
      union.insert(new[0], at: index)
    } else if !new.isEmpty {
      // The sort finds the two runs and merges them.
      union += new
      union.sort { $0.dot < $1.dot }
    }
    self = Siblings(sorted: union)
  }

  /// Joins at most one sibling on each side, the most common case, without an
  /// array.
  private mutating func join(
    _ mine: Element?, _ theirs: Element?, seen: some DotSet,
    otherSeen: some DotSet
  ) {
    if let mine, let theirs, mine.dot == theirs.dot {
      return storage = .one(mine.joined(theirs))
    }
    let kept = mine.flatMap { otherSeen.contains($0.dot) ? nil : $0 }
    let new = theirs.flatMap { seen.contains($0.dot) ? nil : $0 }
    switch (kept, new) {
    case (nil, nil): storage = .none
    case (let only?, nil), (nil, let only?): storage = .one(only)
    case (let kept?, let new?):
      storage = .many(kept.dot < new.dot ? [kept, new] : [new, kept])
    }
  }
}

extension Siblings.Element {
  /// Returns the joined element of a dot that both sides have.
  ///
  /// The payloads differ only after an equivocation.
  fileprivate func joined(_ other: Self) -> Self {
    payload < other.payload ? other : self
  }
}

extension Siblings {
  /// Returns the dots whose siblings have different payloads.
  package func equivocations(with other: Self) -> [Dot] {
    var equivocations: [Dot] = []
    for theirs in other {
      if let mine = self[theirs.dot], mine != theirs {
        equivocations.append(theirs.dot)
      }
    }
    return equivocations
  }
}

extension Siblings: Hashable {
  package static func == (a: Siblings, b: Siblings) -> Bool {
    a.storage == b.storage
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(storage) }
}

extension Siblings {
  /// Traps in checked builds unless the invariants hold.
  @inline(__always)
  package func _checkInvariants() {
    #if REJOIN_CHECK_INVARIANTS
      guard case .many(let all) = storage else { return }
      precondition(all.count > 1, "\(all.count) siblings as many")
      precondition(
        zip(all, all.dropFirst()).allSatisfy { $0.dot < $1.dot },
        "not sorted, or several of one dot: \(all.map(\.dot))")
    #endif
  }
}
