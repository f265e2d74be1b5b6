// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@testable import RejoinComparison

@Suite struct SuggestionReportTests {
  private func episode(
    _ repository: String, _ mine: String, _ theirs: String, _ wanted: String
  ) -> Episode {
    var episode = Episode(
      ["x": .text("a b c"), "n": .count(1)], kinds: ["n": .counter],
      (
        "p",
        {
          $0.set["x"] = .string(mine)
          $0.increment["n"] = 1
        }
      ),
      (
        "q",
        {
          $0.set["x"] = .string(theirs)
          $0.increment["n"] = 1
        }
      ))
    episode.source = "\(repository)@c:f#r"
    episode.resolution = .record(["x": .text(wanted)])
    return episode
  }

  /// Registers that differ are counted, and the spread is that of the rest.
  @Test func sharesAreOfWhatPeopleChose() {
    let text = SuggestionReport([
      episode("one", "z b c", "x y c", "x y c"),
      episode("one", "z b c", "a b d", "z b d"),
      episode("two", "x y c", "z b c", "z b c"),
      episode("two", "same", "same", "same"),
    ]).text(.json)
    #expect(text.hasPrefix("{\"contested\":3,"))
    #expect(
      text.contains(
        "else the farther from the base\",\"asPeople\":2,"
          + "\"share\":\(2.0 / 3),\"least\":0.0,\"greatest\":1.0}"))
    #expect(
      text.contains(
        "where they do not touch\",\"asPeople\":1,\"share\":\(1.0 / 3),"))
    #expect(text.contains("\"the later\",\"asPeople\":2,"))
    #expect(text.contains("\"the earlier\",\"asPeople\":0,"))
  }
}
