// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@testable import RejoinComparison

@Suite struct SpreadTests {
  /// Returns the result for one record of each repository.
  ///
  /// Saving whole records loses a change in some repositories.
  private func result(_ lossy: [Bool]) throws -> StrategyResult {
    let episodes = lossy.enumerated().map { index, isLossy in
      var episode = Episode(
        ["x": .text("old"), "y": .text("old")],
        ("a", { $0.set["x"] = "A" }),
        ("b", { $0.set[isLossy ? "y" : "x"] = "A" }))
      episode.id = "\(index)"
      episode.source = "owner/name\(index)@commit:path#record"
      return episode
    }
    return try #require(
      Comparison([RecordByServerTime()], triesBothOrders: true).run(episodes)
        .strategies.first)
  }

  /// One of five repositories is lossy.
  ///
  /// Its count among five draws is binomial: at most 3 in 99 % of the draws,
  /// and at most 2 in 94 %.
  @Test func intervalComesFromResamplingRepositories() throws {
    let result = try result([true, false, false, false, false])
    let spread = try #require(Spread(.lossyRecords, of: result))
    #expect(spread.low == 0 && spread.high == 0.6)
    #expect(spread.least == 0 && spread.greatest == 0.25)
    #expect(spread.mean == 0.2)
    #expect(spread.interval == "0–60%" && spread.range == "0–25%")
  }

  @Test func equalRepositoriesHaveNoSpread() throws {
    let result = try result([true, true, true, true, true])
    let spread = try #require(Spread(.lostChanges, of: result))
    #expect(spread.low == 0.5 && spread.high == 0.5 && spread.mean == 0.5)
    #expect(spread.least == 0.5 && spread.greatest == 0.5)
  }

  /// Both strategies have the same draws, so the difference of a strategy and
  /// itself is zero.
  @Test func differencesArePaired() throws {
    let result = try result([true, false, true, false, false, true])
    let spread = try #require(
      Spread(.lossyRecords, of: result, minus: result))
    #expect(spread.low == 0 && spread.high == 0)
    #expect(spread.signedInterval == "0.0 to 0.0")
  }

  @Test func fewRepositoriesHaveNoInterval() throws {
    #expect(
      Spread(.lossyRecords, of: try result([true, false, true, true])) == nil)
  }

  @Test func bothOrdersAreCounted() throws {
    let result = try result([true, false, false, false, false])
    #expect(result.reversed.episodes == 5 && result.reversed.lossy == 1)
    #expect(Spread(.asPeople, of: result) == nil)
  }
}
