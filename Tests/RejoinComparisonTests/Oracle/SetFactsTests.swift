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

  @Test func bothChangesStand() {
    #expect(episode.losses(["tags": .texts("y", "new")]).isEmpty)
  }

  @Test func lostInsertionIsCounted() {
    #expect(
      episode.losses(["tags": .texts("y")]) == ["lost": 1, "missing": 1])
  }

  @Test func undoneRemovalIsCounted() {
    #expect(
      episode.losses(["tags": .texts("x", "y", "new")])
        == ["lost": 1, "undone": 1])
  }

  /// A change is lost if one of its elements is, and counts once.
  @Test func changeWithOneMissingElementIsLostOnce() {
    let episode = Episode(
      ["tags": .texts("x", "y")], kinds: kinds,
      (
        "a",
        {
          $0.insert["tags"] = ["new", "newer"]
          $0.remove["tags"] = ["x"]
        }
      ))
    #expect(
      episode.losses(["tags": .texts("y", "new")])
        == ["lost": 1, "missing": 1])
    #expect(
      episode.losses(["tags": .texts("x", "y")])
        == ["lost": 1, "missing": 2, "undone": 1])
    // A listed copy must show all of it.
    #expect(
      episode.losses(
        ["tags": .texts("x", "y")],
        kept: ["tags": [.texts("y", "new", "newer")]])
        == ["kept": 1, "missing": 2, "undone": 1])
    #expect(
      episode.losses(
        ["tags": .texts("y", "new")], kept: ["tags": [.texts("y")]])
        == ["lost": 1, "missing": 1])
  }

  @Test func unremovedElementMustStay() {
    #expect(episode.losses(["tags": .texts("new")]) == ["base": 1])
    #expect(
      episode.losses(["tags": .texts("y", "new", "odd")]) == ["base": 1])
  }

  @Test func unseenInsertionWinsOverRemoval() {
    let episode = Episode(
      ["tags": .texts("x")], kinds: kinds,
      ("a", { $0.insert["tags"] = ["x"] }),
      ("b", { $0.remove["tags"] = ["x"] }))
    #expect(episode.losses(["tags": .texts("x")]).isEmpty)
    #expect(episode.losses([:]) == ["lost": 1, "missing": 1])
  }

  @Test func equalChangesAreShownOnce() {
    let episode = Episode(
      ["tags": .texts("x")], kinds: kinds,
      ("a", { $0.insert["tags"] = ["new"] }),
      ("b", { $0.insert["tags"] = ["new"] }))
    #expect(episode.losses(["tags": .texts("x", "new")]).isEmpty)
    #expect(
      episode.losses(["tags": .texts("x")]) == ["lost": 2, "missing": 1])
  }

  @Test func clearRemovesOnlySeenElements() {
    let episode = Episode(
      ["tags": .texts("x", "y")], kinds: kinds,
      ("a", { $0.clear = ["tags"] }),
      ("b", { $0.insert["tags"] = ["new"] }))
    #expect(episode.losses(["tags": .texts("new")]).isEmpty)
    #expect(episode.losses([:]) == ["lost": 1, "missing": 1])
    #expect(
      episode.losses(["tags": .texts("x", "y", "new")])
        == ["lost": 1, "undone": 2])
  }

  @Test func removalSeesOwnInsertion() {
    let episode = Episode(
      [:], kinds: kinds, ("a", { $0.insert["tags"] = ["x"] }),
      ("a", { $0.remove["tags"] = ["x"] }))
    #expect(episode.losses(["tags": .elements([])]).isEmpty)
    #expect(
      episode.losses(["tags": .texts("x")]) == ["lost": 1, "undone": 1])
  }
}
