// SPDX-License-Identifier: Apache-2.0

/// A map from keys to siblings, joined key by key under one causal context.
///
/// It is the dot store of both kinds of set.
public struct DotMap<Payload: Hashable & Comparable & Sendable>: Hashable,
  Sendable
{
  /// Keys are canonical, and no key has empty siblings: so equal maps have
  /// equal dictionaries and equal bytes.
  private(set) var siblings: [Value: Siblings<Payload>] = [:]

  /// Creates an empty map.
  public init() {}

  /// Creates a map from canonical keys, each with at least one sibling.
  init(_ siblings: [Value: Siblings<Payload>]) {
    self.siblings = siblings
    _checkInvariants()
  }

  /// The siblings of a key.
  ///
  /// - Complexity: O(1) on average.
  public internal(set) subscript(key: Value) -> Siblings<Payload> {
    get { siblings[key] ?? Siblings() }
    set { update(key) { $0 = newValue } }
  }

  /// Changes the siblings of a key in place.
  mutating func update<Result>(
    _ key: Value, _ change: (inout Siblings<Payload>) -> Result
  ) -> Result {
    // Equal keys must have equal bytes, but −0 equals 0 and all NaNs are equal.
    let key = key.canonical
    let (result, isEmpty) = { (all: inout Siblings<Payload>) in
      (change(&all), all.isEmpty)
    }(&siblings[key, default: Siblings()])
    if isEmpty { siblings[key] = nil }
    return result
  }

  /// The keys with their siblings, sorted by key.
  ///
  /// - Complexity: O(*n* log *n*).
  public var contents: [(key: Value, siblings: Siblings<Payload>)] {
    siblings.sorted { $0.key < $1.key }
      .map { (key: $0.key, siblings: $0.value) }
  }

  /// Removes all siblings whose dots `seen` contains.
  mutating func drop(seen: some DotSet) {
    for key in Array(siblings.keys) { self[key].drop(seen: seen) }
    _checkInvariants()
  }
}

extension DotMap: DotStore {
  /// Whether no key has siblings.
  public var isEmpty: Bool { siblings.isEmpty }

  public func impliesContext(_ clock: VectorClock) -> Bool {
    siblings.isEmpty && clock.isEmpty
  }

  public var dots: VectorClock {
    var greatest: [DeviceID: UInt64] = [:]
    for all in siblings.values {
      for element in all {
        let dot = element.dot
        greatest[dot.device] = max(greatest[dot.device] ?? 0, dot.sequence)
      }
    }
    return VectorClock(greatest: greatest)
  }

  /// Joins two maps.
  ///
  /// - Complexity: O(*n*) on average for the *n* keys of both.
  public mutating func merge(
    _ other: DotMap, seen: some DotSet, otherSeen: some DotSet
  ) {
    let nothing = Siblings<Payload>()
    // A key that only this side holds changes only where the other side has
    // seen one of its dots.
    var superseded: [Value] = []
    for (key, mine) in siblings {
      if mine.contains(where: { otherSeen.contains($0.dot) }),
        other.siblings[key] == nil
      {
        superseded.append(key)
      }
    }
    for key in superseded {
      self[key].merge(nothing, seen: seen, otherSeen: otherSeen)
    }
    // Nor does a key of which both hold the same, as they do of most.
    for (key, theirs) in other.siblings where siblings[key] != theirs {
      self[key].merge(theirs, seen: seen, otherSeen: otherSeen)
    }
    _checkInvariants()
  }
}

extension DotMap {
  /// Traps in checked builds unless the invariants hold.
  @inline(__always)
  func _checkInvariants() {
    #if REJOIN_CHECK_INVARIANTS
      for (key, all) in siblings {
        precondition(!all.isEmpty, "no siblings of \(key)")
        guard case .double(let number) = key else { continue }
        precondition(
          number.bitPattern == Value.canonicalBits(number),
          "\(key) is not canonical")
      }
    #endif
  }
}
