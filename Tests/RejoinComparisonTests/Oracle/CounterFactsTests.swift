// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@testable import RejoinComparison

@Suite struct CounterFactsTests {
  private let kinds: [String: FieldKind] = ["n": .counter]

  @Test func everyIncrementCounts() {
    let episode = Episode(
      ["n": .count(10)], kinds: kinds,
      ("a", { $0.increment["n"] = 3 }), ("b", { $0.increment["n"] = -1 }))
    #expect(episode.changes() == 2)
    #expect(episode.losses(["n": .count(12)]).isEmpty)
    // The decrement is missing.
    #expect(episode.losses(["n": .count(13)]) == ["lost": 1, "units": 1])
    #expect(episode.losses(["n": .count(9)]) == ["lost": 1, "units": 3])
    // Nothing arrived.
    #expect(episode.losses(["n": .count(10)]) == ["lost": 2, "units": 2])
  }

  /// No set of missing changes explains these values.
  @Test func unexplainedErrorLosesAllChanges() {
    let episode = Episode(
      ["n": .count(10)], kinds: kinds,
      ("a", { $0.increment["n"] = 3 }), ("b", { $0.increment["n"] = -1 }))
    #expect(episode.losses([:]) == ["lost": 2, "units": 12])
    #expect(episode.losses(["n": .count(11)]) == ["lost": 2, "units": 1])
  }

  /// 5 is missing: 5 alone explains it with one device, 2 and 3 with two.
  @Test func fewestDevicesExplainError() {
    let episode = Episode(
      [:], kinds: kinds, ("a", { $0.increment["n"] = 2 }),
      ("b", { $0.increment["n"] = 3 }), ("c", { $0.increment["n"] = 5 }))
    #expect(episode.losses(["n": .count(5)]) == ["lost": 1, "units": 5])
    #expect(episode.losses(["n": .count(2)]) == ["lost": 2, "units": 8])
  }

  /// Two sales of one from a stock of three are two changes.
  @Test func equalIncrementsAreTwoChanges() {
    let episode = Episode(
      ["n": .count(3)], kinds: kinds, ("a", { $0.increment["n"] = -1 }),
      ("b", { $0.increment["n"] = -1 }))
    #expect(episode.losses(["n": .count(2)]) == ["lost": 1, "units": 1])
    // A listed copy shows one of them.
    #expect(
      episode.losses(["n": .count(2)], kept: ["n": [.count(2)]])
        == ["kept": 1, "units": 1])
    #expect(
      episode.losses(["n": .count(2)], reported: ["n": [.count(2)]])
        == ["lost": 1, "reported": 1, "units": 1])
    #expect(
      episode.losses(["n": .count(2)], kept: ["n": [.count(1)]])
        == ["lost": 1, "units": 1])
  }

  @Test func resetCancelsSeenIncrements() {
    let episode = Episode(
      ["n": .count(10)], kinds: kinds,
      ("a", { $0.increment["n"] = 3 }), ("a", { $0.clear = ["n"] }),
      ("b", { $0.increment["n"] = 5 }))
    #expect(episode.losses(["n": .count(5)]).isEmpty)
    #expect(episode.losses([:]) == ["lost": 1, "units": 5])
    // The reset is missing.
    #expect(episode.losses(["n": .count(15)]) == ["lost": 1, "units": 10])
  }

  @Test func twoResetsCancelOnce() {
    let episode = Episode(
      ["n": .count(10)], kinds: kinds,
      ("a", { $0.clear = ["n"] }), ("b", { $0.clear = ["n"] }))
    #expect(episode.losses([:]).isEmpty)
    #expect(episode.losses(["n": .count(-10)]) == ["lost": 2, "units": 10])
  }

  @Test func settingIsResetAndIncrement() {
    let episode = Episode(
      ["n": .count(10)], kinds: kinds,
      ("a", { $0.set["n"] = .int(4) }), ("b", { $0.increment["n"] = 2 }))
    #expect(episode.losses(["n": .count(6)]).isEmpty)
    #expect(episode.losses(["n": .count(4)]) == ["lost": 1, "units": 2])
  }

  /// So many devices have too many sums to search.
  @Test func searchIsBounded() {
    var episode = Episode([:], kinds: kinds)
    for device in 0..<40 {
      var edit = Episode.Edit("device\(device)", at: 1)
      edit.increment["n"] = 1 << device
      episode.edits.append(edit)
    }
    let sum: Int64 = (1 << 40) - 1
    #expect(episode.losses(["n": .count(sum)]).isEmpty)
    #expect(episode.losses(["n": .count(sum - 1)]) == ["lost": 40, "units": 1])
  }

  @Test func distanceIsClamped() {
    #expect(Int64.max.distance(from: .min) == .max)
    #expect(Int64.min.distance(from: .max) == .max)
    #expect((-3 as Int64).distance(from: 4) == 7)
  }
}
