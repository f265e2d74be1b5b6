// SPDX-License-Identifier: Apache-2.0

import Testing
import _RejoinVerification

/// Eight hours of 50 devices on one hub, or a day in a nightly run.
@Suite struct EngineDayTests {
  @Test func dayOfManyDevicesNeedsConstantMemory() async {
    // A process of its own, whose memory no other test changes.
    await #expect(processExitsWith: .success) {
      let hours = Tier.isNightly ? 24 : 8
      let day = try await EngineDay(devices: 50)
      try await day.passHour()
      #if os(Linux)
        let first = try PeakMemory.current()
      #endif
      for _ in 1..<hours { try await day.passHour() }
      #if os(Linux)
        let last = try PeakMemory.current()
        precondition(last * 10 <= first * 11, "\(last) bytes after \(first)")
      #endif
      precondition(day.mostBeyondParts <= 2, "\(day.mostBeyondParts) requests")
      let isSynced = await day.isSyncedAtEnd()
      precondition(
        isSynced && day.requests > 150 * hours, "\(day.requests) requests")
    }
  }
}
