// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinStore
import RejoinSync
import Testing

/// The lines of the article, with a server whose hub is on SQLite.
@Suite(.serialized) final class SyncInFiveMinutesArticle: ServerSuite {
  private struct User {
    let mayWrite: Bool
    func check(_ request: Hub.Request) throws {
      if case .write = request, !mayWrite { throw SyncRefusal.denied }
    }
  }

  /// Needs a server.
  private func open() async throws -> Hub {
    let hub = try await Hub(connections: 8) {
      try PostgreSQLConnection("host=127.0.0.1 user=rejoin dbname=notes")
    }
    return hub
  }

  /// Starts the app with a file.
  private func launch(
    _ name: String, _ server: URL
  ) async throws -> (ReplicaStore, SyncEngine) {
    let path = path(name)
    let store = try await ReplicaStore(at: path, schema: [Note.self])
    do {
      let server = URL(string: "http://127.0.0.1:8080/")!
      #expect(server.port == 8080)
    }
    let engine = SyncEngine(
      store, routes: [.http("server", scope: "notes", url: server)])
    await engine.start()
    await engine.sync()
    return (store, engine)
  }

  @Test func devicesSyncThroughHandler() async throws {
    let hub = try await hub()
    @Sendable func handle(_ body: [UInt8], from user: User) async -> [UInt8] {
      let session = hub.makeSession { request in try user.check(request) }
      return await session.answer(body)
    }
    let url = try serve { await handle($0, from: User(mayWrite: true)) }
    let (store, engine) = try await launch("phone", url)
    let (other, second) = try await launch("tablet", url)
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    do {
      let statuses = await engine.sync()
      #expect(statuses[0].isUploaded)
    }
    await second.sync()
    #expect(await other.noteTitles == ["Milk"])
    for engine in [engine, second] { await engine.stop() }
  }

  /// After two seconds, and without a call.
  @Test func saveIsSentByItself() async throws {
    let session = try await hub().makeSession { _ in }
    let url = try serve { await session.answer($0) }
    let (store, engine) = try await launch("phone", url)
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    var version = ReplicaVersion()
    for _ in 0..<6_000 where !version.covers(await store.version) {
      try await Task.sleep(for: .milliseconds(20))
      version = try await session.version(of: "notes")
    }
    #expect(version.covers(await store.version))
    await engine.stop()
  }

  @Test func readerReceives() async throws {
    let hub = try await hub()
    let session = hub.makeSession { try User(mayWrite: false).check($0) }
    let url = try serve { await session.answer($0) }
    let (store, engine) = try await launch("phone", url)
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    let statuses = await engine.sync()
    #expect(statuses[0].uploadRefusal == .denied)
    #expect(statuses[0].state == .idle)
    await engine.stop()
  }
}
