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
    // Equal keys must have equal bytes, but −0 equals 0 and all NaNs are equal.
    set { siblings[key.canonical] = newValue.isEmpty ? nil : newValue }
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
    // seen one of its dots. Most keys have none of those and are left alone.
    var superseded: [Value] = []
    for (key, mine) in siblings where other.siblings[key] == nil {
      if mine.contains(where: { otherSeen.contains($0.dot) }) {
        superseded.append(key)
      }
    }
    for key in superseded {
      self[key].merge(nothing, seen: seen, otherSeen: otherSeen)
    }
    for (key, theirs) in other.siblings {
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
