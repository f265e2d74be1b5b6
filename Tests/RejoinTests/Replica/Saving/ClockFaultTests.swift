// SPDX-License-Identifier: Apache-2.0

import RejoinTesting

@testable import Rejoin
import Testing

@Suite(.encodes) struct ClockFaultTests {
  private static let hour: Int64 = 3_600_000

  @Test(arguments: [365, 50 * 365] as [Int64])
  func clockFarAheadMovesOthersByMaximumSkew(days: Int64) throws {
    let here = ManualClock(Self.hour)
    let wrong = ManualClock(Self.hour + days * 24 * Self.hour)
    let (a, b, c) = (
      Replica.empty(1, wallClock: here), Replica.empty(2, wallClock: wrong),
      Replica.empty(3, wallClock: here)
    )
    try b.edit { ($0.name, $0.rank) = ("ahead", "ahead") }
    #expect(!b.tell(a).hasFaults)
    let bound = Timestamp(milliseconds: Self.hour + 5 * 60_000)
    #expect(a.state.hybrid.latest == bound)
    try a.edit { ($0.name, $0.rank) = ("mine", "mine") }
    settle(a, b, c)
    for replica in [a, b, c] {
      #expect(replica.ada?.name == "mine")
      #expect(replica.ada?.rank == "mine")
    }
    #expect(a.state.hybrid.latest <= bound.next ?? .max)
  }

  @Test func repeatedDeltaDoesNotMoveClock() throws {
    let here = ManualClock(Self.hour)
    let wrong = ManualClock(Self.hour * 1000)
    let a = Replica.empty(1, wallClock: here)
    let b = Replica.empty(2, wallClock: wrong)
    try b.edit { $0.name = "ahead" }
    let delta = try #require(b.delta())
    a.apply(delta)
    let latest = a.state.hybrid.latest
    here.now += 1000
    a.apply(delta)
    #expect(a.state.hybrid.latest == latest)
  }

  @Test func partWithoutIntervalDoesNotMoveClock() throws {
    let (a, b) = (Replica.empty(1), Replica.empty(2))
    try b.edit { $0.name = "b" }
    let part = try #require(b.delta()?.split(into: 1).first)
    a.apply(part)
    #expect(a.state.hybrid.latest == .zero)
    #expect(a.ada?.name == "b")
  }

  @Test(arguments: [0, -1, .min, 1_000_000] as [Int64])
  func laterOwnWriteWinsOnWrongClock(now: Int64) throws {
    let clock = ManualClock()
    let (a, b) = (Replica.empty(1, wallClock: clock), Replica.empty(2))
    try a.edit { ($0.name, $0.rank) = ("early", "early") }
    a.tell(b)
    clock.now = now
    try a.edit { ($0.name, $0.rank) = ("late", "late") }
    a.tell(b)
    #expect(b.ada?.name == "late")
    #expect(b.ada?.rank == "late")
    #expect(b.ada?.conflictingValues(of: \.name) == [])
  }

  /// The saves write different fields.
  @Test func timesOfSavesRise() throws {
    let a = Replica.empty(1)
    try a.edit { $0.name = "first" }
    let first = a.version[a.device].time
    try a.edit { $0.miles.increment() }
    #expect(a.version[a.device].time > first)
  }

  @Test func ticksWithinMillisecondRise() throws {
    var clock = HybridClock()
    var last = Timestamp.zero
    for _ in 0..<100_000 {
      let next = try clock.tick(now: 1000)
      guard last < next else {
        Issue.record("\(next) does not follow \(last)")
        return
      }
      last = next
    }
  }

  @Test func reopenedReplicaFollowsCorrectedClock() throws {
    let clock = ManualClock(1000 * Self.hour)
    let a = Replica.empty(1, wallClock: clock)
    try a.edit { $0.name = "ahead" }
    clock.now = Self.hour
    let opened = Replica(
      opening: a.state, token: a.restoreToken, schema: a.schema,
      wallClock: clock.wallClock,
      makeDeviceID: { DeviceID(9) })
    let dot = try opened.edit { $0.name = "mended" }.dot
    #expect(dot == Dot(DeviceID(1), 2))
    #expect(opened.version[DeviceID(1)].time.milliseconds == Self.hour)
    #expect(opened.ada?.name == "mended")
    let b = Replica.empty(2)
    a.tell(b)
    opened.tell(b)
    #expect(b.ada?.name == "mended")
  }
}
