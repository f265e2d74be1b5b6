// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing

@testable import Rejoin
@testable import RejoinSQL
@testable import RejoinStore

/// The statements that a hub's request runs.
@Suite final class HubCostTests: HubSuite {
  private func counting(
    _ database: Database
  ) throws -> (HubConnection, CountingConnection) {
    let connection = CountingConnection(try connect(database))
    let hub = try HubConnection(connection, makeDeviceID: DeviceID.random)
    connection.reset()
    return (hub, connection)
  }

  @Test(arguments: Database.available)
  func deltaOfManyDevicesNeedsOneStatement(_ database: Database) throws {
    let (hub, connection) = try counting(database)
    var counts: [Int] = []
    for device in 1...64 {
      let phone = replica(UInt64(device))
      try write(phone, "\(device % 20)")
      _ = try hub.apply(#require(phone.delta()), in: scope)
      connection.reset()
      let delta = try hub.delta(since: ReplicaVersion(), in: scope)
      #expect(delta?.intervals.count == device)
      counts.append(connection.statements.count)
    }
    #expect(Set(counts).count == 1, "\(counts)")
  }

  @Test(arguments: Database.available)
  func requestWithoutChangesWritesNothing(_ database: Database) throws {
    let (hub, connection) = try counting(database)
    let (phone, tablet) = (replica(1), replica(2))
    try write(phone, "1", "2")
    try write(tablet, "2")
    for replica in [phone, tablet, phone, tablet, phone] {
      try exchange(replica, hub)
    }
    let all = try #require(phone.delta())
    connection.reset()
    _ = try hub.apply(all, in: scope)
    _ = try hub.recordVersion(phone.version, of: phone.device, in: scope)
    #expect(connection.writes == [])
    // Acknowledging a known version does not wait for writers.
    connection.reset()
    _ = try hub.recordVersion(phone.version, of: phone.device, in: scope)
    #expect(!connection.statements.contains { $0.contains("advisory") })
    // A partly new delta writes only its new part.
    try write(phone, "2")
    connection.reset()
    _ = try hub.apply(#require(phone.delta()), in: scope)
    #expect(
      connection.writes.count { $0.hasPrefix("INSERT INTO rejoin_record") }
        == 1)
  }

  /// Incomplete deltas cost other devices a limited number of rows.
  @Test(arguments: Database.available)
  func fieldsAheadCostLimitedNumberOfRows(_ database: Database) throws {
    let (hub, connection) = try counting(database)
    let (phone, stranger) = (replica(1), replica(2))
    try stranger.save { transaction in
      for i in 0..<500 { transaction[Note.self, "\(i)"].title = "\(i)" }
    }
    let all = try #require(stranger.delta())
    for part in all.split(into: 2) { _ = try hub.apply(part, in: scope) }
    try write(phone, "mine")
    connection.reset()
    _ = try hub.version(of: scope)
    // The list of the records, and the records.
    #expect(connection.rows < 2 * 256 + 10)
    // Complete saves cost only the devices that lack them.
    _ = try hub.apply(all, in: scope)
    try exchange(phone, hub)
    #expect(phone.recordIDs(of: "Note").count == 501)
    connection.reset()
    try exchange(phone, hub)
    #expect(connection.rows < 20)
  }

  /// A sync with a save on each side.
  @Test(arguments: Database.available)
  func syncNeedsFewRoundTrips(_ database: Database) throws {
    let (hub, connection) = try counting(database)
    let (phone, tablet) = (replica(1), replica(2))
    for replica in [phone, tablet, phone] {
      try write(replica, "1")
      try exchange(replica, hub)
    }
    try write(phone, "1")
    try exchange(phone, hub)
    try write(tablet, "1")
    connection.reset()
    try exchange(tablet, hub)
    #expect(tablet[Note.self, "1"]?.views == 5)
    // One of the four transactions writes. SQLite has no round trips.
    if database == .postgresql {
      #expect(connection.roundTrips <= 14, "\(connection.statements)")
    }
  }

  /// Returns a phone whose note has a large set, and the hub that has it.
  private func largeNote(
    _ database: Database
  ) throws -> (Replica, HubConnection, CountingConnection) {
    let (hub, connection) = try counting(database)
    let phone = replica(1)
    try phone.save { transaction in
      for i in 0..<20_000 {
        transaction[Note.self, "1"].tags.insert("tag \(i)")
      }
    }
    _ = try hub.apply(#require(phone.delta()), in: scope)
    return (phone, hub, connection)
  }

  /// - Returns: The number of bytes that the hub writes.
  private func insert(
    _ tag: String, _ phone: Replica, _ hub: HubConnection,
    _ connection: CountingConnection
  ) throws -> Int {
    let before = phone.version
    try phone.save { $0[Note.self, "1"].tags.insert(tag) }
    connection.reset()
    _ = try hub.apply(#require(phone.delta(since: before)), in: scope)
    return connection.writtenBytes
  }

  @Test(arguments: Database.available)
  func smallChangeOfLargeRecordIsPatch(_ database: Database) throws {
    let (phone, hub, connection) = try largeNote(database)
    for tag in ["a", "b", "c"] {
      // PostgreSQL receives some bytes in hexadecimal.
      #expect(try insert(tag, phone, hub, connection) < 1_000)
    }
    #expect(connection.writes.contains { $0.contains("rejoin_patch") })
    #expect(
      !connection.writes.contains { $0.hasPrefix("INSERT INTO rejoin_record") })
    #expect(
      try hub.delta(since: ReplicaVersion(), in: scope) == phone.delta())
    // A repeated request writes nothing.
    connection.reset()
    _ = try hub.apply(#require(phone.delta()), in: scope)
    #expect(connection.writes == [])
    // A patch does not contain unchanged fields.
    let before = phone.version
    try phone.save { transaction in
      transaction[Note.self, "1"].title = String(repeating: "Milk ", count: 900)
    }
    _ = try hub.apply(#require(phone.delta(since: before)), in: scope)
    #expect(connection.writtenBytes > 4_500)
    let titled = phone.version
    try phone.save { $0[Note.self, "1"].views.increment(by: 1) }
    connection.reset()
    _ = try hub.apply(#require(phone.delta(since: titled)), in: scope)
    #expect(connection.writtenBytes < 1_000)
    #expect(
      try hub.delta(since: ReplicaVersion(), in: scope) == phone.delta())
    // A large change replaces the row and its patches.
    try phone.save { transaction in
      for i in 0..<15_000 {
        transaction[Note.self, "1"].tags.remove("tag \(i)")
      }
    }
    connection.reset()
    try exchange(phone, hub)
    #expect(connection.writes.contains { $0.contains("DELETE FROM rejoin_p") })
    #expect(try insert("d", phone, hub, connection) < 1_000)
    #expect(
      try hub.delta(since: ReplicaVersion(), in: scope) == phone.delta())
  }

  @Test(arguments: [
    "DELETE FROM rejoin_patch WHERE place = 0",
    "DELETE FROM rejoin_patch WHERE place = 1",
    "UPDATE rejoin_patch SET body = x''",
    "UPDATE rejoin_patch SET place = 7 - place",
    // A request does not count the rows of the scope. The checker does.
    "DELETE FROM rejoin_patch",
  ])
  func damagedPatchIsReported(_ damage: String) throws {
    let (phone, hub, connection) = try largeNote(.sqlite)
    for tag in ["a", "b", "c"] { _ = try insert(tag, phone, hub, connection) }
    _ = try StoreSummary(of: connection, checksPages: true)
    try connection.run(damage)
    func expectDamaged(_ body: () throws -> Void) {
      #expect { try body() } throws: { error in
        if case StoreError.damaged = error { true } else { false }
      }
    }
    expectDamaged { _ = try StoreSummary(of: connection, checksPages: true) }
    if damage == "DELETE FROM rejoin_patch" { return }
    expectDamaged {
      _ = try hub.delta(since: ReplicaVersion(), in: self.scope)
    }
  }
}
