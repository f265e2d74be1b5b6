// SPDX-License-Identifier: Apache-2.0

/// A value with the time at which it was written; `nil` unsets the register.
public struct Stamped: Hashable, Sendable {
  /// When it was written.
  public let time: Timestamp

  /// What was written.
  public let value: Value?

  /// Creates a stamped value, made canonical.
  public init(_ value: Value?, at time: Timestamp) {
    self.time = time
    self.value = value?.canonical
  }
}

extension Stamped: Comparable {
  /// Orders by canonical bytes: the value first, then the time.
  ///
  /// It only chooses between payloads of one dot; writes are ordered by
  /// ``Siblings/winner``.
  public static func < (a: Stamped, b: Stamped) -> Bool {
    a.value == b.value ? a.time < b.time : a.value.isBefore(b.value)
  }
}

extension Siblings<Stamped> {
  /// The position of the write that is shown: the greatest timestamp and then the
  /// greatest device, and nothing else.
  var winnerIndex: Int? {
    indices.max { a, b in
      let (x, y) = (self[a], self[b])
      return x.payload.time != y.payload.time
        ? x.payload.time < y.payload.time : x.dot < y.dot
    }
  }

  /// The write that is shown.
  public var winner: Element? { winnerIndex.map { self[$0] } }

  /// The values of the other writes that differ from the one shown, each once,
  /// sorted.
  ///
  /// A write that unset the register is not listed.
  public var conflicts: [Value] {
    guard count > 1, let winner else { return [] }
    let losers = Set(compactMap(\.payload.value))
    return losers.filter { $0 != winner.payload.value }.sorted()
  }

  /// Writes a value that supersedes the siblings in `observed`.
  ///
  /// The write must be shown, since its author sees it. A sibling that stays and
  /// would outrank it is therefore outranked by one tick. At the greatest
  /// timestamp that is not possible: such a sibling is superseded.
  ///
  /// - Returns: The siblings that were superseded without having been observed.
  mutating func write(
    _ value: Value?, at dot: Dot, time: Timestamp, observed: some DotSet
  ) -> [Element] {
    drop(seen: observed)
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
