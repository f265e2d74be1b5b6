// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@testable import RejoinComparison

@Suite struct SetFactsTests {
  private let kinds: [String: FieldKind] = ["tags": .set]

  private var episode: Episode {
    Episode(
      ["tags": .texts("x", "y")], kinds: kinds,
      ("a", { $0.insert["tags"] = ["new"] }),
      ("b", { $0.remove["tags"] = ["x"] }))
  }

  @Test func bothEditsStand() {
    #expect(episode.losses(["tags": .texts("y", "new")]).isZero)
  }

  @Test func aLostInsertionIsCounted() {
    #expect(episode.losses(["tags": .texts("y")]) == Losses(addsLost: 1))
  }

  @Test func anUndoneRemovalIsCounted() {
    #expect(
      episode.losses(["tags": .texts("x", "y", "new")])
        == Losses(removesUndone: 1))
  }

  @Test func anElementOfTheBaseThatNobodyRemovedMustStay() {
    #expect(episode.losses(["tags": .texts("new")]) == Losses(addsLost: 1))
  }

  @Test func anInsertionThatNoRemovalSawWins() {
    let episode = Episode(
      ["tags": .texts("x")], kinds: kinds,
      ("a", { $0.insert["tags"] = ["x"] }),
      ("b", { $0.remove["tags"] = ["x"] }))
    #expect(episode.losses(["tags": .texts("x")]).isZero)
    #expect(episode.losses([:]) == Losses(addsLost: 1))
  }

  @Test func clearingRemovesOnlyWhatItSaw() {
    let episode = Episode(
      ["tags": .texts("x", "y")], kinds: kinds,
      ("a", { $0.clear = ["tags"] }),
      ("b", { $0.insert["tags"] = ["new"] }))
    #expect(episode.losses(["tags": .texts("new")]).isZero)
    #expect(episode.losses([:]) == Losses(addsLost: 1))
    #expect(
      episode.losses(["tags": .texts("x", "y", "new")])
        == Losses(removesUndone: 2))
  }

  @Test func anOwnRemovalSawTheOwnInsertion() {
    let episode = Episode(
      [:], kinds: kinds, ("a", { $0.insert["tags"] = ["x"] }),
      ("a", { $0.remove["tags"] = ["x"] }))
    #expect(episode.losses(["tags": .elements([])]).isZero)
    #expect(
      episode.losses(["tags": .texts("x")]) == Losses(removesUndone: 1))
  }
}
