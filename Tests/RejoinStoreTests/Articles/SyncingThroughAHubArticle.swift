// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinSync
import Testing

@testable import RejoinStore

/// The lines of the article, on SQLite.
@Suite class SyncingThroughAHubArticle: StoreSuite {
  private struct Refused: Error {}

  private struct User {
    let devices: Set<DeviceID>
    var mayWrite = true
    func check(_ request: Hub.Request) throws {}
  }

  /// Needs a server.
  private func open() async throws -> Hub {
    let hub = try await Hub(connections: 8) {
      try PostgreSQLConnection("host=127.0.0.1 user=rejoin dbname=notes")
    }
    return hub
  }

  private struct Server {
    let post: @Sendable ([UInt8]) async throws -> [UInt8]
    func post(_ body: [UInt8]) async throws -> [UInt8] { try await post(body) }
  }

  private func sync(
    _ phone: ReplicaStore, _ server: Server
  ) async throws -> SyncResult {
    let result = try await phone.sync(scope: "list-17") { request in
      try await server.post(request)
    }
    return result
  }

  /// - Returns: The refusal of the device's saves, or `nil`.
  @discardableResult
  private func sync(
    _ phone: ReplicaStore, _ session: HubSession
  ) async throws -> SyncRefusal? {
    let server = Server { body in await session.answer(body) }
    return try await sync(phone, server).uploadRefusal
  }

  private func openStore() async throws -> ReplicaStore {
    try await ReplicaStore.inMemory(schema: [Note.self])
  }

  private func replica() -> Replica {
    Replica(
      device: .random(), schema: [Note.self], wallClock: .system,
      makeDeviceID: DeviceID.random)
  }

  private func exchange(
    _ phone: Replica, _ session: HubSession
  ) async throws {
    let held = try await session.version(of: "list-17")
    if let delta = phone.delta(since: held) {
      try await session.apply(delta, in: "list-17")
    }
    try await session.recordVersion(
      phone.version, of: phone.device, in: "list-17")
    if let delta = try await session.delta(since: phone.version, in: "list-17")
    {
      phone.apply(delta)
    }
    phone.recordVersion(held)
  }

  private func hub(
    _ limits: Hub.Limits = Hub.Limits()
  ) async throws -> Hub {
    let path = self.path
    return try await Hub(limits: limits) { try SQLiteConnection(opening: path) }
  }

  private func session(as devices: DeviceID...) async throws -> HubSession {
    try await recommended(hub(), User(devices: Set(devices)))
  }

  private func recommended(_ hub: Hub, _ user: User) -> HubSession {
    let session = hub.makeSession { request in
      switch request {
      case .read("list-17"): break
      case .write("list-17", _) where user.mayWrite: break
      case .recordVersion("list-17", let device)
      where user.devices.contains(device):
        break
      default: throw Refused()
      }
    }
    return session
  }

  /// Enforces authorship.
  private func strict(_ hub: Hub, _ user: User) -> HubSession {
    let session = hub.makeSession { request in
      switch request {
      case .read("list-17"): break
      case .write("list-17", let write)
      where write.devices.allSatisfy {
        $0.isImport || user.devices.contains($0)
      }:
        break
      case .recordVersion("list-17", let device)
      where user.devices.contains(device):
        break
      default: throw Refused()
      }
    }
    return session
  }

  private func erase(_ hub: Hub) async throws {
    try await hub.eraseScope("list-17")
  }

  /// Continues the erasures that were interrupted.
  private func finishErasures(_ hub: Hub) async throws {
    var page = try await hub.scopes()
    while let last = page.last {
      for scope in page where scope.isErased && scope.devices > 0 {
        try await hub.eraseScope(scope.name)
      }
      page = try await hub.scopes(after: last.name)
    }
  }

  @Test func article() async throws {
    let (phone, tablet) = (try await openStore(), try await openStore())
    let newcomer = try await openStore()
    let session = try await session(as: phone.device, tablet.device)
    try await phone.save { $0[Note.self, "1"].title = "Milk" }
    try await tablet.save { $0[Note.self, "1"].tags.insert("shopping") }
    try await sync(phone, session)
    try await sync(tablet, session)
    try await sync(phone, session)
    #expect(await phone.read { $0[Note.self, "1"]?.tags } == ["shopping"])
    let end = try await phone.wholeDelta
    #expect(try await tablet.wholeDelta == end)

    // This user may read, but not report a version.
    #expect(try await sync(newcomer, session) == nil)
    #expect(try await newcomer.wholeDelta == end)
  }

  /// The handler of a server, and its client.
  @Test func handlerAnswersEachUser() async throws {
    let hub = try await hub()
    @Sendable func handle(_ body: [UInt8], from user: User) async -> [UInt8] {
      let session = hub.makeSession { request in try user.check(request) }
      return await session.answer(body)
    }
    let (phone, tablet) = (try await openStore(), try await openStore())
    try await phone.save { $0[Note.self, "1"].title = "Milk" }
    for device in [phone, tablet] {
      let user = User(devices: [await device.device])
      let server = Server { body in await handle(body, from: user) }
      #expect(try await sync(device, server).isSynced)
    }
    #expect(await tablet.read { $0[Note.self, "1"]?.title } == "Milk")
  }

  /// Saves, imports and pulls of a device.
  @Test func checksAcceptImportsAndPulls() async throws {
    let hub = try await hub()
    let phone = try await openStore()
    try await phone.save { $0[Note.self, "0"].title = "Milk" }
    try await phone.withReplica { replica in
      try replica.importRows { $0[Note.self, "1"].title = "Bread" }
      try replica.importRows(from: "rest", modifiedAt: 1_750_000_000_000) {
        $0[Note.self, "2"].title = "Eggs"
      }
    }
    let devices = await phone.ownDevices
    #expect(devices.count == 2)
    let user = User(devices: devices)
    #expect(try await sync(phone, strict(hub, user)) == nil)
    let (tablet, other) = (try await openStore(), try await openStore())
    let member = User(devices: [await tablet.device])
    #expect(try await sync(tablet, recommended(hub, member)) == nil)
    for key in ["0", "1", "2"] {
      #expect(await tablet.read { $0[Note.self, key]?.title } != nil)
    }
    // Only the recommended check accepts the saves of another device.
    try await phone.save { $0[Note.self, "3"].title = "Salt" }
    try await other.apply(#require(phone.delta(since: ReplicaVersion())))
    let relay = User(devices: [await other.device])
    #expect(try await sync(other, strict(hub, relay)) == .denied)
    let reader = User(devices: [await other.device], mayWrite: false)
    #expect(try await sync(other, recommended(hub, reader)) == .denied)
    #expect(try await sync(other, recommended(hub, relay)) == nil)
    try await sync(tablet, recommended(hub, member))
    #expect(await tablet.read { $0[Note.self, "3"]?.title } == "Salt")
  }

  /// A refused part prevents neither the next steps nor an upload of a smaller
  /// record.
  @Test func syncContinuesAfterRefusal() async throws {
    var limits = Hub.Limits()
    limits.bytesPerRecord = 100_000
    let (phone, tablet) = (try await openStore(), try await openStore())
    let user = User(devices: [await phone.device, await tablet.device])
    let session = recommended(try await hub(limits), user)
    let text = String(repeating: "x", count: 60_000)
    try await tablet.save { $0[Note.self, "1"].title = "tablet " + text }
    #expect(try await sync(tablet, session) == nil)
    try await phone.save { $0[Note.self, "1"].title = "phone " + text }
    #expect(try await sync(phone, session) == .tooLarge)
    // The phone received the text of the tablet, and now makes it smaller.
    try await phone.save { $0[Note.self, "1"].title = "small" }
    #expect(try await sync(phone, session) == nil)
    try await sync(tablet, session)
    #expect(await tablet.read { $0[Note.self, "1"]?.title } == "small")
  }

  @Test func interruptedErasureIsFinished() async throws {
    let hub = try await hub()
    let phone = try await openStore()
    try await phone.save { $0[Note.self, "1"].title = "Milk" }
    let user = User(devices: [await phone.device])
    try await sync(phone, recommended(hub, user))
    _ = try await hub.writes.make(.erase(ErasureBatch()), in: "list-17")
    #expect(try await hub.scopes().map(\.devices) == [1])
    try await finishErasures(hub)
    #expect(try await hub.scopes().map(\.devices) == [0])
    // A repeated call does nothing.
    try await erase(hub)
    await #expect(throws: SyncRefusal.gone) {
      try await self.sync(phone, self.recommended(hub, user))
    }
  }

  /// More records than the hub accepts in a request.
  @Test func syncOfManyRecordsHasParts() async throws {
    let (phone, tablet) = (try await openStore(), try await openStore())
    let session = try await session(as: phone.device, tablet.device)
    try await phone.save { transaction in
      for i in 0..<12_000 { transaction[Note.self, "\(i)"].title = "\(i)" }
    }
    await #expect(throws: StoreError.tooManyRecords(12_000, limit: 2_000)) {
      try await session.apply(#require(phone.delta(since: .init())), in: "x")
    }
    try await sync(phone, session)
    try await sync(tablet, session)
    #expect(try await phone.wholeDelta == tablet.wholeDelta)
  }

  /// The device has a part of another device's save.
  @Test func syncAfterGapEnds() async throws {
    let (phone, tablet) = (try await openStore(), replica())
    let session = try await session(as: phone.device, tablet.device)
    try tablet.save { $0[Note.self, "1"].title = "Milk" }
    let first = tablet.version
    try tablet.save { $0[Note.self, "2"].title = "Bread" }
    // The first save is missing, so the second one is not complete.
    let delta = try #require(tablet.delta(since: first))
    #expect(try await !phone.apply(delta).gaps.isEmpty)
    try await sync(phone, session)
    #expect(
      try await session.version(of: "list-17").vectorClock == VectorClock())
    try await exchange(tablet, session)
    try await sync(phone, session)
    #expect(await phone.read { $0[Note.self, "1"]?.title } == "Milk")
    #expect(await phone.version.vectorClock == tablet.version.vectorClock)
  }

  /// The devices follow only the steps of the article.
  @Test func devicesPurgeThroughHub() async throws {
    let (phone, tablet, newcomer) = (replica(), replica(), replica())
    let session = try await session(
      as: phone.device, tablet.device, newcomer.device)
    let id = RecordID("Note", "1")
    try phone.save { $0[Note.self, "1"].title = "Milk" }
    for device in [phone, tablet] { try await exchange(device, session) }
    try tablet.save { $0.delete(id) }
    #expect(try tablet.purgeDeletedRecords().dot == nil)
    for _ in 0..<3 {
      for device in [tablet, phone] { try await exchange(device, session) }
    }
    #expect(try phone.purgeDeletedRecords().announcedRecords == [id])
    for _ in 0..<4 {
      for device in [phone, tablet] { try await exchange(device, session) }
    }
    #expect(try phone.purgeDeletedRecords().droppedRecords == [id])
    for device in [phone, tablet] { try await exchange(device, session) }
    for replica in [phone, tablet] {
      #expect(replica.record(id)?.exists == false)
      #expect(
        replica.record(id)?.value(of: FieldKey("title", .register)) == nil)
    }
    // A new device receives neither the title nor a pending deletion.
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

extension ReplicaStore {
  /// A delta of the whole replica.
  fileprivate var wholeDelta: Delta? {
    get throws { try export { $0.delta() } }
  }
}
