// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing

@testable import Rejoin

/// A server that sends a wrong time once does not hide its later rows.
@Suite(.encodes) struct WrongServerTimeTests {
  private static let now: Int64 = 1_700_000_000_000
  private let clock = ManualClock(now)
  private let phone: Replica
  private let tablet: Replica

  init() {
    var last: UInt64 = 100
    func device(_ number: UInt64, _ clock: ManualClock) -> Replica {
      Replica.empty(number, wallClock: clock) {
        last += 1
        return DeviceID(last)
      }
    }
    phone = device(1, clock)
    tablet = device(2, clock)
  }

  @discardableResult
  private func pull(
    _ replica: Replica, _ name: String, at time: Int64
  ) throws -> MergeReport {
    try replica.importRows(from: "crm", modifiedAt: time) {
      $0[Sailor.self, "ada"].name = name
    }
  }

  @Test(arguments: [
    now * 1000, .max, now + 300_001,
  ])
  func timeBeyondSkewCountsAsNow(_ time: Int64) throws {
    let report = try pull(phone, "v1", at: time)
    #expect(report.correctedServerTime == time)
    #expect(report.hasFaults)
    #expect(phone.ada?.write(of: \.name)?.time.milliseconds == Self.now)
    tablet.merge(phone)
    clock.now += 1
    #expect(try pull(phone, "v2", at: clock.now).correctedServerTime == nil)
    #expect(phone.ada?.name == "v2")
    #expect(phone.ada?.conflictingValues(of: \.name) == [])
    clock.now += 1
    tablet.merge(phone)
    try pull(tablet, "v3", at: clock.now)
    #expect(tablet.ada?.name == "v3")
  }

  @Test(arguments: [Int64.min, -1, 0, now, now + 300_000])
  func importKeepsTimeWithinSkew(_ time: Int64) throws {
    let report = try pull(phone, "v1", at: time)
    #expect(report.correctedServerTime == nil && !report.hasFaults)
    #expect(
      phone.ada?.write(of: \.name)?.time == Timestamp(milliseconds: time))
  }

  /// A correction is reported even if no row changed.
  @Test func unchangedRowReportsCorrection() throws {
    try pull(phone, "v1", at: .max)
    let report = try pull(phone, "v1", at: .max)
    #expect(report.correctedServerTime == .max)
    #expect(report.changedRecords == [])
  }

  /// All times of the server are later than a clock that stands still.
  @Test(arguments: [0, now, -5_000_000, .min])
  func rowsArriveAtClockThatStandsStill(_ now: Int64) throws {
    clock.now = now
    for day in 1...3 as ClosedRange<Int64> {
      try pull(phone, "v\(day)", at: Self.now * 2 + day)
      #expect(phone.ada?.name == "v\(day)")
    }
    #expect(phone.ada?.conflictingValues(of: \.name) == [])
  }

  /// A device whose clock was ahead stored a time that no right clock reaches.
  @Test func importIgnoresRememberedTimeBeyondSkew() throws {
    clock.now = Self.now * 1000
    try pull(phone, "v1", at: clock.now)
    clock.now = Self.now
    tablet.merge(phone)
    try pull(tablet, "v2", at: Self.now)
    #expect(tablet.ada?.name == "v2")
    #expect(tablet.ada?.conflictingValues(of: \.name) == [])
    phone.merge(tablet)
    #expect(phone.ada?.name == "v2")
  }

  @Test func importRefusesLongServerName() throws {
    let server = String(repeating: "s", count: 1100)
    #expect(throws: SaveError.serverNameTooLong(server)) {
      try phone.importRows(from: server, modifiedAt: 5) {
        $0[Sailor.self, "1"].name = "a"
      }
    }
    #expect(
      SaveError.serverNameTooLong(server).description.contains(
        "the name of the server has 1100 bytes"))
  }
}
