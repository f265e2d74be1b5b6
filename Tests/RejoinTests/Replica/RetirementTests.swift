//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

@testable import Rejoin
import Testing

@Suite struct RetirementTests {
  private let a = Replica.empty(1)
  private let b = Replica.empty(2)
  private let lost = Replica.empty(3)

  /// Retires `lost`, whose first save `a` holds and whose first two `b` holds.
  private func retire() throws {
    try b.edit { $0.name = "b" }
    try lost.edit { $0.miles.increment(by: 1) }
    lost.tell(a)
    try lost.edit { $0.miles.increment(by: 2) }
    lost.tell(b)
    b.tell(a)
  }

  private func retireUnheard() throws {
    try lost.edit { $0.miles.increment(by: 1) }
    lost.tell(a)
    try a.retire(lost.device)
  }

  @Test func aReplayUpToTheLastSaveDoesNothing() throws {
    try retire()
    try a.retire(lost.device)
    let delta = try #require(lost.delta())
    let state = a.delta()
    let report = a.apply(delta)
    #expect(report.isClean && report.records.isEmpty)
    #expect(a.delta() == state)
    #expect(a.retirements == [lost.device: 2])
    #expect(a.keptAside.isEmpty)
  }

  @Test func aLaterSaveIsKeptAsideWhole() throws {
    try retireUnheard()
    try lost.edit {
      $0.miles.increment(by: 2)
      $0.name = "late"
    }
    let (clock, state) = (a.clock, a.delta())
    let delta = try #require(lost.delta())
    let report = a.apply(delta)
    #expect(report.retired == lost.device)
    #expect(report.keptAside == delta)
    #expect(!report.isClean)
    #expect(a.apply(delta).keptAside == delta)
    #expect(a.keptAside == [delta])
    #expect(a.clock == clock)
    #expect(a.delta() == state)
  }

  @Test func aPartWithLaterSavesIsKeptAsideToo() throws {
    try retireUnheard()
    try lost.edit { $0.name = "late" }
    let part = try #require(lost.delta()).split(into: 1)[0]
    #expect(a.apply(part).retired == lost.device)
    #expect(a.ada?.name == nil)
  }

  @Test func whoHoldsALateFieldIsStillHeard() throws {
    try lost.edit { $0.miles.increment(by: 1) }
    lost.tell(a)
    try lost.edit { $0.name = "late" }
    b.apply(try #require(lost.delta()).split(into: 1)[0])
    try a.retire(lost.device)
    a.tell(b)
    try b.edit { $0.rank = "b" }
    #expect(b.tell(a).isClean)
    #expect(a.ada?.name == "late")
    #expect(areEqual(a, b))
  }

  @Test func aRenewedDeviceEntersTheSavesUnderItsOldName() throws {
    let old = Replica.empty(4) { DeviceID(14) }
    try old.edit { $0.name = "old" }
    try a.retire(old.device)
    a.tell(old)
    old.acknowledge(ReplicaClock([DeviceID(4): 2]), by: b.device)
    try old.edit { $0.name = "new" }
    #expect(old.device == DeviceID(14))
    #expect(old.tell(a).isClean)
    #expect(a.ada?.name == "new")
  }

  @Test func whatWasKeptAsideIsEnteredAgain() throws {
    try lost.edit {
      $0.tags.insert("old")
      $0.tags.insert("gone")
      $0.miles.increment(by: 1)
      $0.pay.append(1)
    }
    lost.tell(a)
    try a.retire(lost.device)
    try lost.edit {
      ($0.name, $0.rank) = ("late", "mate")
      $0.miles.increment(by: 5)
      $0.miles.decrement(by: 2)
      $0.tags.insert("new")
      $0.tags.remove("gone")
      $0.roles.insert("cook")
      $0.pay.append(7, memo: .string("late"))
    }
    let delta = try #require(lost.delta())
    a.apply(delta)
    let dot = try a.readmit(delta).dot
    #expect(dot == Dot(a.device, 2))
    #expect(a.ada?.name == "late")
    #expect(a.ada?.rank == "mate")
    #expect(a.ada?.miles == 4)
    #expect(a.ada?.tags == ["new", "old"])
    #expect(a.ada?.roles == ["cook"])
    #expect(a.ada?.pay == 8)
    #expect(a.clock[lost.device].n == 1)
    #expect(a.keptAside.isEmpty)
    a.tell(b)
    #expect(areEqual(a, b))
  }

  @Test func aDeletionThatWasKeptAsideIsEnteredAgain() throws {
    try retireUnheard()
    try lost.save { $0[Sailor.self, "ada"].delete() }
    let delta = try #require(lost.delta())
    a.apply(delta)
    #expect(a.ada != nil)
    try a.readmit(delta)
    #expect(a.ada == nil)
  }

  @Test func theLastSaveIsRaisedByWhatOthersOnTheRosterHold() throws {
    try b.edit { $0.name = "b" }
    try retireUnheard()
    try lost.edit { $0.miles.increment(by: 2) }
    lost.tell(b)
    a.tell(b)
    try b.edit { $0.name = "b again" }
    let report = b.tell(a)
    #expect(report.isClean)
    #expect(a.retirements == [lost.device: 2])
    #expect(a.ada?.miles == 3)
    #expect(a.clock[lost.device].n == 2)
    settle(a, b)
    #expect(areEqual(a, b))
  }

  @Test func anAcknowledgedClockBringsBackWhatWasKeptAside() throws {
    try b.edit { $0.name = "b" }
    try retireUnheard()
    try lost.edit { $0.miles.increment(by: 2) }
    lost.tell(b)
    a.apply(try #require(lost.delta()))
    #expect(a.ada?.miles == 1)
    a.acknowledge(b.clock, by: b.device)
    #expect(a.ada?.miles == 3)
    #expect(a.keptAside.isEmpty)
  }

  @Test func theRetiredDevicesOwnWordDoesNotRaiseItsLastSave() throws {
    try retireUnheard()
    try lost.edit { $0.miles.increment(by: 2) }
    #expect(a.merge(lost).retired == lost.device)
    #expect(a.retirements == [lost.device: 1])
  }

  @Test func aWordInOurOwnNameDoesNotRaiseItEither() throws {
    try retireUnheard()
    try lost.edit { $0.miles.increment(by: 2) }
    a.acknowledge(lost.clock, by: a.device)
    #expect(a.retirements == [lost.device: 1])
  }

  @Test func aRetiredDeviceLearnsOfIt() throws {
    try retireUnheard()
    #expect(!lost.isRetired)
    a.tell(lost)
    #expect(lost.isRetired)
    #expect(!a.isRetired)
  }

  @Test func aRetiredDeviceThatWasRestoredTakesItsOwnSavesBack() throws {
    try retireUnheard()
    a.tell(lost)
    let restored = Replica.opening(lost.state, token: lost.token, as: 7)
    try lost.edit { $0.miles.increment(by: 2) }
    let report = lost.tell(restored)
    #expect(report.retired == nil)
    #expect(report.doubtful == Dot(lost.device, 1))
    #expect(restored.ada?.miles == 3)
  }

  @Test func aRetirementThatOthersHaveNotHeardOfFreesNothing() throws {
    try b.edit { $0.name = "b" }
    try lost.edit { $0.miles.increment(by: 1) }
    lost.tell(a)
    settle(a, b)
    try a.retire(lost.device)
    #expect(a.stabilityCut.isEmpty)
    settle(a, b)
    #expect(a.stabilityCut == a.clock.vector)
  }

  @Test func aRetiredDeviceHoldsUpTheCutUntilOthersKnow() throws {
    try b.edit { $0.name = "b" }
    try retireUnheard()
    settle(a, b)
    let saves = a.clock.vector
    #expect(a.stabilityCut == saves)
    let c = Replica.empty(4)
    try c.edit { $0.name = "c" }
    c.tell(a)
    #expect(a.stabilityCut.isEmpty)
    settle(a, b, c)
    #expect(a.stabilityCut == a.clock.vector)
  }

  /// A field of an earlier save that arrives late lowers nothing.
  @Test func aLateFieldOfAnEarlierSaveDoesNotLowerTheLastOne() throws {
    try lost.edit { $0.name = "first" }
    let first = try #require(lost.delta()).split(into: 1)[0]
    let clock = lost.clock
    try lost.save { $0[Sailor.self, "eve"].name = "second" }
    a.apply(try #require(lost.delta(since: clock)).split(into: 1)[0])
    a.apply(first)
    try a.retire(lost.device)
    #expect(a.retirements == [lost.device: 2])
  }

  @Test func allMessagesKeptAsideAreTriedAgain() throws {
    let other = Replica.empty(4)
    try b.edit { $0.name = "b" }
    for device in [lost, other] {
      try device.edit { $0.miles.increment(by: 1) }
      device.tell(a)
      try a.retire(device.device)
      try device.edit { $0.miles.increment(by: 2) }
      #expect(device.tell(a).keptAside != nil)
      device.tell(b)
    }
    #expect(a.acknowledge(b.clock, by: b.device).count == 2)
    #expect(a.ada?.miles == 6)
    #expect(a.keptAside.isEmpty)
  }

  @Test func theOtherMessagesStayAside() throws {
    let other = Replica.empty(4)
    for device in [lost, other] {
      try device.edit { $0.miles.increment(by: 1) }
      device.tell(a)
      try a.retire(device.device)
      try device.edit { $0.miles.increment(by: 2) }
      device.tell(a)
    }
    other.tell(b)
    #expect(a.acknowledge(b.clock, by: b.device).count == 1)
    #expect(a.keptAside.count == 1)
  }
}
