// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

@Suite struct HybridClockTests {
  private func at(_ milliseconds: Int64) -> Timestamp {
    Timestamp(milliseconds: milliseconds)
  }

  /// Returns a clock whose latest timestamp is the greatest one.
  private func exhausted() throws -> HybridClock {
    var clock = HybridClock(latest: at(.max))
    for _ in 0..<0xffff { try clock.tick(now: .max) }
    try #require(clock.latest == .max)
    return clock
  }

  @Test(
    arguments: [
      [1000, 1000, 1000], [1000, 900, 1], [0, 0, 0], [-5, -9, .min],
      [.max, .min, .max, 0],
    ] as [[Int64]])
  func timestampsRiseForAnyWallClock(_ walls: [Int64]) throws {
    var clock = HybridClock()
    var last = clock.latest
    for now in walls {
      let stamp = try clock.tick(now: now)
      #expect(stamp > last)
      #expect(stamp >= at(now))
      #expect(clock.latest == stamp)
      last = stamp
    }
  }

  @Test func tickFollowsWallClock() throws {
    var clock = HybridClock()
    #expect(try clock.tick(now: 1000) == at(1000))
    #expect(try clock.tick(now: 900) == at(1000).next)
    #expect(try clock.tick(now: 1001) == at(1001))
  }

  @Test func manyTicksRiseWithinOneMillisecond() throws {
    var clock = HybridClock()
    var (last, falls) = (clock.latest, 0)
    for _ in 0..<100_000 {
      let stamp = try clock.tick(now: 1000)
      if stamp <= last { falls += 1 }
      last = stamp
    }
    #expect(falls == 0)
    #expect(last == Timestamp(rawValue: 1000 << 16 + 99_999))
  }

  @Test func receivingAdvancesClockUpToMaximumSkew() {
    var clock = HybridClock(
      latest: at(1000), now: 1000, maximumClockSkew: .milliseconds(50))
    clock.receive(at(1020), now: 1000)
    #expect(clock.latest == at(1020))
    clock.receive(at(999), now: 1000)
    #expect(clock.latest == at(1020))
    clock.receive(.max, now: 1000)
    #expect(clock.latest == at(1050))
    clock.receive(.max, now: 900)
    #expect(clock.latest == at(1050))
  }

  @Test func defaultSkewIsFiveMinutes() {
    var clock = HybridClock(now: 0)
    clock.receive(.max, now: 0)
    #expect(clock.latest == at(300_000))
    var behind = HybridClock(now: 0)
    behind.receive(.max, now: -1_000_000)
    #expect(behind.latest == .zero)
  }

  @Test func negativeSkewBecomesZero() {
    var clock = HybridClock(now: 1000, maximumClockSkew: .milliseconds(-5))
    #expect(clock.maximumClockSkew == .zero)
    let least = Duration.seconds(Int64.min / 1000) - .milliseconds(999)
    clock = HybridClock(now: 1000, maximumClockSkew: least)
    #expect(clock.maximumClockSkew == .zero)
    clock.receive(.max, now: 1000)
    #expect(clock.latest == at(1000))
  }

  @Test func tickAfterReceivingIsLater() throws {
    var clock = HybridClock(now: 1000)
    clock.receive(at(1200), now: 1000)
    #expect(try clock.tick(now: 1000) == at(1200).next)
  }

  @Test func tickInReceivedMillisecondIsLater() throws {
    let stamp = Timestamp(rawValue: at(1000).rawValue + 7)
    var clock = HybridClock(now: 1000)
    clock.receive(stamp, now: 1000)
    #expect(try clock.tick(now: 1000) == stamp.next)
  }

  @Test func openingLowersClockBeyondMaximumSkew() {
    let ahead = at(10_000)
    #expect(
      HybridClock(
        latest: ahead, now: 9000, maximumClockSkew: .milliseconds(999)
      ).latest == at(9000))
    #expect(
      HybridClock(
        latest: ahead, now: 9000, maximumClockSkew: .milliseconds(1000)
      ).latest == ahead)
    #expect(
      HybridClock(
        latest: ahead, now: 20_000, maximumClockSkew: .milliseconds(0)
      ).latest == ahead)
    #expect(
      HybridClock(latest: ahead, now: -1, maximumClockSkew: .milliseconds(0))
        .latest == .zero)
    #expect(HybridClock(latest: ahead).latest == ahead)
  }

  @Test func extremeTimesDoNotTrap() throws {
    for now in [Int64.min, -1, 0, .max] {
      var clock = HybridClock(
        latest: .max, now: now, maximumClockSkew: .milliseconds(Int64.max))
      clock.receive(.max, now: now)
      clock.receive(.zero, now: now)
      try clock.tick(now: now)
    }
  }

  @Test func exhaustedClockThrowsWithoutChange() throws {
    var clock = try exhausted()
    let before = clock
    #expect(throws: HybridClock.Exhausted()) { try clock.tick(now: 0) }
    #expect(throws: HybridClock.Exhausted()) { try clock.tick(now: .max) }
    #expect(clock == before)
    clock.receive(.zero, now: 0)
    #expect(clock == before)
    #expect("\(HybridClock.Exhausted())".contains("Correct the device's wall"))
  }

  @Test func openingWithoutWallClockKeepsLatest() {
    for latest in [.max, Timestamp(rawValue: .max - 3), .zero] {
      #expect(HybridClock(latest: latest).latest == latest)
    }
  }

  @Test func openingRepairsExhaustedClock() throws {
    var clock = HybridClock(latest: try exhausted().latest, now: 1000)
    #expect(try clock.tick(now: 1000) == at(1000).next)
  }
}
