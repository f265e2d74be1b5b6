// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import RejoinTesting
import Testing

@Suite struct RunMapTests {
  /// Checks maps with few keys and with many.
  @Test func mapMatchesDictionary() {
    for seed in 0..<200 as Range<UInt64> {
      check(seed) { UInt32($0) }
      // The keys share one or two marks.
      check(seed) { SchemaName("a long key \($0)") }
      check(seed) { DeviceID(high: UInt64($0), low: UInt64($0) & 1) }
    }
  }

  private func check<Key: RunKey & Comparable>(
    _ seed: UInt64, _ makeKey: (Int) -> Key
  ) {
    var random = SeededRandom(seed: seed)
    var (map, dictionary) = (RunMap<Key, Int>(), [Key: Int]())
    let keys = 1 + random.number(below: 40)
    for step in 0..<100 {
      let key = makeKey(random.number(below: keys))
      if random.chance(percent: 20) {
        map.set(key, to: step)
        dictionary[key] = step
      } else {
        map.update(key, default: 7) { $0 += step }
        dictionary[key, default: 7] += step
      }
      let probe = makeKey(random.number(below: keys))
      #expect(map[probe] == dictionary[probe], "seed \(seed)")
    }
    #expect(map.isEmpty == dictionary.isEmpty)
    #expect(
      map.sorted.map(\.key) == dictionary.keys.sorted(), "seed \(seed)")
    #expect(map.entries.count == dictionary.count)
  }

  @Test func entriesKeepInsertionOrder() {
    var map = RunMap<SchemaName, Int>()
    #expect(map.isEmpty)
    for (i, key) in (["b", "a", "b", "c", "a"] as [SchemaName]).enumerated() {
      map.update(key, default: 0) { $0 += i }
    }
    #expect(map.entries.map(\.key) == ["b", "a", "c"])
    #expect(map.entries.map(\.content) == [2, 5, 3])
    #expect(map.sorted.map(\.key) == ["a", "b", "c"])
  }
}
