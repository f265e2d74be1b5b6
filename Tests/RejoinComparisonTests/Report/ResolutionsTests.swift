// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@testable import RejoinComparison

@Suite struct ResolutionsTests {
  private func resolved(
    _ episode: Episode, _ resolution: Episode.Resolution
  ) -> Episode {
    var episode = episode
    episode.resolution = resolution
    return episode
  }

  @Test func keptDeletionsAreCounted() {
    let episode = WorkedExample.deletion.episode
    let resolutions = Resolutions([
      resolved(episode, .deleted), resolved(episode, .deleted),
      resolved(episode, .record(["note": .text("new")])), episode,
    ])
    #expect(resolutions.deletions == 3 && resolutions.deletionsKept == 2)
    #expect(
      resolutions.sentences == [
        "If one side deleted a record that the other edited, people kept the "
          + "deletion in 2 of 3 (66.7%)."
      ])
    #expect(Resolutions.warning([episode]) == nil)
  }

  /// The later value is that of the later edit of the field.
  @Test func contestedRegistersAreCounted() {
    let episode = Episode(
      ["x": .text("old")], ("a", { $0.set["x"] = "A" }),
      ("b", { $0.set["x"] = "B" }), ("a", { $0.set["y"] = "last" }))
    let resolutions = Resolutions(
      ["A", "B", "B", "C"].map {
        resolved(episode, .record(["x": .text($0)]))
      }
        // Equal values and deleted records are not contested.
        + [
          resolved(
            Episode(
              ["x": .text("old")], ("a", { $0.set["x"] = "A" }),
              ("b", { $0.set["x"] = "A" })), .record([:])),
          resolved(episode, .deleted),
        ])
    #expect(resolutions.registers == 4)
    #expect(resolutions.later == 2 && resolutions.earlier == 1)
  }

  /// Both devices took 3 from 5 once.
  ///
  /// Users kept 2, but the sum is -1.
  @Test func reportWarnsOfDerivedNumbers() throws {
    let same = Episode(
      ["n": .count(5)], kinds: ["n": .counter],
      ("a", { $0.increment["n"] = -3 }), ("b", { $0.increment["n"] = -3 }))
    let other = Episode(
      ["n": .count(5)], kinds: ["n": .counter],
      ("a", { $0.increment["n"] = 1 }), ("b", { $0.increment["n"] = 2 }),
      ("c", { $0.set["x"] = "C" }))
    let resolutions = Resolutions([
      resolved(same, .record(["n": .count(2)])),
      resolved(other, .record(["n": .count(8)])),
    ])
    #expect(resolutions.counters == 2 && resolutions.sameAmount == 1)
    #expect(resolutions.sumKept == 1 && resolutions.negativeSums == 1)
    let warning = try #require(
      Resolutions.warning(
        [same, other].map { episode in
          var episode = resolved(episode, .record(["n": .count(8)]))
          episode.group = "t"
          return episode
        } + [other]))
    #expect(warning.contains("Left out of the totals: 2 records of group `t`."))
    #expect(warning.contains("people kept in 1 of 2 (50.0%)"))
  }
}
