// SPDX-License-Identifier: Apache-2.0

@testable import CloudKit
import CloudKitObjects
import Foundation
import RejoinStore
import RejoinSync
import Testing

@Suite class SyncingThroughCloudKitArticle: ZoneSuite {
  private func launch(
    _ store: ReplicaStore, in container: CKContainer
  ) async throws -> SyncEngine {
    let zone = CKRecordZone.ID(zoneName: "list-17")
    let storage = CloudKitStorage(zone, of: container)
    let engine = SyncEngine(
      store, routes: [SyncRoute("icloud", scope: "list-17", objects: storage)])
    await engine.start()
    await engine.sync()
    return engine
  }

  /// Subscribes to the zone and to the zones of other users.
  private func subscribe(
    to zone: CKRecordZone.ID, in container: CKContainer
  ) async throws {
    let subscription = CKRecordZoneSubscription(
      zoneID: zone, subscriptionID: "list-17")
    let information = CKSubscription.NotificationInfo()
    information.shouldSendContentAvailable = true
    subscription.notificationInfo = information
    _ = try await container.privateCloudDatabase.save(subscription)

    do {
      let subscription = CKDatabaseSubscription(subscriptionID: "shared lists")
      subscription.notificationInfo = information
      _ = try await container.sharedCloudDatabase.save(subscription)
    }
  }

  private func share(
    _ zone: CKRecordZone.ID, in container: CKContainer
  ) async throws {
    let share = CKShare(recordZoneID: zone)
    let saved = try await container.privateCloudDatabase.save(share)
    #expect(saved.recordID.recordName == CKRecordNameZoneWideShare)
  }

  private var container: CKContainer { server.device(of: "anna") }

  func deletion(
    of zone: CKRecordZone.ID, since token: CKServerChangeToken?
  ) async throws -> (
    reason: CKDatabase.DatabaseChange.Deletion.Reason?,
    token: CKServerChangeToken
  ) {
    var reason: CKDatabase.DatabaseChange.Deletion.Reason?
    var token = token
    while true {
      let page = try await container.privateCloudDatabase.databaseChanges(
        since: token)
      reason = page.deletions.last { $0.zoneID == zone }?.reason ?? reason
      token = page.changeToken
      if !page.moreComing { return (reason, page.changeToken) }
    }
  }

  /// Accepts a share, as the app of the other user does.
  private func join(
    _ metadata: CKShare.Metadata, of owner: String, _ store: ReplicaStore,
    in container: CKContainer
  ) async throws -> SyncEngine {
    _ = try await container.accept(metadata)
    let shared = CKRecordZone.ID(zoneName: "list-17", ownerName: owner)
    let storage = CloudKitStorage(shared, of: container, isShared: true)
    let engine = SyncEngine(
      store, routes: [SyncRoute("icloud", scope: "list-17", objects: storage)])
    await engine.start()
    await engine.sync()
    return engine
  }

  /// Production has the types and keys of the schema to import.
  private func deploySchema() throws {
    let schema = try #require(
      try articleText().components(separatedBy: "DEFINE SCHEMA").dropFirst()
        .first?
        .components(separatedBy: "```").first)
    let type = try #require(schema.firstMatch(of: /RECORD TYPE (\w+)/)?.1)
    let keys = schema.matches(of: /\b(\w+) +(?:INT64|ASSET),/).map {
      String($0.1)
    }
    #expect(keys.count == 9)
    server.set { $0.schema = [String(type): Set(keys)] }
  }

  private func articleText() throws -> String {
    var root = URL(filePath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    return try String(
      contentsOf: root.appending(
        path: "Sources/RejoinSync/RejoinSync.docc/SyncingThroughCloudKit.md"),
      encoding: .utf8)
  }

  @Test func article() async throws {
    try deploySchema()
    let stores = [try await store(), try await store(), try await store()]
    let zone = CKRecordZone.ID(zoneName: "list-17")
    let phone = server.device(of: "anna")
    try await stores[0].save { $0[ZoneNote.self, "1"].title = "Milk" }
    let one = try await launch(stores[0], in: phone)
    #expect(server.zones(of: "anna") == ["list-17"])
    let two = try await launch(stores[1], in: server.device(of: "anna"))
    #expect(await stores[1].read { $0[ZoneNote.self, "1"]?.title } == "Milk")
    try await subscribe(to: zone, in: phone)
    #expect(server.subscriptions(of: "anna") == ["list-17", "shared lists"])

    try await share(zone, in: phone)
    let invitation = server.invitation(to: "list-17", of: "anna")
    let three = try await join(
      invitation, of: "anna", stores[2], in: server.device(of: "bea"))
    #expect(await stores[2].read { $0[ZoneNote.self, "1"]?.title } == "Milk")
    try await stores[2].save { $0[ZoneNote.self, "2"].title = "Bread" }
    #expect(await three.sync().first?.isUploaded == true)
    await two.sync()
    #expect(await stores[1].read { $0[ZoneNote.self, "2"]?.title } == "Bread")
    for engine in [one, two, three] { await engine.stop() }

    let before = try await deletion(of: zone, since: nil)
    #expect(before.reason == nil)
    server.deleteZone("list-17", of: "anna", .encryptedDataReset)
    let after = try await deletion(of: zone, since: before.token)
    #expect(after.reason == .encryptedDataReset)
    #expect(try await deletion(of: zone, since: after.token).reason == nil)
  }

  /// A large object uses all keys of the schema.
  @Test func largeObjectNeedsAllKeys() async throws {
    try deploySchema()
    let storage = try await storage()
    try await storage.put(Self.name(), [UInt8](repeating: 7, count: 256 << 20))
    #expect(try await storage.list().map(\.byteCount) == [256 << 20])
  }
}
