// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinStore
import RejoinSync
import Testing

@Suite final class SigningOutArticle: ServerSuite {
  private func signOut(
    _ store: ReplicaStore, _ engine: SyncEngine
  ) async throws -> Bool {
    try await store.withReplica { _ = try $0.retire($0.device) }
    let statuses = await engine.sync()
    guard !statuses.isEmpty, statuses.allSatisfy(\.isUploaded) else {
      return false
    }
    try await store.deleteScope()
    return true
  }

  private func question(for status: SyncStatus) -> String {
    let isRefused =
      status.uploadRefusal != nil || status.state == .needsDecision
    return isRefused
      ? "\(status.unsentSaves) changes were refused."
      : "\(status.unsentSaves) changes may only be on this device."
  }

  private func handleErasure(
    _ status: SyncStatus, of store: ReplicaStore, keepsCopy: Bool
  ) async throws -> Bool {
    guard case SyncRefusal.gone? = status.error else { return false }
    if !keepsCopy { try await store.deleteScope() }
    return true
  }

  private let user = "ada"

  private func open(_ name: String) async throws -> ReplicaStore {
    try await ReplicaStore(at: path(name), scope: user, schema: [Note.self])
  }

  private func route(
    _ session: HubSession, isOnline: Locked<Bool> = Locked(true)
  ) -> SyncRoute {
    SyncRoute("server", scope: "list-17") { request in
      if !isOnline.withLock({ $0 }) { throw Offline() }
      return await session.answer(request)
    }
  }

  /// Another device purges without waiting for the one that signed out.
  @Test(arguments: [true, false])
  func deviceThatSignedOutIsNotAwaited(_ signsOut: Bool) async throws {
    let session = try await hub().makeSession { _ in }
    let (phone, tablet) = (try await open("phone"), try await open("tablet"))
    try await phone.save { $0[Note.self, "1"].title = "Milk" }
    let engine = SyncEngine(phone, routes: [route(session)])
    await engine.sync()
    @Sendable func sync() async throws {
      try await tablet.sync(scope: "list-17") { await session.answer($0) }
    }
    try await sync()
    try await phone.save { $0[Note.self, "2"].title = "last" }
    if signsOut {
      // An attempt that was repeated.
      try await phone.withReplica { _ = try $0.retire($0.device) }
      #expect(try await signOut(phone, engine))
    }

    try await tablet.save { $0[Note.self, "1"].delete() }
    var purged: Set<RecordID> = []
    for _ in 0..<6 {
      try await sync()
      let report = try await tablet.withReplica {
        try $0.purgeDeletedRecords()
      }
      purged.formUnion(report.droppedRecords)
    }
    #expect(purged == (signsOut ? [RecordID("Note", "1")] : []))
    // The last save arrived.
    #expect(await tablet.noteTitles == (signsOut ? ["last"] : []))
  }

  @Test func engineWithoutRoutesDeletesNothing() async throws {
    let store = try await open("phone")
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    #expect(try await !signOut(store, SyncEngine(store, routes: [])))
    #expect(await store.noteTitles == ["Milk"])
  }

  @Test func unsentSavesKeepScope() async throws {
    let (session, isOnline) = (
      try await hub().makeSession { _ in }, Locked(false)
    )
    let store = try await open("phone")
    let engine = SyncEngine(store, routes: [route(session, isOnline: isOnline)])
    await engine.start()
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    #expect(try await !signOut(store, engine))
    let status = try #require(await engine.sync().first)
    #expect(question(for: status) == "2 changes may only be on this device.")
    #expect(await store.noteTitles == ["Milk"])

    isOnline.withLock { $0 = true }
    #expect(try await signOut(store, engine))
    #expect(try await ReplicaStore.scopes(at: path("phone")) == [])
    for await statuses in engine.statuses
    where statuses[0].state == .stopped { break }
  }

  /// The server takes no saves, and still sends those of others.
  @Test func refusedSavesAreNamed() async throws {
    let session = try await hub().makeSession { request in
      if case .write = request { throw SyncRefusal.denied }
    }
    let store = try await open("phone")
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    let engine = SyncEngine(store, routes: [route(session)])
    let status = try #require(await engine.sync().first)
    #expect(status.state == .idle)
    #expect(question(for: status) == "1 changes were refused.")
  }

  /// A backup becomes a device that sends what is missing.
  @Test func backupKeepsUnsentSaves() async throws {
    let session = try await hub().makeSession { _ in }
    let (store, copy) = (try await open("phone"), path("copy"))
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    let lostDevice = await store.device
    try await store.backup(to: copy)
    try await store.deleteScope()
    let restored = try await open("copy")
    #expect(await restored.device != lostDevice)
    let result = try await restored.sync(scope: "list-17") {
      await session.answer($0)
    }
    #expect(result.isSynced)
    let tablet = try await open("tablet")
    try await tablet.sync(scope: "list-17") { await session.answer($0) }
    #expect(await tablet.noteTitles == ["Milk"])
    try await tablet.withReplica { _ = try $0.retire(lostDevice) }
    #expect(await tablet.awaitedDevices[lostDevice] == nil)
  }

  @Test(arguments: [true, false])
  func erasedScopeIsDecisionOfApp(_ keepsCopy: Bool) async throws {
    let hub = try await hub()
    let session = hub.makeSession { _ in }
    let store = try await open("phone")
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    let engine = SyncEngine(store, routes: [route(session)])
    let status = try #require(await engine.sync().first)
    #expect(
      try await !handleErasure(status, of: store, keepsCopy: keepsCopy))
    try await hub.eraseScope("list-17")
    let gone = try #require(await engine.sync().first)
    #expect(gone.state == .needsDecision)
    #expect(question(for: gone).hasSuffix("changes were refused."))
    #expect(await store.noteTitles == ["Milk"])
    #expect(try await handleErasure(gone, of: store, keepsCopy: keepsCopy))
    let scopes = try await ReplicaStore.scopes(at: path("phone"))
    #expect(scopes == (keepsCopy ? [user] : []))
  }

  @Test func userSignsInAgain() async throws {
    let session = try await hub().makeSession { _ in }
    let (route, path) = (route(session), path("phone"))
    let former: DeviceID
    do {
      let store = try await open("phone")
      try await store.save { $0[Note.self, "1"].title = "Milk" }
      former = await store.device
      let engine = SyncEngine(store, routes: [route])
      #expect(try await signOut(store, engine))
    }
    let store = try await ReplicaStore(
      at: path, scope: user, schema: [Note.self])
    let engine = SyncEngine(store, routes: [route])
    await engine.start()
    await engine.sync()
    #expect(await store.noteTitles == ["Milk"])
    #expect(await store.device != former)
    await engine.stop()
  }
}
