// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@testable import RejoinComparison

@Suite struct OracleTests {
  private let base: PlainRecord = ["name": .text("old"), "note": .text("n")]

  @Test func updateWinsOverConcurrentDeletion() {
    let episode = Episode(
      base, ("a", { $0.set["name"] = "A" }), ("b", { $0.isDeletion = true }))
    #expect(episode.changes() == 1)
    #expect(episode.losses(["name": .text("A"), "note": .text("n")]).isEmpty)
    #expect(
      episode.losses(nil)
        == ["lost": 1, "excess": 1, "base": 1, "wrong": 1])
    #expect(episode.losses(["name": .text("A")]) == ["base": 1])
    // A record that does not exist shows no conflict list.
    #expect(
      episode.losses(nil, kept: ["name": [.text("A")]])
        == ["lost": 1, "excess": 1, "base": 1, "wrong": 1])
  }

  /// The deletion must stay, and the edit does not count.
  @Test func deletionWinsUnderDeleteWins() {
    let episode = Episode(
      base, ("a", { $0.set["name"] = "A" }), ("b", { $0.isDeletion = true }))
    #expect(episode.changes(.deleteWins) == 0)
    #expect(episode.losses(nil, .deleteWins).isEmpty)
    #expect(
      episode.losses(["name": .text("A"), "note": .text("n")], .deleteWins)
        == ["wrong": 1])
  }

  @Test func recordDeletedByAllDevicesIsGone() {
    let episode = Episode(
      base, ("a", { $0.isDeletion = true }), ("b", { $0.set["name"] = "B" }),
      ("b", { $0.isDeletion = true }))
    #expect(episode.losses(nil).isEmpty)
    #expect(episode.losses(base) == ["wrong": 1])
  }

  @Test func recreationDiscardsSeenValues() {
    let episode = Episode(
      base, ("a", { $0.isDeletion = true }), ("a", { $0.set["name"] = "A" }),
      ("b", { $0.set["note"] = "B" }))
    #expect(episode.losses(["name": .text("A"), "note": .text("B")]).isEmpty)
    #expect(
      episode.losses(["name": .text("A")]) == ["lost": 1, "excess": 1])
  }

  @Test func recreationCancelsSeenIncrements() {
    let episode = Episode(
      ["n": .count(5)], kinds: ["n": .counter],
      ("a", { $0.isDeletion = true }), ("a", { $0.increment["n"] = 1 }),
      ("b", { $0.increment["n"] = 2 }))
    #expect(episode.losses(["n": .count(3)]).isEmpty)
    #expect(episode.losses(["n": .count(8)]) == ["lost": 2, "units": 5])
    let untouched = Episode(
      ["n": .count(5), "x": .text("old")], kinds: ["n": .counter],
      ("a", { $0.isDeletion = true }), ("a", { $0.set["x"] = "A" }),
      ("b", { $0.increment["n"] = 2 }))
    #expect(untouched.losses(["n": .count(2), "x": .text("A")]).isEmpty)
    #expect(
      untouched.losses(["n": .count(7), "x": .text("A")])
        == ["base": 1, "units": 5])
  }

  @Test func deletionOfAbsentRecordDoesNotCount() {
    let episode = Episode(nil, ("a", { $0.isDeletion = true }))
    #expect(episode.losses(nil).isEmpty)
    #expect(episode.losses([:]) == ["wrong": 1])
  }

  @Test func writesBeforeOwnDeletionAreOptional() {
    let episode = Episode(
      base, ("a", { $0.set["name"] = "A" }), ("a", { $0.isDeletion = true }),
      ("b", { $0.set["note"] = "B" }))
    #expect(episode.changes() == 1)
    #expect(episode.losses(["name": .text("A"), "note": .text("B")]).isEmpty)
    #expect(
      episode.losses(["name": .text("old"), "note": .text("B")]).isEmpty)
    #expect(
      episode.losses(["name": .text("C"), "note": .text("B")])
        == ["base": 1])
  }

  @Test func disagreeingDevicesAreJudgedByWorst() {
    let episode = Episode(
      ["n": .count(0)], kinds: ["n": .counter],
      ("a", { $0.increment["n"] = 1 }), ("b", { $0.increment["n"] = 4 }))
    let outcome = Outcome(states: [["n": .count(1)], ["n": .count(4)]])
    let verdict = Oracle(episode).verdict(on: outcome)
    // Each change is missing on one of the devices.
    #expect(
      verdict.losses.counts == ["lost": 2, "units": 4, "disagree": 1])
    #expect(verdict.words.map(\.device) == ["a", "b"])
  }

  /// The oracle judges only received edits.
  @Test func changesOfBlockedDeviceWait() {
    let episode = Episode(
      ["n": .count(0), "x": .text("old")], kinds: ["n": .counter],
      ("a", { $0.increment["n"] = 1 }), ("b", { $0.increment["n"] = 4 }),
      ("b", { $0.set["x"] = "B" }))
    var outcome = Outcome(states: [
      ["n": .count(1), "x": .text("old")], ["n": .count(4), "x": .text("B")],
    ])
    outcome.waiting = ["b"]
    let losses = Oracle(episode).verdict(on: outcome).losses
    #expect(losses.counts == ["waiting": 2, "disagree": 1])
    #expect(losses.changes == 3 && losses.isLossless)
    outcome.states[0] = ["n": .count(0), "x": .text("old")]
    #expect(
      Oracle(episode).verdict(on: outcome).losses.counts
        == ["lost": 1, "units": 1, "waiting": 2, "disagree": 1])
  }

  @Test func emptySetAndAbsentSetAgree() {
    #expect(Outcome(states: [["s": .elements([])], [:]]).agrees)
    #expect(!Outcome(states: [["s": .texts("x")], [:]]).agrees)
    #expect(!Outcome(states: [nil, [:]]).agrees)
  }
}
