// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@testable import RejoinComparison

@Suite struct OracleTests {
  private let base: PlainRecord = ["name": .text("old"), "note": .text("n")]

  @Test func anUpdateWinsOverADeletionThatHadNotSeenIt() {
    let episode = Episode(
      base, ("a", { $0.set["name"] = "A" }), ("b", { $0.isDeletion = true }))
    #expect(episode.losses(["name": .text("A"), "note": .text("n")]).isZero)
    #expect(
      episode.losses(nil)
        == Losses(excess: 1, unrecoverable: 1, recordsWrong: 1))
    #expect(
      episode.losses(["name": .text("A")])
        == Losses(excess: 1, unrecoverable: 1))
  }

  @Test func whatEverybodyDeletedIsGone() {
    let episode = Episode(
      base, ("a", { $0.isDeletion = true }), ("b", { $0.set["name"] = "B" }),
      ("b", { $0.isDeletion = true }))
    #expect(episode.losses(nil).isZero)
    #expect(episode.losses(base) == Losses(recordsWrong: 1))
  }

  @Test func creatingAgainGivesUpWhatWasSeen() {
    let episode = Episode(
      base, ("a", { $0.isDeletion = true }), ("a", { $0.set["name"] = "A" }),
      ("b", { $0.set["note"] = "B" }))
    #expect(episode.losses(["name": .text("A"), "note": .text("B")]).isZero)
    #expect(
      episode.losses(["name": .text("A")])
        == Losses(excess: 1, unrecoverable: 1))
  }

  @Test func creatingAgainCancelsACounter() {
    let episode = Episode(
      ["n": .count(5)], kinds: ["n": .counter],
      ("a", { $0.isDeletion = true }), ("a", { $0.increment["n"] = 1 }),
      ("b", { $0.increment["n"] = 2 }))
    #expect(episode.losses(["n": .count(3)]).isZero)
    #expect(episode.losses(["n": .count(8)]) == Losses(counterUnits: 5))
  }

  @Test func deletingWhatIsNotThereIsNoEdit() {
    let episode = Episode(nil, ("a", { $0.isDeletion = true }))
    #expect(episode.losses(nil).isZero)
    #expect(episode.losses([:]) == Losses(recordsWrong: 1))
  }

  @Test func writesBeforeAnOwnDeletionMayShowAndNeedNot() {
    let episode = Episode(
      base, ("a", { $0.set["name"] = "A" }), ("a", { $0.isDeletion = true }),
      ("b", { $0.set["note"] = "B" }))
    #expect(episode.losses(["name": .text("A"), "note": .text("B")]).isZero)
    #expect(
      episode.losses(["name": .text("old"), "note": .text("B")]).isZero)
  }

  @Test func devicesThatNeverAgreeAreJudgedByTheWorst() {
    let episode = Episode(
      ["n": .count(0)], kinds: ["n": .counter],
      ("a", { $0.increment["n"] = 1 }), ("b", { $0.increment["n"] = 4 }))
    let outcome = Outcome(states: [["n": .count(1)], ["n": .count(4)]])
    let verdict = Oracle(episode).verdict(on: outcome)
    #expect(verdict.losses == Losses(counterUnits: 4, neverAgree: 1))
    #expect(verdict.perState.count == 2)
  }

  @Test func anEmptySetAndAnAbsentOneAgree() {
    #expect(Outcome(states: [["s": .elements([])], [:]]).agrees)
    #expect(!Outcome(states: [["s": .texts("x")], [:]]).agrees)
    #expect(!Outcome(states: [nil, [:]]).agrees)
  }
}
