// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@testable import RejoinComparison

@Suite(
  "claim 8: counters stored as results lose edits of other devices")
struct CountersAsResultsTests {
  /// Returns the counters of the devices at the end, under every strategy.
  private func ends(
    _ example: WorkedExample, _ field: String
  ) throws -> [String: Set<Int64>] {
    try Strategies.all.reduce(into: [:]) { ends, strategy in
      let states = try strategy.outcome(of: example.episode).states
      ends[strategy.name] = Set(
        states.compactMap {
          if case .count(let count)? = $0?[field] { count } else { nil }
        })
    }
  }

  private let exact: Set = Set(
    [
      "appendOnlyEntries", "automergeLike", "handler.threeWay",
      "timestampThenVectorClock",
    ]
      + Strategies.all.map(\.name).filter { $0.hasPrefix("rejoin") })

  @Test func storedResultsLoseSteps() throws {
    for (strategy, counts) in try ends(.steps, "steps") {
      if exact.contains(strategy) {
        #expect(counts == [7_000], "\(strategy)")
      } else {
        #expect(counts.isSubset(of: [5_800, 6_200]), "\(strategy)")
        #expect(!counts.isEmpty, "\(strategy)")
      }
    }
  }

  @Test func storedResultsLoseSale() throws {
    for (strategy, counts) in try ends(.stock, "stock") {
      #expect(counts == (exact.contains(strategy) ? [1] : [2]), "\(strategy)")
    }
  }
}

@Suite(
  "claim 13: in a record of 20 attributes, one edit loses 19 innocent ones")
struct InnocentAttributesTests {
  private static let attributes = (1...20).map { "attribute\($0)" }

  /// One device edits nineteen attributes, and later the other edits the
  /// twentieth.
  private let episode = Episode(
    Dictionary(
      uniqueKeysWithValues: attributes.map { ($0, .text("as it was")) }),
    (
      "here",
      { edit in
        for name in attributes.dropLast() { edit.set[name] = "mine" }
      }
    ),
    ("there", { $0.set["attribute20"] = "yours" }))

  private func losses(_ strategy: String) throws -> Losses {
    let outcome = try #require(Strategies.named(strategy)).outcome(of: episode)
    return Oracle(episode).verdict(on: outcome).losses
  }

  @Test func wholeRecordLosesNineteenAttributes() throws {
    #expect(
      try losses("recordByDeviceTime").counts == ["lost": 19, "excess": 19])
  }

  @Test(arguments: ["recordPerAttribute", "rejoin"])
  func separateAttributesLoseNothing(strategy: String) throws {
    #expect(try losses(strategy).isLossless)
  }
}
