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
    #expect(episode.losses(["n": .count(12)]).isZero)
    #expect(episode.losses(["n": .count(13)]) == Losses(counterUnits: 1))
    #expect(episode.losses([:]) == Losses(counterUnits: 12))
  }

  @Test func aResetCancelsWhatItSaw() {
    let episode = Episode(
      ["n": .count(10)], kinds: kinds,
      ("a", { $0.increment["n"] = 3 }), ("a", { $0.clear = ["n"] }),
      ("b", { $0.increment["n"] = 5 }))
    #expect(episode.losses(["n": .count(5)]).isZero)
    #expect(episode.losses([:]) == Losses(counterUnits: 5))
  }

  @Test func twoResetsCancelOnce() {
    let episode = Episode(
      ["n": .count(10)], kinds: kinds,
      ("a", { $0.clear = ["n"] }), ("b", { $0.clear = ["n"] }))
    #expect(episode.losses([:]).isZero)
    #expect(episode.losses(["n": .count(-10)]) == Losses(counterUnits: 10))
  }

  @Test func settingIsResetAndIncrement() {
    let episode = Episode(
      ["n": .count(10)], kinds: kinds,
      ("a", { $0.set["n"] = .int(4) }), ("b", { $0.increment["n"] = 2 }))
    #expect(episode.losses(["n": .count(6)]).isZero)
    #expect(episode.losses(["n": .count(4)]) == Losses(counterUnits: 2))
  }

  @Test func theDistanceOfTheGreatestNumbersIsClamped() {
    #expect(Int64.max.distance(from: .min) == .max)
    #expect(Int64.min.distance(from: .max) == .max)
    #expect((-3 as Int64).distance(from: 4) == 7)
  }
}
