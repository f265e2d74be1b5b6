// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import _RejoinVerification

/// Random days of devices that meet in a bucket or a drive.
@Suite struct ObjectTrialTests {
  private static let count =
    UInt64(ProcessInfo.processInfo.environment["DAYS"] ?? "")
    ?? (Tier.isNightly ? 10_000 : 400)

  @Test func randomDaysEndEqual() throws {
    var counts = ObjectTrialCounts()
    for seed in 0..<Self.count {
      do {
        var trial = try ObjectTrial(seed: seed)
        counts.add(try trial.run())
      } catch { Issue.record("seed \(seed): \(error)") }
    }
    print("\(Self.count) days of objects: \(counts)")
    #expect(Self.count < 300 || counts.all.allSatisfy { $0 > 30 }, "\(counts)")
  }
}
