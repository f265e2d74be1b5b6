// SPDX-License-Identifier: Apache-2.0

import Rejoin
import _RejoinVerification
import Testing

/// Random scripts must find each mistake of a replica, and no mistake in a
/// sound replica.
///
/// They need at most four scripts, and usually one.
@Suite struct HazardTests {
  @Test(arguments: 0..<4)
  func soundReplicaPasses(block: UInt64) {
    let count: UInt64 = Tier.isNightly ? 1000 : 25
    for seed in (block * count)..<(block * count + count) {
      if let mismatch = mismatch(seed) {
        Issue.record("seed \(seed): \(mismatch)")
        return
      }
    }
  }

  @Test(arguments: Hazard.allCases)
  func hazardIsFound(hazard: Hazard) {
    Hazard.$current.withValue(hazard) {
      for seed in 0..<100 as Range<UInt64> {
        if mismatch(seed) != nil { return }
      }
      Issue.record("\(hazard) passes a hundred scripts")
    }
  }

  /// Returns the first mismatch of a random script.
  private func mismatch(_ seed: UInt64) -> ScriptMismatch? {
    var weights = ScriptWeights()
    // The toy replica never takes a new device ID, and trusts every backup. It
    // has neither rows nor a roster nor parts.
    (weights.retirements, weights.unnoticedRestores) = (0, 0)
    (weights.imports, weights.pulls, weights.tokens) = (0, 0, 0)
    weights.transfers = 0
    let script = ScriptGenerator.script(
      seed: seed, steps: 80, weights: weights, universe: .toy)
    do throws(ScriptMismatch) {
      try World<ToyReplica>.run(script, universe: .toy)
      return nil
    } catch { return error }
  }
}
