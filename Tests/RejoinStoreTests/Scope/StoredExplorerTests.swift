// SPDX-License-Identifier: Apache-2.0

import Testing
import _RejoinVerification

/// Every interleaving of a few saves and messages between stores whose
/// databases fail.
@Suite struct StoredExplorerTests {
  private static let programs =
    Tier.isNightly
    ? [ExplorerProgram.creation(.updateWins), .deletion(.deleteWins), .sets]
    : [ExplorerProgram.creation(.updateWins)]

  @Test(arguments: programs)
  func everyConfigurationMatchesOracle(
    _ program: ExplorerProgram
  ) throws {
    var program = program
    // A copy of a store takes a thousand times as long as one of a replica.
    (program.times, program.splits) = ([0], false)
    program.keptMessages = Tier.isNightly ? 1 : 0
    if !Tier.isNightly {
      program.savers = program.saves.indices.map { [$0 % 3] }
    }
    var explorer = Explorer<StoringReplica>(program)
    let counts = try explorer.search()
    #expect(counts.configurations > 100)
    print("stores, \(program.name): \(counts)")
  }
}
