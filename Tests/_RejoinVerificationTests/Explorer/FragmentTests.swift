// SPDX-License-Identifier: Apache-2.0

import Testing
import _RejoinVerification

/// Replicas that send as many fragments as possible.
@Suite struct FragmentTests {
  @Test func everyConfigurationMatchesOracle() async throws {
    let programs =
      Tier.isNightly
      ? ExplorerProgram.nightlyFragments : ExplorerProgram.quickFragments
    var counts = ExplorerCounts()
    for program in programs {
      var explorer = Explorer<FragmentingReplica>(program)
      counts += try explorer.search()
    }
    print("fragments: \(counts)")
    #expect(counts.isComplete)
    #expect(counts.fragments > 0 && counts.refused > 0 && counts.waits > 0)
  }

  /// Former failures of the nightly tests.
  ///
  /// A fork delays the intervals of other devices, a part of another history
  /// cancels more than is folded, a purge has a refused part, and a backup has
  /// an abandoned history.
  @Test(arguments: [385, 2060, 2233, 24065] as [UInt64])
  func nightlyFailuresPassNow(_ seed: UInt64) throws {
    let script = Simulation(seed: seed, scale: .long).script
    let counts = try World<FragmentingReplica>.run(script)
    #expect(counts.fragments > 0)
  }

  @Test func simulationsEndAsWithoutFragments() throws {
    var counts = WorldCounts()
    for seed in 0..<(Tier.isNightly ? 1000 : 100) as Range<UInt64> {
      let script = Simulation(seed: seed, scale: .quick).script
      let with = try World<FragmentingReplica>.ran(script)
      let without = try World<ReplicaUnderTest>.ran(script)
      counts += with.counts
      guard with.counts.refusedFragments == 0 else { continue }
      #expect(with.contents == without.contents, "seed \(seed)")
    }
    print("fragments:", counts)
    #expect(counts.fragments > 0 && counts.refusedFragments > 0)
  }
}
