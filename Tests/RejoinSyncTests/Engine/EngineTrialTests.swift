// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import _RejoinVerification

/// Random hours of engines, with every fault of their lines.
@Suite struct EngineTrialTests {
  @Test func randomHours() async throws {
    var counts = EngineTrialCounts()
    for seed
      in 0..<(UInt64(ProcessInfo.processInfo.environment["TRIALS"] ?? "")
      ?? 1_000) as Range<UInt64>
    {
      do {
        counts.add(try await EngineTrial(seed: seed).run())
      } catch { Issue.record("seed \(seed): \(error)") }
    }
    // Each kind of event happened.
    #expect(counts.all.allSatisfy { $0 > 100 }, "\(counts)")
  }
}
