// SPDX-License-Identifier: Apache-2.0

/// The store of a last-writer-wins register: the write with the greatest timestamp
/// and then the greatest device.
public struct Latest: Sendable {
  /// The write, if there has been one.
  public private(set) var write: Siblings<Stamped>.Element?

  /// Creates a store without a write.
  public init() {}

  init(_ write: Siblings<Stamped>.Element?) { self.write = write }

  /// The timestamp that a write at `time` must have so that it is shown.
  ///
  /// - Returns: `nil` if there is none above the one present.
  func stamp(for time: Timestamp) -> Timestamp? {
    guard let present = write?.payload.time else { return time }
    return present.next.map { max(time, $0) }
  }

  /// Puts a write in the place of what is there, which `stamp` must outrank.
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

  public var dots: VectorClock { write.map { VectorClock($0.dot) } ?? [:] }

  /// Keeps the greater write; what either side has seen does not matter.
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
