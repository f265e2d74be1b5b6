// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Rejoin
@testable import RejoinStore
@testable import RejoinSync

@Suite struct RouteScheduleTests {
  private struct Offline: Error {}

  private func failed(
    _ error: any Error, times: Int = 1, hasProgressed: Bool = false
  ) -> RouteSchedule {
    var schedule = RouteSchedule()
    for _ in 0..<times {
      schedule.fail(error, hasProgressed: hasProgressed, at: 100) { $0 }
    }
    return schedule
  }

  @Test func errorsThatNeedDecision() {
    let newer = WireError(code: .newerVersion, offset: 2, expected: "")
    let errors: [any Error] = [
      SyncRefusal.denied, SyncRefusal.gone, SyncRefusal.wrongScope,
      SyncRefusal.tooLarge, SyncRefusal.full, SyncRefusal.unsupportedFormat,
      newer,
    ]
    for error in errors {
      var schedule = failed(error)
      #expect(schedule.state == .needsDecision, "\(error)")
      for now in [100, .max] as [Int64] {
        #expect(!schedule.isDue(at: now, includingRetries: true))
      }
      schedule.resume()
      #expect(schedule.isDue(at: 100, includingRetries: false))
    }
  }

  @Test func errorsThatEnd() {
    for error in [StoreError.superseded, .closed] {
      #expect(failed(error).state == .stopped)
    }
  }

  @Test func waitsGrowUpToFiveMinutes() {
    let seconds: [Int64] = [2, 4, 8, 16, 32, 64, 128, 256, 300, 300]
    for (i, expected) in seconds.enumerated() {
      let schedule = failed(Offline(), times: i + 1)
      #expect(
        schedule.state
          == .waiting(until: 100 + 1_000 * expected, isAsked: false))
    }
    // A call that moved something is the first failure of a row.
    let schedule = failed(Offline(), times: 9, hasProgressed: true)
    #expect(schedule.state == .waiting(until: 2_100, isAsked: false))
  }

  @Test func peerAsksForAtMostOneDay() {
    for (asked, expected) in [(5, 5), (60, 60), (.max, 86_400)] {
      let schedule = failed(SyncRefusal.busy(seconds: asked))
      #expect(
        schedule.state
          == .waiting(until: 100 + 1_000 * Int64(expected), isAsked: true))
      // Neither a save nor the app shortens it.
      #expect(!schedule.isDue(at: 101, includingRetries: true))
      #expect(schedule.isDue(at: .max, includingRetries: false))
    }
    // A time below zero asks for nothing.
    let schedule = failed(SyncRefusal.busy(seconds: -1))
    #expect(schedule.state == .waiting(until: 2_100, isAsked: false))
    #expect(schedule.isDue(at: 101, includingRetries: true))
    #expect(!schedule.isDue(at: 101, includingRetries: false))
  }

  @Test func partsShrinkAfterFailureAndGrowAfterSuccess() {
    var schedule = failed(Offline(), times: 9)
    #expect(schedule.bytesPerPart == 16 << 10)
    for size in [32, 64, 128, 256, 256] {
      schedule.succeed(refusing: nil)
      #expect(schedule.bytesPerPart == size << 10)
    }
  }

  @Test func refusedUploadWaitsForSaveOrApp() {
    var schedule = RouteSchedule()
    schedule.succeed(refusing: .denied)
    #expect(schedule.uploadRefusal == .denied && !schedule.uploads)
    // A pass without an upload does not change that.
    schedule.succeed(refusing: nil)
    #expect(schedule.uploadRefusal == .denied && !schedule.uploads)
    schedule.save()
    #expect(schedule.uploads)
    schedule.succeed(refusing: .denied)
    #expect(!schedule.uploads)
    schedule.save()
    schedule.succeed(refusing: nil)
    #expect(schedule.uploadRefusal == nil && schedule.uploads)
    schedule.succeed(refusing: .full)
    schedule.resume()
    #expect(schedule.uploads)
  }
}
