// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

private let a = Dot(DeviceID(1), 1)
private let b = Dot(DeviceID(2), 1)
private let c = Dot(DeviceID(3), 1)

@Suite(.encodes) struct SiblingsTests {
  private func siblings(_ dots: [Dot], word: String = "x") -> Siblings<Stamped>
  {
    var all = Siblings<Stamped>()
    for dot in dots { all.insert(Stamped(.string(word), at: .zero), at: dot) }
    return all
  }

  private func join(
    _ mine: [Dot], seen: [Dot], _ theirs: [Dot], otherSeen: [Dot]
  ) -> [Dot] {
    var all = siblings(mine)
    all.merge(
      siblings(theirs), seen: CausalContext(dots: seen),
      otherSeen: CausalContext(dots: otherSeen))
    return all.map(\.dot)
  }

  @Test func joinKeepsSharedSiblings() {
    #expect(
      join([a, b], seen: [a, b], [a, b], otherSeen: [a, b]) == [a, b])
  }

  @Test func siblingStaysUnlessOtherSideHasSeenIt() {
    #expect(join([a], seen: [a], [], otherSeen: []) == [a])
    #expect(join([a], seen: [a], [], otherSeen: [a]) == [])
    #expect(join([], seen: [], [a], otherSeen: [a]) == [a])
    #expect(join([], seen: [a], [a], otherSeen: [a]) == [])
  }

  /// Compares every store and context over three dots with the definition.
  @Test func joinMatchesDefinitionOverSmallStores() {
    let parts = subsets([a, b, c])
    for seen in parts {
      for otherSeen in parts {
        for mine in subsets(seen) {
          for theirs in subsets(otherSeen) {
            let expected = [a, b, c].filter { dot in
              mine.contains(dot)
                ? theirs.contains(dot) || !otherSeen.contains(dot)
                : theirs.contains(dot) && !seen.contains(dot)
            }
            let found = join(mine, seen: seen, theirs, otherSeen: otherSeen)
            #expect(found == expected)
          }
        }
      }
    }
  }

  private func subsets(_ dots: [Dot]) -> [[Dot]] {
    dots.reduce([[]]) { parts, dot in parts + parts.map { $0 + [dot] } }
  }

  @Test func mergeKeepsGreaterPayloadOfOneDot() {
    let (low, high) = (siblings([a], word: "a"), siblings([a], word: "z"))
    let seen = VectorClock(a)
    var (x, y) = (low, high)
    x.merge(high, seen: seen, otherSeen: seen)
    y.merge(low, seen: seen, otherSeen: seen)
    #expect(x == high)
    #expect(y == high)
  }

  @Test func insertingKeepsDotOrder() {
    for order in [[a, b, c], [c, b, a], [b, c, a], [b, a, c, b]] {
      #expect(siblings(order).map(\.dot) == [a, b, c])
      #expect(siblings(order) == siblings([a, b, c]))
    }
  }

  @Test func droppingRemovesSeenSiblings() {
    var all = siblings([a, b, c])
    all.drop(seen: VectorClock(b))
    #expect(all.map(\.dot) == [a, c])
    all.drop(seen: CausalContext(dots: [a]))
    #expect(all == siblings([c]))
    all.drop(seen: VectorClock(a))
    #expect(all == siblings([c]))
    all.drop(seen: Everything())
    #expect(all == Siblings())
    #expect(all.isEmpty)
  }

  @Test func siblingsImplyClockOfTheirDotsOnly() {
    #expect(siblings([]).impliesContext([:]))
    #expect(!siblings([]).impliesContext(VectorClock(a)))
    #expect(siblings([a]).impliesContext(VectorClock(a)))
    #expect(!siblings([a]).impliesContext([a.device: 2]))
    #expect(!siblings([a]).impliesContext([:]))
    #expect(!siblings([a]).impliesContext([a.device: 1, b.device: 1]))
    #expect(siblings([a, b]).impliesContext([a.device: 1, b.device: 1]))
    #expect(!siblings([a, b]).impliesContext([a.device: 1, b.device: 2]))
  }

  @Test func winnerHasGreatestTimeThenDevice() {
    var all = siblings([a, b])
    #expect(all.winner?.dot == b)
    all.insert(Stamped(.null, at: Timestamp(rawValue: 1)), at: a)
    #expect(all.winner?.dot == a)
    #expect(Siblings<Stamped>().winner == nil)
  }

  @Test func writeReportsSupersededUnobservedSibling() {
    var all = siblings([])
    all.insert(Stamped(.int(1), at: .max), at: c)
    all.insert(Stamped(.int(2), at: .max), at: a)
    all.insert(Stamped(.int(3), at: .zero), at: Dot(DeviceID(4), 1))
    let lost = all.write(
      .int(4), at: b, time: .zero, observed: VectorClock())
    #expect(lost.map(\.dot) == [c])
    #expect(all.winner?.payload == Stamped(.int(4), at: .max))
    #expect(all.conflicts == [.int(2), .int(3)])
  }

  /// The second write of a save replaces the first without outranking it.
  @Test func secondWriteOfSaveKeepsItsTime() {
    var all = siblings([])
    for (word, time) in [("first", 5), ("second", 3)] as [(String, UInt64)] {
      _ = all.write(
        .string(word), at: a, time: Timestamp(rawValue: time),
        observed: VectorClock())
    }
    let last = Stamped(.string("second"), at: Timestamp(rawValue: 3))
    #expect(all == Siblings(last, at: a))
  }

  @Test func writeWinsOverUnseenWriteOfEqualTime() {
    var all = siblings([b])
    _ = all.write(.null, at: a, time: .zero, observed: VectorClock())
    #expect(all.winner?.dot == a)
    #expect(all.map(\.dot) == [a, b])
  }

  @Test func fullyObservedWriteReportsNoSibling() {
    var all = siblings([a, c])
    let lost = all.write(.null, at: b, time: .zero, observed: Everything())
    #expect(lost.isEmpty)
    #expect(all.map(\.dot) == [b])
    #expect(all.winner?.payload.time == .zero)
  }
}
