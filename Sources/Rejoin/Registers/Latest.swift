// SPDX-License-Identifier: Apache-2.0

/// The store of a last-writer-wins register: the write with the greatest
/// timestamp, ties broken by device.
public struct Latest: Sendable {
  /// The current write; `nil` if there has been none.
  public private(set) var write: Siblings<Stamped>.Element?

  /// Creates an empty store.
  public init() {}

  init(_ write: Siblings<Stamped>.Element?) { self.write = write }

  /// The timestamp of a write at `time`: later than the current write, so that
  /// it wins.
  ///
  /// - Returns: `nil` if the current write has the greatest timestamp.
  func stamp(for time: Timestamp) -> Timestamp? {
    guard let present = write?.payload.time else { return time }
    return present.next.map { max(time, $0) }
  }

  /// Replaces the current write, whose timestamp must be less than `stamp`.
  mutating func write(_ value: Value?, at dot: Dot, stamp: Timestamp) {
    write = .init(dot: dot, payload: Stamped(value, at: stamp))
  }
}

extension Latest: DotStore {
  /// Whether there has been no write.
  public var isEmpty: Bool { write == nil }

  public func impliesContext(_ clock: VectorClock) -> Bool {
    guard let write else { return clock.isEmpty }
    return clock.entries.count == 1
      && clock[write.dot.device] == write.dot.sequence
  }

  public func impliesContext(_ dot: Dot) -> Bool { write?.dot == dot }

  public var onlyDot: Dot? { write?.dot }

  public var dots: VectorClock { write.map { VectorClock($0.dot) } ?? [:] }

  /// Keeps the greater write.
  ///
  /// The contexts play no part, since the greater write always wins.
  public mutating func merge(
    _ other: Latest, seen: some DotSet, otherSeen: some DotSet
  ) {
    guard let theirs = other.write else { return }
    if let mine = write, !Latest.isLess(mine, theirs) { return }
    write = theirs
  }

  private static func isLess(
    _ a: Siblings<Stamped>.Element, _ b: Siblings<Stamped>.Element
  ) -> Bool {
    if a.payload.time != b.payload.time {
      return a.payload.time < b.payload.time
    }
    return a.dot != b.dot ? a.dot < b.dot : a.payload < b.payload
  }
}

extension Latest: Hashable {}
