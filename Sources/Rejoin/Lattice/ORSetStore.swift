// SPDX-License-Identifier: Apache-2.0

/// The dot store of an OR-set: the elements, each with the marks that inserted
/// it.
///
/// An OR-set is a `Causal` of this store, which joins the elements one by one
/// under one causal context. An array contains them in the order of their
/// insertion. Sets with a common past are therefore joined side by side, almost
/// without look-ups.
package struct ORSetStore: Sendable {
  /// A key and its siblings.
  typealias Entry = (key: Value, siblings: Siblings<AddMark>)

  /// The maximum number of keys that are compared and not hashed.
  private static var few: Int { 12 }

  /// The keys in canonical form, without duplicates.
  ///
  /// A key without siblings may return. It stays in the array until most keys
  /// have no siblings.
  private(set) var slots: [Entry] = []
  /// The inverse of `slots`, or empty while there are few.
  private var indices: [Value: Int32] = [:]
  /// The number of keys with siblings.
  package private(set) var count = 0

  /// Creates an empty map.
  package init() {}

  /// Creates a map from distinct canonical keys with at least one sibling each.
  init(_ entries: [(key: Value, siblings: Siblings<AddMark>)]) {
    slots = entries
    count = entries.count
    reindex()
    _checkInvariants()
  }

  private mutating func reindex() {
    indices = [:]
    guard slots.count > ORSetStore.few else { return }
    indices.reserveCapacity(slots.count)
    fillIndex()
  }

  private mutating func fillIndex() {
    for (i, entry) in slots.enumerated() { indices[entry.key] = Int32(i) }
  }

  /// Returns the index of a key, which is compared with the key at `guess`
  /// first.
  private func index(of key: Value, guess: Int = 0) -> Int? {
    if guess < slots.count, slots[guess].key == key { return guess }
    if slots.count <= ORSetStore.few {
      return slots.firstIndex { $0.key == key }
    }
    return indices[key].map { Int($0) }
  }

  /// Returns the index of a key.
  ///
  /// A missing key is added without siblings.
  private mutating func index(adding key: Value) -> Int {
    guard slots.count > ORSetStore.few else {
      if let index = index(of: key) { return index }
      slots.append((key, Siblings()))
      if slots.count > ORSetStore.few { fillIndex() }
      return slots.count - 1
    }
    // Hash the key only once, whether or not it is missing.
    let new = Int32(slots.count)
    let index = { (index: inout Int32) in index }(&indices[key, default: new])
    if index == new { slots.append((key, Siblings())) }
    return Int(index)
  }

  /// Prepares the map for more new keys than it has.
  mutating func reserve(_ count: Int) {
    guard count > max(slots.count, ORSetStore.few) else { return }
    indices.reserveCapacity(slots.count + count)
  }

  /// Changes the siblings at an index.
  private mutating func change<Result>(
    at index: Int, _ change: (inout Siblings<AddMark>) -> Result
  ) -> Result {
    let wasEmpty = slots[index].siblings.isEmpty
    let result = change(&slots[index].siblings)
    switch (wasEmpty, slots[index].siblings.isEmpty) {
    case (false, true): count -= 1
    case (true, false): count += 1
    default: break
    }
    return result
  }

  /// Removes the keys without siblings if they are the majority.
  private mutating func compact() {
    guard slots.count > ORSetStore.few, count * 2 < slots.count else { return }
    slots.removeAll { $0.siblings.isEmpty }
    reindex()
  }

  /// The siblings of a key.
  ///
  /// - Complexity: O(1) on average.
  package internal(set) subscript(key: Value) -> Siblings<AddMark> {
    get { index(of: key).map { slots[$0].siblings } ?? Siblings() }
    set { update(key) { $0 = newValue } }
  }

  /// Changes a key's siblings in place.
  mutating func update<Result>(
    _ key: Value, _ change: (inout Siblings<AddMark>) -> Result
  ) -> Result {
    // Equal keys must have equal bytes, but −0 equals 0, and all NaNs are
    // equal.
    let result = self.change(at: index(adding: key.canonical), change)
    compact()
    return result
  }

  /// The keys with their siblings, in no particular order.
  var entries: some Sequence<Entry> {
    slots.lazy.filter { !$0.siblings.isEmpty }
  }

  /// The keys with their siblings, sorted by key.
  ///
  /// - Complexity: O(*n* log *n*).
  package var contents: [(key: Value, siblings: Siblings<AddMark>)] {
    entries.sorted(byValue: { $0.key })
  }

  /// Removes all siblings with dots in `seen`.
  mutating func drop(seen: some DotSet) {
    for index in slots.indices {
      change(at: index) { $0.drop(seen: seen) }
    }
    compact()
    _checkInvariants()
  }
}

extension ORSetStore: Hashable {
  package static func == (a: ORSetStore, b: ORSetStore) -> Bool {
    guard a.count == b.count else { return false }
    var guess = 0
    return a.entries.allSatisfy { entry in
      guard let index = b.index(of: entry.key, guess: guess) else {
        return false
      }
      guess = index + 1
      return b.slots[index].siblings == entry.siblings
    }
  }

  package func hash(into hasher: inout Hasher) {
    // The hash must not depend on the order of the keys.
    hasher.combine(
      entries.reduce(0) { sum, entry in
        var hasher = Hasher()
        hasher.combine(entry.key)
        hasher.combine(entry.siblings)
        return sum &+ hasher.finalize()
      })
  }
}

extension ORSetStore: DotStore {
  /// Whether no key has siblings.
  package var isEmpty: Bool { count == 0 }

  package func impliesContext(_ clock: VectorClock) -> Bool {
    isEmpty && clock.isEmpty
  }

  package var dots: VectorClock {
    var greatest = RunMap<DeviceID, UInt64>()
    for entry in entries {
      for sibling in entry.siblings {
        greatest.update(sibling.dot.device, default: 0) {
          $0 = max($0, sibling.dot.sequence)
        }
      }
    }
    return VectorClock(
      sorted: greatest.sorted.map { .init(device: $0.key, count: $0.content) })
  }

  /// Joins two maps.
  ///
  /// `Siblings` decides which marks stay. An element without marks is removed.
  ///
  /// - Complexity: O(*n*) on average, where *n* is the number of keys in both
  ///   maps.
  package mutating func merge(
    _ other: ORSetStore, seen: some DotSet, otherSeen: some DotSet
  ) {
    var isShared = Array(repeating: false, count: slots.count)
    join(other, seen: seen, otherSeen: otherSeen) { isShared[$0] = true }
    let nothing = Siblings<AddMark>()
    for index in isShared.indices where !isShared[index] {
      change(at: index) {
        $0.merge(nothing, seen: seen, otherSeen: otherSeen)
      }
    }
    compact()
    _checkInvariants()
  }

  /// Joins a part of a map.
  ///
  /// Missing keys count as removed only if they are in `lost`.
  ///
  /// - Parameter lost: The keys that were removed. Only a stored fragment lists them.
  /// - Complexity: O(*k*) on average, where *k* is the number of keys in the
  ///   part.
  mutating func merge(
    part: ORSetStore, lost: [Value], seen: some DotSet, otherSeen: some DotSet
  ) {
    join(part, seen: seen, otherSeen: otherSeen) { _ in }
    for key in lost {
      guard let index = index(of: key) else { continue }
      change(at: index) {
        $0.merge(Siblings(), seen: seen, otherSeen: otherSeen)
      }
    }
    compact()
    _checkInvariants()
  }

  /// Joins the siblings of each key of another map.
  ///
  /// - Parameter note: A closure that gets the index of each key that this map
  ///   already had.
  private mutating func join(
    _ other: ORSetStore, seen: some DotSet, otherSeen: some DotSet,
    _ note: (Int) -> Void
  ) {
    let (nothing, count) = (Siblings<AddMark>(), slots.count)
    var guess = 0
    for (key, theirs) in other.entries {
      guard let index = index(of: key, guess: guess) else {
        var mine = nothing
        mine.merge(theirs, seen: seen, otherSeen: otherSeen)
        if !mine.isEmpty { change(at: self.index(adding: key)) { $0 = mine } }
        continue
      }
      guess = index + 1
      if index < count { note(index) }
      // Most keys have the same siblings on both sides.
      if slots[index].siblings == theirs { continue }
      change(at: index) {
        $0.merge(theirs, seen: seen, otherSeen: otherSeen)
      }
    }
  }
}

extension ORSetStore {
  /// Traps in checked builds unless the invariants hold.
  @inline(__always)
  package func _checkInvariants() {
    #if REJOIN_CHECK_INVARIANTS
      precondition(
        count == entries.reduce(0) { sum, _ in sum + 1 },
        "\(count) keys are counted")
      precondition(
        slots.count <= ORSetStore.few && indices.isEmpty
          || indices.count == slots.count,
        "\(slots.count) slots, \(indices.count) indices")
      for (i, entry) in slots.enumerated() {
        precondition(
          index(of: entry.key) == i, "\(entry.key) is twice or not found")
        guard case .double(let number) = entry.key else { continue }
        precondition(
          number.bitPattern == Value.canonicalBits(number),
          "\(entry.key) is not canonical")
      }
    #endif
  }
}

/// The payload of a set's element.
///
/// It is empty, because the dot alone shows that the element was added.
package struct AddMark: Hashable, Sendable, Comparable {
  /// Returns `false`, because all marks are equal.
  package static func < (a: AddMark, b: AddMark) -> Bool { false }
}

extension ORSetStore {
  /// The elements, sorted.
  package var elements: [Value] { entries.map(\.key).sorted(byValue: \.self) }

  /// Returns whether the set contains an element.
  package func contains(_ element: Value) -> Bool { !self[element].isEmpty }
}
