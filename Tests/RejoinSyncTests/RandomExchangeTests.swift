// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing

@testable import RejoinSync

/// Random histories of devices and a hub, in which messages and databases are lost.
@Suite class RandomExchangeTests: SyncSuite {
  /// `SYNCS` is the number of histories, 40 by default.
  private static let count =
    ProcessInfo.processInfo.environment["SYNCS"].flatMap { Int($0) } ?? 40

  @Test func randomHistoriesSync() async throws {
    var total = SyncCounts()
    for seed in 0..<Self.count {
      let history = try await SyncHistory(UInt64(seed), in: self)
      do { try await history.run() } catch {
        Issue.record("seed \(seed): \(error)")
      }
      total.add(history.counts)
    }
    print(total)
    if Self.count < 40 { return }
    #expect(total.lost > 100 && total.repeated > 100 && total.late > 50)
    #expect(total.crashes > 20 && total.restores > 10 && total.echoes > 10)
    #expect(
      total.hubRestores > 3 && total.refused > 5 && total.lostDevices > 10)
  }
}
