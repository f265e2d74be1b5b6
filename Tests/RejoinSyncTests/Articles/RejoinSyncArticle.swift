// SPDX-License-Identifier: Apache-2.0

import RejoinSync
import Testing

/// The code of the landing page.
@Suite class RejoinSyncArticle: SyncSuite {
  private struct Connection {
    let ask: @Sendable ([UInt8]) async throws -> [UInt8]

    func ask(_ request: [UInt8]) async throws -> [UInt8] {
      try await ask(request)
    }
  }

  @Test func callSyncsWithEachPeer() async throws {
    let (phone, tablet) = (try await store(), try await store())
    try await phone.write("Milk")
    let session = try await hub().makeSession { _ in }
    let peers: [@Sendable ([UInt8]) async throws -> [UInt8]] = [
      { request in
        await session.answer(request)  // a hub
      },
      { request in
        await tablet.answer(request, scope: "list-17")  // a store
      },
    ]
    for peer in peers {
      let connection = Connection(ask: peer)
      let result = try await phone.sync(scope: "list-17") { request in
        try await connection.ask(request)
      }
      #expect(result.isSynced)
    }
    #expect(await tablet.titles == ["Milk"])
  }

  @Test func engineSyncsOverHTTP() async throws {
    let session = try await hub().makeSession { _ in }
    let server = try TestServer(awaiting: {
      .init(200, await session.answer($0.body))
    })
    defer { server.stop() }
    let (store, url) = (try await store(), server.url)
    try await store.write("Milk")
    let engine = SyncEngine(
      store, routes: [.http("server", scope: "list-17", url: url)])
    await engine.start()
    await engine.sync()
    let version = try await session.version(of: "list-17")
    #expect(version.covers(await store.version))
    await engine.stop()
  }
}
