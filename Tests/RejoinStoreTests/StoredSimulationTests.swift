// SPDX-License-Identifier: Apache-2.0

import Testing
import _RejoinVerification

/// Stores in place of replicas, whose databases fail.
@Suite struct StoredSimulationTests {
  @Test func everyStepIsAsTheOracleSays() {
    let result = Simulator.run(StoringReplica.self, seeds: 0..<100)
    #expect(result.failure == nil, "\(String(describing: result.failure))")
    print("stores: \(result)")
  }
}
