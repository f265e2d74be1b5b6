// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

private let a = Dot(DeviceID(1), 1)
private let b = Dot(DeviceID(2), 1)

@Suite(.encodes) struct ORSetStoreTests {
  private func map(_ pairs: [(String, Dot)]) -> ORSetStore {
    var map = ORSetStore()
    for (key, dot) in pairs {
      map[.string(key)].insert(AddMark(), at: dot)
    }
    return map
  }

  private func join(
    _ mine: ORSetStore, seen: [Dot], _ theirs: ORSetStore,
    otherSeen: [Dot]
  ) -> ORSetStore {
    var all = mine
    all.merge(
      theirs, seen: CausalContext(dots: seen),
      otherSeen: CausalContext(dots: otherSeen))
    return all
  }

  @Test func localKeyStaysUnlessOtherSideHasSeenIt() {
    let mine = map([("x", a), ("y", b)])
    #expect(join(mine, seen: [a, b], map([]), otherSeen: []) == mine)
    #expect(
      join(mine, seen: [a, b], map([]), otherSeen: [a]) == map([("y", b)]))
  }

  @Test func remoteKeyIsAddedUnlessLocalSideHasSeenIt() {
    let theirs = map([("x", a), ("y", b)])
    #expect(join(map([]), seen: [], theirs, otherSeen: [a, b]) == theirs)
    #expect(
      join(map([]), seen: [a], theirs, otherSeen: [a, b]) == map([("y", b)]))
  }

  @Test func keyOnBothSidesLosesSeenDots() {
    let (mine, theirs) = (map([("x", a), ("x", b)]), map([("x", b)]))
    #expect(join(mine, seen: [a, b], theirs, otherSeen: [a, b]) == theirs)
    #expect(join(theirs, seen: [a, b], mine, otherSeen: [a, b]) == theirs)
  }

  @Test func keyLosesOnlySeenDot() {
    let mine = map([("x", a), ("x", b)])
    let join = join(mine, seen: [a, b], map([]), otherSeen: [b])
    #expect(join == map([("x", a)]))
  }

  @Test func keyWithoutSiblingsIsNotStored() {
    var map = map([("x", a)])
    map.drop(seen: VectorClock(b))
    #expect(!map.isEmpty)
    map.drop(seen: VectorClock(a))
    #expect(map.isEmpty)
    #expect(map == ORSetStore())
    #expect(map.impliesContext([:]))
    #expect(!map.impliesContext(VectorClock(a)))
  }

  @Test func keysDifferByBytes() {
    let map = map([("\u{e9}", a), ("e\u{301}", b)])
    #expect(map.count == 2)
    #expect(map.dots == [a.device: 1, b.device: 1])
  }
}
