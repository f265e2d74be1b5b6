// SPDX-License-Identifier: Apache-2.0

/// A written value with its timestamp, where `nil` unsets the register.
package struct Stamped: Hashable, Sendable {
  /// The timestamp of the write.
  package let time: Timestamp

  /// The value, in canonical form.
  package let value: Value?

  /// Creates a payload from a value, which it converts to canonical form.
  package init(_ value: Value?, at time: Timestamp) {
    self.time = time
    self.value = value?.canonical
  }

  /// Creates a payload from a canonical value.
  init(canonical value: Value?, at time: Timestamp) {
    (self.time, self.value) = (time, value)
  }
}

extension Stamped: Comparable {
  /// Orders payloads by value, and equal values by time.
  ///
  /// The order serves only to choose between two payloads with one dot
  /// (equivocation). For concurrent writes, see ``Siblings/winner``.
  package static func < (a: Stamped, b: Stamped) -> Bool {
    a.value == b.value ? a.time < b.time : a.value.isBefore(b.value)
  }
}

extension [Value?] {
  /// Returns the converted values, without those that cannot be converted.
  func converted<Kind>(_ convert: (Value) -> Kind?) -> [Kind?] {
    compactMap { value -> Kind?? in
      guard let value else { return .some(nil) }
      return convert(value).map { .some($0) }
    }
  }
}

extension Siblings<Stamped> {
  /// The index of the visible write, which has the greatest timestamp.
  ///
  /// If timestamps are equal, the greater device ID decides.
  var winnerIndex: Int? {
    indices.max { a, b in
      let (x, y) = (self[a], self[b])
      return x.payload.time != y.payload.time
        ? x.payload.time < y.payload.time : x.dot < y.dot
    }
  }

  /// The visible write.
  package var winner: Element? {
    count == 1 ? self[0] : winnerIndex.map { self[$0] }
  }

  /// The values of the other writes that differ from the visible value, sorted
  /// and without duplicates.
  ///
  /// The first value is `nil` if a write unset the register.
  package var conflicts: [Value?] {
    guard count > 1, let winner else { return [] }
    let losers = Set(map(\.payload.value))
    return losers.filter { $0 != winner.payload.value }
      .sorted { $0.isBefore($1) }
  }

  /// Writes a value that supersedes the siblings in `observed`.
  ///
  /// The write must be visible to its author. If it would lose to a sibling
  /// that stays, it gets the timestamp one tick above that sibling's. If that
  /// sibling has the greatest timestamp, no tick is left. In that case, the
  /// write supersedes all siblings that it would lose to.
  ///
  /// - Returns: The unobserved siblings that the write superseded.
  mutating func write(
    _ value: Value?, at dot: Dot, time: Timestamp, observed: some DotSet
  ) -> [Element] {
    drop(seen: observed)
    // A save writes a register only once: its last write replaces the others.
    drop(seen: Only(dot))
    var stamp = time
    var superseded: [Element] = []
    if let rival = winner, (stamp, dot) < (rival.payload.time, rival.dot) {
      if let next = rival.payload.time.next {
        stamp = next
      } else {
        stamp = .max
        let isRival = { (other: Element) in
          other.payload.time == .max && dot < other.dot
        }
        superseded = filter(isRival)
        self = Siblings(sorted: filter { !isRival($0) })
      }
    }
    insert(Stamped(value, at: stamp), at: dot)
    return superseded
  }
}

/// A write to a register: its save, its timestamp and its value.
public struct RegisterWrite: Hashable, Sendable {
  /// The save that wrote the value.
  public let dot: Dot

  /// The timestamp of the write.
  public let time: Timestamp

  /// The value, or `nil` if the write unset the register.
  public let value: Value?

  /// Creates a description of a write.
  public init(dot: Dot, time: Timestamp, value: Value?) {
    (self.dot, self.time, self.value) = (dot, time, value)
  }

  package init(_ element: Siblings<Stamped>.Element) {
    self.init(
      dot: element.dot, time: element.payload.time,
      value: element.payload.value)
  }
}
