// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import _RejoinVerification

/// Random histories of devices that meet in a zone, a folder and a hub.
@Suite struct PlaceTrialTests {
  private static let count =
    UInt64(ProcessInfo.processInfo.environment["PLACES"] ?? "")
    ?? (Tier.isNightly ? 10_000 : 150)

  @Test func randomHistoriesEndEqual() async throws {
    var counts = PlaceTrial.Counts()
    for seed in 0..<Self.count {
      do {
        counts.add(try await PlaceTrial(seed: seed).run())
      } catch { Issue.record("seed \(seed): \(error)") }
    }
    print("\(Self.count) histories of places: \(counts.text)")
    let isLong = Self.count >= 300
    #expect(!isLong || counts.all.allSatisfy { $0 > 10 }, "\(counts.text)")
  }
}
