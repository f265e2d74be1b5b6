// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@testable import RejoinComparison

@Suite struct RegisterFactsTests {
  private let contested = Episode(
    ["name": .text("old")],
    ("a", { $0.set["name"] = "A" }), ("b", { $0.set["name"] = "B" }))

  @Test func oneOfTwoConcurrentWritesMustBeLost() {
    let losses = contested.losses(
      ["name": .text("B")], kept: ["name": ["A"]])
    #expect(losses.isZero)
  }

  @Test func theOtherIsUnrecoverableWhereNoListKeepsIt() {
    #expect(
      contested.losses(["name": .text("B")]) == Losses(unrecoverable: 1))
  }

  @Test func showingNeitherIsExcess() {
    #expect(
      contested.losses(["name": .text("old")])
        == Losses(excess: 1, unrecoverable: 2))
    #expect(contested.losses([:]) == Losses(excess: 1, unrecoverable: 2))
  }

  @Test func equalValuesCountAsOne() {
    let episode = Episode(
      ["name": .text("old")],
      ("a", { $0.set["name"] = "new" }), ("b", { $0.set["name"] = "new" }),
      ("c", { $0.set["name"] = "other" }))
    #expect(
      episode.losses(["name": .text("other")]) == Losses(unrecoverable: 1))
    #expect(
      episode.losses(["name": .text("old")])
        == Losses(excess: 2, unrecoverable: 2))
  }

  @Test func whatOnlyAReportHasToldIsCountedApart() {
    let episode = Episode(
      ["name": .text("old")],
      ("a", { $0.set["name"] = "A" }), ("b", { $0.set["name"] = "B" }),
      ("c", { $0.set["name"] = "C" }), ("d", { $0.set["name"] = "D" }))
    let losses = episode.losses(
      ["name": .text("D")], kept: ["name": ["A"]],
      reported: ["name": ["A", "B"]])
    #expect(losses == Losses(reported: 1, unrecoverable: 1))
    #expect(losses.lost == 2 && losses.silent == 1)
  }

  @Test func anOwnLaterWriteReplacesTheEarlier() {
    let episode = Episode(
      [:], ("a", { $0.set["name"] = "first" }),
      ("a", { $0.set["name"] = "second" }))
    #expect(episode.losses(["name": .text("second")]).isZero)
    #expect(
      episode.losses(["name": .text("first")])
        == Losses(excess: 1, unrecoverable: 1))
  }

  @Test func clearingIsAWriteOfNothing() {
    let episode = Episode(
      ["name": .text("old")],
      ("a", { $0.clear = ["name"] }), ("b", { $0.set["name"] = "B" }))
    #expect(episode.losses([:], kept: ["name": ["B"]]).isZero)
    #expect(
      episode.losses(["name": .text("B")]) == Losses(unrecoverable: 1))
    #expect(
      episode.losses(["name": .text("B")], kept: ["name": [nil]]).isZero)
    #expect(
      episode.losses(["name": .value(.null)])
        == Losses(excess: 1, unrecoverable: 2))
  }

  @Test func aFieldThatNobodyWroteMustStay() {
    let episode = Episode(
      ["name": .text("old"), "photo": .text("large")],
      ("a", { $0.set["name"] = "A" }))
    #expect(
      episode.losses(["name": .text("A")])
        == Losses(excess: 1, unrecoverable: 1))
  }
}
