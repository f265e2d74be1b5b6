// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@testable import RejoinComparison

@Suite struct EpisodeTests {
  @Test func devicesArriveInOrderOfLastEdits() {
    var episode = Episode(
      [:], ("a", { $0.set["x"] = "1" }), ("b", { $0.set["x"] = "2" }),
      ("a", { $0.set["x"] = "3" }))
    #expect(episode.devices == ["b", "a"])
    episode.edits[2].at = 2
    #expect(episode.devices == ["a", "b"])
    episode.arrival = ["b", "a"]
    #expect(episode.devices == ["b", "a"])
  }

  @Test func editAppliesToRecord() {
    let kinds: [String: FieldKind] = ["n": .counter, "s": .set]
    var edit = Episode.Edit("a", at: 1)
    edit.increment = ["n": .max]
    edit.insert = ["s": ["y"]]
    edit.remove = ["s": ["x"]]
    edit.clear = ["x"]
    let record = edit.applied(
      to: ["n": .count(1), "s": .texts("x"), "x": .text("old")], of: kinds)
    #expect(record == ["n": .count(.max), "s": .texts("y")])
  }

  @Test func editWithoutEffectIsNotUploaded() {
    let episode = Episode(
      nil, ("a", { $0.isDeletion = true }), ("a", { _ in }),
      ("a", { $0.set["x"] = "A" }))
    #expect(episode.uploads.count == 1)
    #expect(episode.uploads.first?.isCreation == true)
  }

  @Test func recreationForgetsSeenFields() {
    let episode = Episode(
      ["x": .text("old")], ("a", { $0.set["y"] = "A" }),
      ("a", { $0.isDeletion = true }), ("a", { $0.set["y"] = "B" }))
    #expect(episode.uploads.last?.forgotten == ["x", "y"])
    #expect(
      episode.uploads.last?.changes == ["x": nil, "y": .text("B")])
  }
}
