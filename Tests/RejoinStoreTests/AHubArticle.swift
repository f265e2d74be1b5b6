// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinFoundation
import RejoinSQL
import RejoinStore
import Testing

/// The lines of the article, on SQLite.
@Suite class AHubArticle: StoreSuite {
  private struct Refused: Error {}

  private struct User {
    let devices: Set<DeviceID>
    func check(_ access: Hub.Access) throws {}
  }

  /// Needs a server.
  private func connect(_ user: User) throws -> HubSession {
    let hub = try Hub(
      PostgreSQLConnection("host=127.0.0.1 dbname=notes"),
      makeDeviceID: DeviceID.random)
    let session = hub.session { access in try user.check(access) }
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
    // What the hub lacks.
    let held = try await session.version(of: "list-17")
    if let delta = phone.delta(since: held) {
      try await session.apply(delta, in: "list-17")
    }
    // What the device holds, on which it depends what can be purged.
    try await session.acknowledge(
      phone.version, by: phone.device, in: "list-17")
    // What the device lacks.
    if let delta = try await session.delta(since: phone.version, in: "list-17")
    {
      phone.apply(delta)
    }
  }

  @Test func article() async throws {
    let hub = try Hub(
      SQLiteConnection(opening: path), makeDeviceID: DeviceID.random)
    let (phone, tablet, newcomer) = (replica(), replica(), replica())
    let user = User(devices: [phone.device, tablet.device])
    let session = hub.session { access in
      switch access {
      case .read("list-17"), .write("list-17", _): break
      case .acknowledge("list-17", let device)
      where user.devices.contains(device):
        break
      default: throw Refused()
      }
    }
    try phone.save { $0[Note.self, "1"].title = "Milk" }
    try tablet.save { $0[Note.self, "1"].tags.insert("shopping") }
    try await exchange(phone, session)
    try await exchange(tablet, session)
    try await exchange(phone, session)
    #expect(phone[Note.self, "1"]?.tags == ["shopping"])
    #expect(phone.encoded() == tablet.encoded())

    var cursor: HubPage.Cursor?
    repeat {
      let page = try await session.page(
        after: cursor, since: ReplicaVersion(), in: "list-17")
      if let delta = page.delta { newcomer.apply(delta) }
      cursor = page.next
    } while cursor != nil
    #expect(newcomer.encoded() == phone.encoded())
    await #expect(throws: Refused.self) {
      try await self.exchange(newcomer, session)
    }
  }
}
