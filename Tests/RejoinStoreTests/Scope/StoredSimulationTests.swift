// SPDX-License-Identifier: Apache-2.0

import Testing
import _RejoinVerification

/// Simulations with stores whose databases fail.
///
/// `REJOIN_TIER=nightly swift test --filter StoredSimulationTests` runs 1,000 seeds.
@Suite struct StoredSimulationTests {
  private static let seeds: UInt64 =
    Tier.isNightly ? 1000 : 25

  @Test func everyStepMatchesOracle() {
    let result = Simulator.run(StoringReplica.self, seeds: 0..<Self.seeds)
    #expect(result.failure == nil, "\(String(describing: result.failure))")
    print("stores: \(result)")
  }
}
