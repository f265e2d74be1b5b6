// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinFoundation
import RejoinSQL
import RejoinStore
import Testing

/// The lines of the article, on SQLite.
@Suite class SyncingThroughAHubArticle: StoreSuite {
  private struct Refused: Error {}

  private struct User {
    let devices: Set<DeviceID>
    func check(_ access: Hub.Request) throws {}
  }

  /// Needs a server.
  private func connect(_ user: User) async throws -> HubSession {
    let hub = try await Hub(connections: 8) {
      try PostgreSQLConnection("host=127.0.0.1 dbname=notes")
    }
    let session = hub.makeSession { access in try user.check(access) }
    return session
  }

  private func replica() -> Replica {
    Replica(
      device: .random(), schema: [Note.self], wallClock: .system,
      makeDeviceID: DeviceID.random)
  }

  private func exchange(
    _ phone: Replica, _ session: HubSession
  ) async throws {
    // Send the saves that the hub lacks, and note which saves are stable.
    let held = try await session.version(of: "list-17")
    phone.recordVersion(held)
    if let delta = phone.delta(since: held) {
      try await session.apply(delta, in: "list-17")
    }
    // Report the saves that this device holds.
    try await session.recordVersion(
      phone.version, of: phone.device, in: "list-17")
    // Receive the saves that this device lacks.
    if let delta = try await session.delta(since: phone.version, in: "list-17")
    {
      phone.apply(delta)
    }
  }

  private func session(as replicas: Replica...) async throws -> HubSession {
    let path = self.path
    let hub = try await Hub { try SQLiteConnection(opening: path) }
    let user = User(devices: Set(replicas.map(\.device)))
    let session = hub.makeSession { access in
      switch access {
      case .read("list-17"): break
      case .write("list-17", let write)
      where write.devices.isSubset(of: user.devices) && write.hasIntervals:
        break
      case .recordVersion("list-17", let device)
      where user.devices.contains(device):
        break
      default: throw Refused()
      }
    }
    return session
  }

  @Test func article() async throws {
    let (phone, tablet, newcomer) = (replica(), replica(), replica())
    let session = try await session(as: phone, tablet)
    try phone.save { $0[Note.self, "1"].title = "Milk" }
    try tablet.save { $0[Note.self, "1"].tags.insert("shopping") }
    try await exchange(phone, session)
    try await exchange(tablet, session)
    try await exchange(phone, session)
    #expect(phone[Note.self, "1"]?.tags == ["shopping"])
    #expect(phone.delta() == tablet.delta())

    while let delta = try await session.delta(
      since: newcomer.version, byteLimit: 256_000, in: "list-17")
    {
      guard newcomer.apply(delta).hasAdvanced else { break }
    }
    #expect(newcomer.delta() == phone.delta())
    await #expect(throws: Refused.self) {
      try await self.exchange(newcomer, session)
    }
  }

  /// Devices that do nothing else than what the article says.
  @Test func devicesThatSyncByWayOfAHubPurge() async throws {
    let (phone, tablet, newcomer) = (replica(), replica(), replica())
    let session = try await session(as: phone, tablet, newcomer)
    let id = RecordID("Note", "1")
    try phone.save { $0[Note.self, "1"].title = "Milk" }
    for device in [phone, tablet] { try await exchange(device, session) }
    try tablet.save { $0.delete(id) }
    #expect(try tablet.purgeDeletedRecords().dot == nil)
    for _ in 0..<3 {
      for device in [tablet, phone] { try await exchange(device, session) }
    }
    #expect(try phone.purgeDeletedRecords().dot != nil)
    for device in [phone, tablet] { try await exchange(device, session) }
    for replica in [phone, tablet] {
      #expect(replica.record(id)?.exists == false)
      #expect(replica.record(id)?.value(of: "title") == nil)
    }
    // Who joins later gets neither the title nor the deletion to do again.
    try await exchange(newcomer, session)
    #expect(newcomer.record(id)?.exists == false)
    #expect(newcomer.delta() == phone.delta())
    try newcomer.save { $0[Note.self, "2"].title = "Bread" }
    for device in [newcomer, phone, tablet, newcomer] {
      try await exchange(device, session)
    }
    #expect(phone[Note.self, "2"]?.title == "Bread")
    #expect(phone.delta() == newcomer.delta())
    #expect(phone.delta() == tablet.delta())
  }
}
