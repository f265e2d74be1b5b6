// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@testable import RejoinComparison

@Suite struct RegisterFactsTests {
  private let contested = Episode(
    ["name": .text("old")],
    ("a", { $0.set["name"] = "A" }), ("b", { $0.set["name"] = "B" }))

  @Test func keptSiblingIsNotLost() {
    #expect(
      contested.losses(["name": .text("B")], kept: ["name": [.text("A")]])
        == ["kept": 1])
    #expect(contested.losses(["name": .text("B")]) == ["lost": 1])
  }

  @Test func excessCountsAvoidableLosses() {
    #expect(
      contested.losses(["name": .text("old")]) == ["lost": 2, "excess": 1])
    #expect(contested.losses([:]) == ["lost": 2, "excess": 1])
  }

  /// Both devices made the same change, so one value shows both.
  @Test func equalChangesAreShownByOneValue() {
    let episode = Episode(
      ["name": .text("old")],
      ("a", { $0.set["name"] = "new" }), ("b", { $0.set["name"] = "new" }),
      ("c", { $0.set["name"] = "other" }))
    #expect(episode.losses(["name": .text("new")]) == ["lost": 1])
    #expect(episode.losses(["name": .text("other")]) == ["lost": 2])
    #expect(
      episode.losses(["name": .text("old")]) == ["lost": 3, "excess": 2])
  }

  @Test func reportedChangesAreLostAndCounted() {
    let episode = Episode(
      ["name": .text("old")],
      ("a", { $0.set["name"] = "A" }), ("b", { $0.set["name"] = "B" }),
      ("c", { $0.set["name"] = "C" }), ("d", { $0.set["name"] = "D" }))
    let losses = episode.losses(
      ["name": .text("D")], kept: ["name": [.text("A")]],
      reported: ["name": [.text("A"), .text("B")]])
    #expect(losses == ["lost": 2, "reported": 1, "kept": 1])
  }

  @Test func laterOwnWriteReplacesEarlierWrite() {
    let episode = Episode(
      [:], ("a", { $0.set["name"] = "first" }),
      ("a", { $0.set["name"] = "second" }))
    #expect(episode.changes() == 1)
    #expect(episode.losses(["name": .text("second")]).isEmpty)
    #expect(
      episode.losses(["name": .text("first")]) == ["lost": 1, "excess": 1])
  }

  @Test func clearCountsAsWrite() {
    let episode = Episode(
      ["name": .text("old")],
      ("a", { $0.clear = ["name"] }), ("b", { $0.set["name"] = "B" }))
    #expect(
      episode.losses([:], kept: ["name": [.text("B")]]) == ["kept": 1])
    #expect(episode.losses(["name": .text("B")]) == ["lost": 1])
    #expect(
      episode.losses(["name": .text("B")], kept: ["name": [nil]])
        == ["kept": 1])
    #expect(
      episode.losses(["name": .value(.null)]) == ["lost": 2, "excess": 1])
  }

  @Test func unwrittenFieldMustStay() {
    let episode = Episode(
      ["name": .text("old"), "photo": .text("large")],
      ("a", { $0.set["name"] = "A" }))
    #expect(episode.losses(["name": .text("A")]) == ["base": 1])
    let verdict = Oracle(episode).verdict(on: Outcome(everywhere: [:]))
    #expect(verdict.losses.baseValues == 1)
  }
}
