// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing
import _RejoinVerification

@testable import Rejoin
@testable import RejoinStore

/// Saves that reach a hub only in part, or through other devices.
@Suite final class HubRelayTests: HubSuite {
  struct Refused: Error {}

  private func send(
    _ replica: Replica, _ hub: HubConnection, byteLimit: Int = 1,
    parts: Int = .max,
    allowing isAllowed: @escaping @Sendable (Hub.Write) -> Bool = { _ in true }
  ) throws {
    var count = 0
    while count < parts,
      let part = replica.delta(
        since: try hub.version(of: scope), byteLimit: byteLimit)
    {
      count += 1
      try #require(count < 100, "the upload does not end")
      let change = HubChange.join(part) {
        if !isAllowed($0) { throw Refused() }
      }
      guard try hub.make(change, in: scope).hasAdvanced else { return }
    }
  }

  private func receive(
    _ replica: Replica, _ hub: HubConnection, byteLimit: Int = 1
  ) throws {
    var count = 0
    while let part = try hub.delta(
      since: replica.version, byteLimit: byteLimit, in: scope)
    {
      count += 1
      try #require(count < 100, "the download does not end")
      guard replica.apply(part).hasAdvanced else { return }
    }
  }

  private func title(_ key: String, _ replica: Replica) -> String? {
    replica[Note.self, key]?.title
  }

  private func setTitles(
    _ replica: Replica, _ keys: String..., to title: String
  ) throws {
    try replica.save { transaction in
      for key in keys { transaction[Note.self, key].title = title }
    }
  }

  /// An old device has the earlier values, and a new device is empty.
  @Test(arguments: Database.available)
  func uploadOfLostPhoneReachesAllDevices(_ database: Database) throws {
    let hub = try hub(database)
    let (phone, tablet, laptop) = (replica(1), replica(2), replica(3))
    try setTitles(tablet, "1", "2", "3", to: "old")
    try send(tablet, hub)
    try receive(phone, hub)
    try setTitles(phone, "1", "2", "3", to: "new")
    try send(phone, hub, parts: 2)
    for _ in 0..<2 {
      for device in [tablet, laptop] {
        try send(device, hub)
        try receive(device, hub)
      }
    }
    for device in [tablet, laptop] {
      #expect(
        ["1", "2", "3"].map { title($0, device) } == ["new", "new", "old"])
      // The saves are complete only in the first records.
      #expect(device.version[phone.device].sequence == 0)
      #expect(device.version.prefixes == (try hub.version(of: scope).prefixes))
      #expect(
        try hub.delta(since: device.version, byteLimit: 1, in: scope) == nil)
    }
    // A delta of all saves also contains these fields.
    let watch = replica(4)
    while let delta = try hub.delta(since: watch.version, in: scope) {
      guard watch.apply(delta).hasAdvanced else { break }
    }
    #expect(watch.version == laptop.version)
    #expect(title("1", watch) == "new")
  }

  @Test(arguments: Database.available)
  func ownSavesPassIfOthersAreRefused(_ database: Database) throws {
    let hub = try hub(database)
    let (phone, tablet) = (replica(1), replica(2))
    try setTitles(tablet, "1", to: "tablet")
    phone.merge(tablet)
    try phone.importRows { $0[Note.self, "2"].title = "imported" }
    try phone.importRows(from: "rest", modifiedAt: 1_750_000_000_000) {
      $0[Note.self, "3"].title = "pulled"
    }
    try setTitles(phone, "4", to: "phone")
    let own = phone.ownDevices
    #expect(throws: Refused.self) {
      try send(phone, hub) {
        $0.devices.allSatisfy { $0.isImport || own.contains($0) }
      }
    }
    let laptop = replica(3)
    try receive(laptop, hub)
    #expect(
      ["1", "2", "3", "4"].map { title($0, laptop) }
        == [nil, "imported", "pulled", "phone"])
  }

  /// Devices that met without the hub send incomplete saves.
  @Test(arguments: Database.available)
  func hubRelaysFieldsAheadOfItsVersion(_ database: Database) throws {
    let hub = try hub(database)
    let (phone, tablet, laptop) = (replica(1), replica(2), replica(3))
    try setTitles(phone, "1", "2", "3", to: "phone")
    let parts = try #require(phone.delta()).split(into: 3)
    tablet.apply(parts[1])
    try send(tablet, hub)
    #expect(
      try hub.version(of: scope).fieldsAhead == tablet.version.fieldsAhead)
    try receive(laptop, hub)
    #expect(title("2", laptop) == "phone")
    #expect(laptop.version == tablet.version)
    // A version with these fields needs no delta, and complete saves are not
    // listed.
    #expect(
      try hub.delta(since: laptop.version, byteLimit: 1, in: scope) == nil)
    try send(phone, hub)
    #expect(try hub.version(of: scope) == phone.version)
    let connection = try connect(database)
    let marks = try connection.integer(
      "SELECT count(*) FROM rejoin_touch t JOIN rejoin_scope s "
        + "ON s.scope = t.scope WHERE name = $1 AND device = -s.scope",
      .utf8(scope))
    #expect(marks == 0)
  }

  /// A member could otherwise make the versions of all members large.
  @Test(arguments: Database.available)
  func hubStoresOnlyListedFieldsAhead(_ database: Database) throws {
    let hub = try hub(database)
    let (phone, tablet) = (replica(1), replica(2))
    let keys = (0..<300).map { "\(1_000 + $0)" }
    try phone.save { transaction in
      for key in keys { transaction[Note.self, key].title = "phone" }
      transaction[Note.self, "last"].title = "phone"
    }
    // Everything but the last record, without the claim to be complete.
    let delta = try #require(phone.delta())
    tablet.apply(Delta(Array(delta.changes.dropLast())))
    try send(tablet, hub, byteLimit: 1_000_000)
    let listed = try hub.version(of: scope).fieldsAhead
    #expect((250...256).contains(listed.count))
    #expect(
      try !hub.apply(Delta([delta.changes[280]]), in: scope).hasAdvanced)
    let laptop = replica(3)
    try receive(laptop, hub, byteLimit: 10_000)
    let received = keys.filter { title($0, laptop) != nil }
    #expect(!received.isEmpty && laptop.version.fieldsAhead == listed)
    // Complete saves are not limited.
    try send(phone, hub, byteLimit: 1_000_000)
    #expect(try hub.version(of: scope) == phone.version)
  }

  /// Every request would read the record.
  @Test(arguments: Database.available)
  func fieldAheadInLargeRecordWaits(_ database: Database) throws {
    let hub = try hub(database)
    let (phone, tablet) = (replica(1), replica(2))
    try phone.save { transaction in
      for i in 0..<60_000 {
        transaction[Note.self, "1"].tags.insert("a tag with number \(i)")
      }
    }
    try send(phone, hub)
    try setTitles(phone, "1", "2", to: "title")
    // Everything that the save changed, without the claim to be complete.
    tablet.apply(
      Delta(try #require(phone.delta(since: hub.version(of: scope))).changes))
    try send(tablet, hub, byteLimit: 10_000_000)
    let laptop = replica(3)
    try receive(laptop, hub)
    #expect([title("1", laptop), title("2", laptop)] == [nil, "title"])
    try send(phone, hub)
    #expect(try hub.version(of: scope) == phone.version)
  }

  @Test(arguments: Database.available)
  func refusedFieldsAheadDoNotStopOwnSaves(_ database: Database) throws {
    let hub = try hub(database)
    let (phone, tablet) = (replica(1), replica(2))
    try setTitles(phone, "1", "2", to: "phone")
    tablet.apply(try #require(phone.delta()).split(into: 2)[0])
    try setTitles(tablet, "3", to: "tablet")
    try send(tablet, hub) { $0.devices == [DeviceID(2)] }
    let version = try hub.version(of: scope)
    #expect(version.vectorClock == [DeviceID(2): 1])
    #expect(version.fieldsAhead.isEmpty)
  }

  /// Two devices have different beginnings of the saves of a lost one.
  @Test(arguments: Database.available)
  func fieldsBehindShorterPrefixAreListed(_ database: Database) throws {
    let hub = try hub(database)
    let (phone, tablet, laptop) = (replica(1), replica(2), replica(3))
    try setTitles(phone, "1", "2", "3", "4", to: "first")
    try send(phone, hub, parts: 3)
    try setTitles(phone, "1", "4", to: "second")
    tablet.apply(try #require(phone.delta(since: tablet.version, byteLimit: 1)))
    try send(tablet, hub)
    try receive(laptop, hub)
    #expect(
      ["1", "2", "3", "4"].map { title($0, laptop) }
        == ["second", "first", "first", nil])
    try receive(tablet, hub)
    #expect(tablet.version == laptop.version)
    #expect(tablet.delta() == laptop.delta())
  }

  /// Another device continues the transfer with fewer saves.
  @Test(arguments: Database.available)
  func laterSavesOfCompletedPrefixAreListed(_ database: Database) throws {
    let hub = try hub(database)
    let (phone, tablet, laptop) = (replica(1), replica(2), replica(3))
    try setTitles(phone, "1", "2", "3", to: "first")
    for device in [tablet, laptop] { device.merge(phone) }
    try setTitles(phone, "1", "2", to: "second")
    try send(phone, hub, parts: 1)
    try send(tablet, hub)
    #expect(try hub.version(of: scope).vectorClock == [phone.device: 1])
    for device in [tablet, laptop] {
      try receive(device, hub)
      #expect(
        ["1", "2", "3"].map { title($0, device) }
          == ["second", "first", "first"])
    }
  }

  /// A relay of a few records must not stop that of many.
  @Test(arguments: Database.available)
  func shortPrefixDoesNotReplaceLongOne(_ database: Database) throws {
    let hub = try hub(database)
    let (phone, tablet, laptop) = (replica(1), replica(2), replica(3))
    let keys = (0..<600).map { "\(1_000 + $0)" }
    try phone.save { transaction in
      for key in keys { transaction[Note.self, key].title = "first" }
    }
    try send(phone, hub, byteLimit: 1_000, parts: 3)
    let prefix = try hub.version(of: scope).prefixes
    #expect(prefix.count == 1)
    try setTitles(phone, "1000", to: "second")
    tablet.apply(try #require(phone.delta(since: tablet.version, byteLimit: 1)))
    for _ in 0..<2 {
      for device in [tablet, laptop] {
        try send(device, hub, byteLimit: 2_000)
        try receive(device, hub, byteLimit: 2_000)
      }
    }
    #expect(try hub.version(of: scope).prefixes == prefix)
    #expect(title("1000", laptop) == "second")
    #expect(tablet.delta() == laptop.delta())
    #expect(laptop.version.prefixes == prefix)
  }

  /// Later ones could otherwise hide those of a lost device.
  @Test(arguments: Database.available)
  func listedFieldsStayListed(_ database: Database) throws {
    let hub = try hub(database)
    let (phone, tablet) = (replica(1), replica(2))
    try setTitles(phone, "9000", "9001", to: "phone")
    tablet.apply(Delta([try #require(phone.delta()).changes[0]]))
    try send(tablet, hub)
    let listed = try hub.version(of: scope).fieldsAhead.count
    // These fields have saves of another device, which the hub lacks.
    let (watch, laptop) = (replica(4), replica(3))
    try watch.save { transaction in
      for i in 0..<300 { transaction[Note.self, "\(i)"].title = "watch" }
    }
    laptop.merge(watch)
    try laptop.save { transaction in
      for i in 0..<300 { transaction[Note.self, "\(i)"].title = "laptop" }
    }
    try send(laptop, hub, byteLimit: 1_000_000, parts: 1)
    let newcomer = replica(5)
    try receive(newcomer, hub, byteLimit: 100_000)
    #expect(listed > 0 && title("9000", newcomer) == "phone")
    #expect(try hub.version(of: scope).fieldsAhead.count <= 256)
  }

  @Test(arguments: RelayHistory.Kind.allCases)
  func devicesEndEqual(_ kind: RelayHistory.Kind) throws {
    for seed in 0..<(Tier.isNightly ? 150 : 50) {
      var history = try RelayHistory(seed: seed, kind)
      try history.run()
    }
  }
}
