// SPDX-License-Identifier: Apache-2.0

import _RejoinVerification
import Testing

@Suite struct RandomScriptTests {
  @Test(arguments: 0..<30)
  func replicasShowWhatHasBeenHeardOf(block: UInt64) {
    for seed in (block * 5)..<(block * 5 + 5) {
      let script = ScriptGenerator.script(seed: seed, steps: 80)
      do { try World<ReplicaUnderTest>.run(script) } catch {
        Issue.record("seed \(seed): \(error)")
      }
    }
  }
}
