// SPDX-License-Identifier: Apache-2.0

import RejoinTesting

@testable import Rejoin
import Testing

/// Maps with hashed keys, and keys that are removed again.
@Suite(.encodes) struct LargeORSetStoreTests {
  private typealias Mark = Siblings<AddMark>

  /// A map, and an equal dictionary that joins its keys one by one.
  private struct Pair {
    var map = ORSetStore()
    var plain: [Value: Mark] = [:]

    mutating func update(_ key: Value, _ change: (inout Mark) -> Void) {
      map.update(key, change)
      change(&plain[key, default: Mark()])
      if plain[key]?.isEmpty == true { plain[key] = nil }
    }

    mutating func merge(
      _ other: Pair, _ seen: VectorClock, _ theirs: VectorClock
    ) {
      map.merge(other.map, seen: seen, otherSeen: theirs)
      for key in Set(plain.keys).union(other.plain.keys) {
        var mine = plain[key] ?? Mark()
        mine.merge(other.plain[key] ?? Mark(), seen: seen, otherSeen: theirs)
        plain[key] = mine.isEmpty ? nil : mine
      }
    }

    func check() {
      let contents = map.contents
      #expect(
        contents.map(\.key) == plain.keys.sorted()
          && contents.allSatisfy { plain[$0.key] == $0.siblings })
      #expect(map.count == plain.count && map.isEmpty == plain.isEmpty)
      // Build the map again, in another order and without removed keys.
      let again = ORSetStore(plain.map { (key: $0.key, siblings: $0.value) })
      #expect(map == again && again == map)
      #expect(map.hashValue == again.hashValue)
      #expect(map.dots == again.dots)
    }
  }

  @Test(arguments: 0..<60 as Range<UInt64>)
  func mapMatchesDictionary(_ seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var (pairs, clocks) = ([Pair(), Pair()], [VectorClock(), VectorClock()])
    let range = [3, 20, 60][random.number(below: 3)]
    for step in 0..<120 {
      let i = random.number(below: 2)
      let key = Value.int(Int64(random.number(below: range)))
      switch random.number(below: 8) {
      case 0:
        pairs[i].merge(pairs[1 - i], clocks[i], clocks[1 - i])
        clocks[i].merge(clocks[1 - i])
      case 1 where step % 5 == 0:
        let clock = clocks[i]
        pairs[i].map.drop(seen: clock)
        pairs[i].plain = [:]
      case 1..<4: pairs[i].update(key) { $0 = Mark() }
      default:
        let device = DeviceID(UInt64(i + 1))
        let dot = Dot(device, clocks[i][device] + 1)
        clocks[i].advance(to: dot)
        pairs[i].update(key) { $0.insert(AddMark(), at: dot) }
      }
      pairs[i].check()
    }
  }

  @Test(arguments: [1, 20])
  func mapsOfDifferentKeysOrMarksDiffer(_ count: Int) {
    let mark = Mark(AddMark(), at: Dot(DeviceID(1), 1))
    let later = Mark(AddMark(), at: Dot(DeviceID(1), 2))
    var (map, larger) = (ORSetStore(), ORSetStore())
    for key in 0..<count { map[.int(Int64(key))] = mark }
    larger = map
    larger[.int(-1)] = mark
    #expect(map != larger && larger != map)
    var other = map
    other[.int(0)] = later
    #expect(map != other && other != map)
    other[.int(0)] = mark
    #expect(map == other)
  }

  @Test func removedKeysDoNotGrowMap() {
    var map = ORSetStore()
    for i in 0..<10_000 as Range<Int64> {
      map[.int(i)] = Mark(AddMark(), at: Dot(DeviceID(1), UInt64(i) + 1))
      if i >= 20 { map[.int(i - 20)] = Mark() }
      #expect(map.slots.count <= 64)
    }
    #expect(map.count == 20)
  }
}
