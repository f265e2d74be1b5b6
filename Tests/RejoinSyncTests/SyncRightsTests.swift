// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinSync
import RejoinTesting
import Testing

@testable import Rejoin

/// The checks of *Syncing through a hub*, with calls of `sync`.
@Suite final class SyncRightsTests: SyncSuite {
  private static let scope = "list-17"

  private struct User {
    let devices: Set<DeviceID>
    var mayWrite = true
  }

  private enum Check { case recommended, strict }

  private func session(
    _ hub: Hub, _ user: User, _ check: Check
  ) -> HubSession {
    hub.makeSession { request in
      switch (request, check) {
      case (.read, _): break
      case (.write, .recommended) where user.mayWrite: break
      case (.write(_, let write), .strict)
      where write.devices.allSatisfy {
        $0.isImport || user.devices.contains($0)
      }:
        break
      case (.recordVersion(_, let device), _)
      where user.devices.contains(device):
        break
      default: throw SyncRefusal.denied
      }
    }
  }

  /// A user's device and the session that serves it.
  private func sync(
    _ store: ReplicaStore, _ hub: Hub, _ check: Check = .recommended,
    mayWrite: Bool = true
  ) async throws -> SyncResult {
    let user = User(devices: await store.ownDevices, mayWrite: mayWrite)
    let session = session(hub, user, check)
    return try await store.sync(scope: Self.scope) { await session.answer($0) }
  }

  private func importRows(_ store: ReplicaStore) async throws {
    try await store.withReplica { replica in
      try replica.importRows { transaction in
        for i in 0..<5 { transaction[Item.self, "row \(i)"].title = "Row \(i)" }
      }
    }
  }

  private func pull(_ store: ReplicaStore) async throws {
    try await store.withReplica { replica in
      try replica.importRows(from: "shop", modifiedAt: 1_750_000_000_000) {
        $0[Item.self, "pulled"].title = "Flour"
      }
    }
  }

  /// Two users import the same rows, one pulls, a third relays both, and the
  /// database is restored from a dump.
  private func run(_ check: Check) async throws -> [[SyncResult]] {
    let (anna, ben, carl) = (
      try await store(), try await store(), try await store()
    )
    let users = [anna, ben, carl]
    var results: [[SyncResult]] = []
    let first = try await hub("first")
    try await importRows(anna)
    try await importRows(ben)
    try await pull(ben)
    try await ben.write("Milk", to: "ben")
    results.append([
      try await sync(anna, first, check), try await sync(ben, first, check),
    ])
    let dump = path("dump")
    try SQLiteConnection(opening: path("first")).run("VACUUM INTO '\(dump)'")
    // These saves are not in the dump.
    try await anna.write("Bread", to: "anna")
    try await pull(anna)
    results.append([
      try await sync(anna, first, check), try await sync(carl, first, check),
    ])
    // The third user is the only one who comes back first, and relays.
    let restored = try await hub("dump")
    try await carl.write("Salt", to: "carl")
    results.append([try await sync(carl, restored, check)])
    var last: [SyncResult] = []
    for _ in 0..<2 {
      last = []
      for user in users { last.append(try await sync(user, restored, check)) }
    }
    results.append(last)
    let contents = try await users.asyncMap {
      try await $0.delta(since: ReplicaVersion())?.encoded()
    }
    #expect(Set(contents).count == 1)
    return results
  }

  @Test func recommendedCheckLetsEachCallEndSynced() async throws {
    for results in try await run(.recommended) {
      for result in results {
        #expect(result.isSynced)
        #expect(result.uploadRefusal == nil)
      }
    }
  }

  /// With the strict check, only what others made is refused.
  @Test func strictCheckTakesOwnSaves() async throws {
    let results = try await run(.strict)
    for result in results[0] { #expect(result.isSynced) }
    for result in results[1] { #expect(result.isSynced) }
    // The relayed saves of the first user are refused, and the own save arrives.
    let relay = try #require(results[2].first)
    #expect(relay.uploadRefusal == .denied)
    #expect(!relay.isUploaded)
    for result in results[3] { #expect(result.isSynced) }
  }

  @Test func strictCheckTakesOwnSaveBesideRelayedOnes() async throws {
    let (anna, carl) = (try await store(), try await store())
    let hub = try await hub()
    try await anna.write("Bread", to: "anna")
    // They meet directly.
    _ = try await anna.sync(scope: Self.scope) {
      await carl.answer($0, scope: Self.scope)
    }
    try await carl.write("Salt", to: "carl")
    let result = try await sync(carl, hub, .strict)
    #expect(result.uploadRefusal == .denied)
    #expect(!result.isUploaded)
    let newcomer = try await store()
    _ = try await sync(newcomer, hub)
    #expect(await newcomer.titles == ["Salt"])
    // After its author synced, nothing is stuck.
    #expect(try await sync(anna, hub, .strict).isSynced)
    #expect(try await sync(carl, hub, .strict).isSynced)
  }

  @Test func readOnlyMemberDownloads() async throws {
    let (anna, reader) = (try await store(), try await store())
    let hub = try await hub()
    try await anna.fill(20)
    _ = try await sync(anna, hub)
    try await reader.write("Edit", to: "edit")
    for _ in 0..<2 {
      let result = try await sync(reader, hub, mayWrite: false)
      #expect(result.uploadRefusal == .denied)
      let count = await reader.read { $0.recordCount(of: Item.self) }
      #expect(count == 21)
    }
    #expect(try await sync(reader, hub).isSynced)
  }

  /// A device that has the records does not create an erased scope again.
  @Test func erasedScopeStaysErased() async throws {
    let (anna, ben) = (try await store(), try await store())
    let hub = try await hub()
    try await anna.fill(20)
    _ = try await sync(anna, hub)
    _ = try await sync(ben, hub)
    try await hub.eraseScope(Self.scope)
    for device in [anna, ben, try await store()] {
      try await device.write("again", to: "new")
      for _ in 0..<2 {
        await #expect(throws: SyncRefusal.gone) {
          _ = try await self.sync(device, hub)
        }
      }
    }
    let scopes = try await hub.scopes()
    #expect(scopes.map(\.isErased) == [true])
    #expect(scopes.map(\.devices) == [0])
    // The devices keep their copies.
    #expect(await anna.read { $0.recordCount(of: Item.self) } == 21)
  }
}

extension Sequence {
  fileprivate func asyncMap<Value>(
    _ transform: (Element) async throws -> Value
  ) async rethrows -> [Value] {
    var values: [Value] = []
    for element in self { values.append(try await transform(element)) }
    return values
  }
}
