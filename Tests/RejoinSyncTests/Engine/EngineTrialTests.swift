// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import _RejoinVerification

/// Random hours of engines, with every fault of their lines.
@Suite struct EngineTrialTests {
  /// The number of hours.
  ///
  /// The gate sets `TRIALS` and runs this suite alone, because its engines need the
  /// processor to make progress.
  private static let count =
    UInt64(ProcessInfo.processInfo.environment["TRIALS"] ?? "")
    ?? (Tier.isNightly ? 10_000 : 0)

  @Test(.enabled(if: count > 0)) func randomHours() async throws {
    var counts = EngineTrialCounts()
    for seed in 0..<Self.count {
      do {
        counts.add(try await EngineTrial(seed: seed).run())
      } catch { Issue.record("seed \(seed): \(error)") }
    }
    print("\(Self.count) hours of engines: \(counts)")
    // Each kind of event happened.
    let isLong = Self.count >= 300
    #expect(!isLong || counts.all.allSatisfy { $0 > 30 }, "\(counts)")
  }
}
