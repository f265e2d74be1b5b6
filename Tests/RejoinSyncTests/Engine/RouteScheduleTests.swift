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
      schedule.pass(.failed(error), hasProgressed: hasProgressed)
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
        #expect(!schedule.isDue(at: now, includingOthers: true))
      }
      schedule.resume()
      #expect(schedule.isDue(at: 100, includingOthers: true))
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
      #expect(!schedule.isDue(at: 101, includingOthers: true))
      #expect(schedule.isDue(at: .max, includingOthers: false))
    }
    // A time below zero asks for nothing.
    let schedule = failed(SyncRefusal.busy(seconds: -1))
    #expect(schedule.state == .waiting(until: 2_100, isAsked: false))
    #expect(schedule.isDue(at: 101, includingOthers: true))
    #expect(!schedule.isDue(at: 101, includingOthers: false))
  }

  @Test func partsShrinkAfterFailureAndGrowAfterSuccess() {
    var schedule = failed(Offline(), times: 9)
    #expect(schedule.bytesPerPart == 16 << 10)
    for size in [32, 64, 128, 256, 256] {
      schedule.pass(.succeeded(isUploaded: true))
      #expect(schedule.bytesPerPart == size << 10)
    }
  }

  @Test func refusedUploadWaitsForSaveOrApp() {
    var schedule = RouteSchedule()
    let ended = RouteSchedule.Outcome.succeeded(isUploaded: false)
    var uploads = [schedule.pass(ended, refusing: .denied)]
    #expect(schedule.uploadRefusal == .denied)
    // A pass without an upload does not change that, and plans nothing.
    uploads.append(schedule.pass(ended))
    #expect(schedule.uploadRefusal == .denied && schedule.state == .ready)
    // A save tries once more.
    schedule.save()
    uploads += [schedule.pass(ended, refusing: .denied), schedule.pass(ended)]
    schedule.save()
    uploads.append(schedule.pass(.succeeded(isUploaded: true)))
    #expect(schedule.uploadRefusal == nil)
    uploads.append(schedule.pass(ended, refusing: .denied))
    schedule.resume()
    uploads.append(schedule.pass(ended, refusing: .denied))
    #expect(uploads == [true, false, true, false, true, true, true])
  }

  @Test func saveDuringPassWithoutUploadTriesAgain() {
    var schedule = RouteSchedule()
    schedule.pass(.succeeded(isUploaded: false), refusing: .denied)
    let uploads = schedule.begin()
    schedule.save()
    schedule.end(
      .succeeded(isUploaded: false), uploading: uploads, refusing: nil,
      hasProgressed: false, at: 0
    ) { $0 }
    #expect(!uploads && schedule.uploadRefusal == .denied && schedule.uploads)
  }

  @Test func failedOrCanceledUploadTriesAgain() {
    for outcome in [RouteSchedule.Outcome.canceled, .failed(Offline())] {
      var schedule = RouteSchedule()
      schedule.pass(.succeeded(isUploaded: false), refusing: .denied)
      schedule.save()
      let uploads = schedule.pass(outcome)
      #expect(uploads && schedule.uploads)
    }
  }

  /// A user who learns that a record is too large makes it smaller during the upload.
  @Test func saveBeforeRefusalArrivesTriesAgain() {
    var schedule = RouteSchedule()
    let uploads = schedule.begin()
    schedule.save()
    schedule.end(
      .succeeded(isUploaded: false), uploading: uploads, refusing: .tooLarge,
      hasProgressed: false, at: 0
    ) { $0 }
    #expect(schedule.uploadRefusal == .tooLarge && schedule.uploads)
    schedule.pass(.succeeded(isUploaded: false), refusing: .tooLarge)
    #expect(!schedule.uploads)
  }

  @Test func resumeDuringCallCounts() {
    for outcome in [
      RouteSchedule.Outcome.failed(SyncRefusal.denied), .failed(Offline()),
      .succeeded(isUploaded: false),
    ] {
      var schedule = RouteSchedule()
      let uploads = schedule.begin()
      schedule.resume()
      schedule.end(
        outcome, uploading: uploads, refusing: nil, hasProgressed: false, at: 0
      ) { $0 }
      #expect(schedule.state == .ready)
      schedule.pass(.failed(SyncRefusal.denied))
      #expect(schedule.state == .needsDecision)
    }
  }

  @Test func stoppedRouteStaysStopped() {
    var schedule = RouteSchedule()
    let uploads = schedule.begin()
    schedule.stop()
    schedule.end(
      .succeeded(isUploaded: true), uploading: uploads, refusing: nil,
      hasProgressed: true, at: 0
    ) { $0 }
    schedule.resume()
    #expect(schedule.state == .stopped)
  }

  @Test func refusalBeforeErrorCounts() {
    for outcome in [RouteSchedule.Outcome.canceled, .failed(Offline())] {
      var schedule = RouteSchedule()
      schedule.pass(outcome, refusing: .denied)
      #expect(schedule.uploadRefusal == .denied && !schedule.uploads)
    }
  }

  @Test func incompleteUploadTriesAgainAfterWait() {
    var schedule = RouteSchedule()
    for end in [2_100, 4_100] as [Int64] {
      schedule.pass(.succeeded(isUploaded: false))
      #expect(schedule.state == .waiting(until: end, isAsked: false))
    }
    #expect(schedule.bytesPerPart == 256 << 10)
  }
}

extension RouteSchedule {
  /// Ends a call at the time 100, and returns whether it sent saves.
  @discardableResult
  fileprivate mutating func pass(
    _ outcome: Outcome, refusing refusal: SyncRefusal? = nil,
    hasProgressed: Bool = false
  ) -> Bool {
    let uploads = begin()
    end(
      outcome, uploading: uploads, refusing: uploads ? refusal : nil,
      hasProgressed: hasProgressed, at: 100
    ) {
      $0
    }
    return uploads
  }
}
