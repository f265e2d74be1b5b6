//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

import Rejoin
import Testing

/// Edits of a retired device that were kept aside are entered again, once.
@Suite struct ReadmissionTests {
  private static let schema = Schema([
    "Item": .init(fields: [
      FieldKey("name", .register), FieldKey("qty", .counter),
    ])
  ])
  private let item = RecordID("Item", "1")
  private let name = FieldKey("name", .register)
  private let quantity = FieldKey("qty", .counter)

  private func replica(_ number: UInt64) -> Replica {
    Replica(
      device: DeviceID(number), schema: Self.schema,
      clock: WallClock { 1000 })
  }

  /// Three devices that know of each other, of which 2 and 3 are retired by 1.
  private func team() throws -> (Replica, Replica, Replica) {
    let (a, b, c) = (replica(1), replica(2), replica(3))
    for device in [b, c] {
      try device.save { $0.apply(.count(.init(by: 1)), to: quantity, of: item) }
      a.merge(device)
    }
    try a.retire(b.device)
    try a.retire(c.device)
    return (a, b, c)
  }

  @Test func enteringTheSameSavesTwiceCountsOnce() throws {
    let (a, b, _) = try team()
    try b.save { $0.apply(.count(.init(by: 10)), to: quantity, of: item) }
    let late = try #require(b.delta(since: a.clock))
    #expect(a.apply(late).retired == b.device)
    try a.readmit(late)
    #expect(a.apply(late).retired == b.device)
    try a.readmit(late)
    #expect(a.record(item)?.count(of: "qty") == 12)
    #expect(a.keptAside.isEmpty)
  }

  @Test func aMessageWithSavesOfTwoRetiredDevicesEntersBoth() throws {
    let (a, b, c) = try team()
    try b.save { $0.apply(.count(.init(by: 10)), to: quantity, of: item) }
    try c.save { $0.apply(.count(.init(by: 100)), to: quantity, of: item) }
    b.merge(c)
    try a.readmit(try #require(b.delta(since: a.clock)))
    #expect(a.record(item)?.count(of: "qty") == 112)
  }

  @Test func aLateEditBeforeALateDeletionDeletes() throws {
    let (a, b, _) = try team()
    try b.save { $0.apply(.write(.string("x")), to: name, of: item) }
    try b.save { $0.delete(item) }
    try a.readmit(try #require(b.delta(since: a.clock)))
    #expect(!a.exists(item))
  }

  @Test func onlyWhatTheRetiredDeviceWroteIsEntered() throws {
    let (a, b, _) = try team()
    let d = replica(4)
    try b.save { $0.apply(.write(.string("late")), to: name, of: item) }
    try d.save { $0.apply(.write(.string("d")), to: name, of: item) }
    b.merge(d)
    try a.readmit(try #require(b.delta(since: a.clock)))
    #expect(a.record(item)?.value(of: "name") == .string("late"))
  }

  @Test func whatTheRetiredDeviceHadNotSeenStays() throws {
    let (a, b, _) = try team()
    let tags = FieldKey("tags", .set)
    try a.save { edit in
      edit.apply(.write(.string("a")), to: name, of: item)
      edit.apply(.members(SetEdit(inserting: [.int(1)])), to: tags, of: item)
    }
    try b.save { edit in
      edit.apply(.write(.string("late")), to: name, of: item)
      edit.apply(.members(.clearing), to: tags, of: item)
    }
    try a.readmit(try #require(b.delta(since: a.clock)))
    let record = try #require(a.record(item))
    #expect(record.value(of: "name") == .string("late"))
    #expect(record.conflicts(of: "name") == [.string("a")])
    #expect(record.elements(of: "tags") == [.int(1)])
  }

  @Test func aRetiredDeviceReadmitsNothingOfItsOwn() throws {
    let (a, b, _) = try team()
    b.merge(a)
    let restored = Replica(
      opening: b.state, token: b.token, schema: Self.schema,
      clock: WallClock { 1000 }, renewal: { DeviceID(9) })
    try b.save { $0.apply(.count(.init(by: 10)), to: quantity, of: item) }
    let late = try #require(b.delta(since: a.clock))
    #expect(try restored.readmit(late).dot == nil)
  }

  @Test func aCounterReadmittedAfterADeletionIsTheSameEverywhere() throws {
    let (a, b, _) = try team()
    try a.save { $0.delete(item) }
    try b.save { $0.apply(.count(.init(by: 10)), to: quantity, of: item) }
    try a.readmit(try #require(b.delta(since: a.clock)))
    let other = replica(4)
    other.merge(a)
    #expect(
      other.record(item)?.count(of: "qty") == a.record(item)?.count(of: "qty"))
    #expect(other.delta() == a.delta())
  }

  @Test func onlyFieldsWithLateSavesAreTouched() throws {
    let (a, b, _) = try team()
    try b.save { $0.apply(.write(.string("late")), to: name, of: item) }
    let clock = a.clock
    try a.readmit(try #require(b.delta()))
    let news = a.delta(since: clock)?.changes.first { $0.id == item }
    #expect(news?.fields[name] != nil)
    #expect(news?.fields[quantity] == nil)
  }
}
