// SPDX-License-Identifier: Apache-2.0

import CloudKitObjects
import Foundation
import RejoinStore
import RejoinSync
import RejoinTesting
import Testing

@testable import CloudKit

/// Apps that are killed while they sync through a zone whose calls fail.
@Suite class FailingZoneTests: ZoneSuite {
  @Test(arguments: [1, 2] as [UInt64])
  func tenThousandRecordsEndEqual(_ seed: UInt64) async throws {
    server.set { state in
      state.pageLimit = 10
      state.faults.rate = 12
      state.faults.shortPages = 30
      state.faults.lostFiles = 10
      state.faults.failedRecords = 10
      state.faults.expiredTokens = 5
      state.faults.seed = seed
    }
    var random = SeededRandom(seed: seed)
    let names = ["phone", "tablet"]
    var devices = [
      try await device(at: names[0]), try await device(at: names[1]),
    ]
    var killed = 0
    for round in 0..<25 {
      for (i, name) in names.enumerated() {
        try await devices[i].store.save { transaction in
          for j in 0..<200 {
            transaction[ZoneNote.self, "\(name)-\(round)-\(j)"].title = "\(j)"
          }
        }
        let engine = devices[i].engine
        let pass = Task { await engine.sync() }
        if random.chance(percent: 50) {
          // The disk and the server keep the work of the engine.
          for _ in 0..<random.number(below: 200) { await Task.yield() }
          pass.cancel()
          devices[i] = try await device(at: name)
          killed += 1
        }
        _ = await pass.value
        clock.advance(by: 400_000)
      }
    }
    #expect(killed > 10)
    server.set { $0.faults = StandInServer.Faults() }
    for _ in 0..<3 {
      for device in devices {
        clock.advance(by: 400_000)
        try await device.sync()
      }
    }
    devices.append(try await device())
    try await devices[2].sync()
    for device in devices {
      let status = try await device.sync()
      #expect(status.isSynced && status.isUploaded && status.error == nil)
      #expect(await device.titles.count == 10_000)
      let clock = await device.store.version.vectorClock
      #expect(await devices[0].store.version.vectorClock == clock)
    }
    #expect(records.count <= 2 * 13 + 3)
  }
}
