// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL
import RejoinStore
import RejoinSync
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

private struct User {
  func check(_ request: Hub.Request) throws {}
}

private struct Accounts {
  func user(_ authorization: String?) async -> User? {
    authorization == "Bearer secret" ? User() : nil
  }
}

private struct SyncServer: Sendable {
  let hub: Hub
  let accounts: Accounts

  func respond(
    to body: [UInt8], authorization: String?
  ) async -> (status: Int, body: [UInt8]) {
    guard let user = await accounts.user(authorization) else {
      return (401, [])
    }
    let session = hub.makeSession { request in try user.check(request) }
    return (200, await session.answer(body))
  }
}

private struct ByteBuffer {
  var bytes: [UInt8] = []
}

extension [UInt8] {
  fileprivate init(buffer: ByteBuffer) { self = buffer.bytes }
}

/// The part of Vapor that the article uses.
private enum Vapor {
  enum HTTPMethod { case POST }
  enum HTTPBodyStreamStrategy { case collect(maxSize: String) }
  struct HTTPHeaders {
    enum Name { case authorization }
    let authorization: String?
    func first(name: Name) -> String? { authorization }
  }
  struct Request {
    struct Body { let data: ByteBuffer? }
    let (body, headers): (Body, HTTPHeaders)
  }
  struct HTTPResponseStatus { let statusCode: Int }
  struct Response {
    struct Body { let data: Data }
    let status: HTTPResponseStatus
    let body: Body
  }
  final class Application {
    typealias Handler = @Sendable (Request) async throws -> Response
    var handler: Handler?
    func on(
      _ method: HTTPMethod, _ path: String, body: HTTPBodyStreamStrategy,
      use handler: @escaping Handler
    ) { self.handler = handler }
  }

  static func handler(_ server: SyncServer) -> Application.Handler? {
    let app = Application()
    app.on(.POST, "sync", body: .collect(maxSize: "40mb")) {
      request -> Response in
      let (status, body) = await server.respond(
        to: Array(buffer: request.body.data ?? ByteBuffer()),
        authorization: request.headers.first(name: .authorization))
      return Response(
        status: HTTPResponseStatus(statusCode: status),
        body: Response.Body(data: Data(body)))
    }
    return app.handler
  }
}

/// The part of Hummingbird that the article uses.
private enum Hummingbird {
  struct RequestBody {
    let bytes: [UInt8]
    func collect(upTo limit: Int) async throws -> ByteBuffer {
      ByteBuffer(bytes: bytes)
    }
  }
  struct HTTPFields {
    enum Name { case authorization }
    let authorization: String?
    subscript(name: Name) -> String? { authorization }
  }
  struct Request {
    let (body, headers): (RequestBody, HTTPFields)
  }
  enum HTTPResponse {
    struct Status { let code: Int }
  }
  struct ResponseBody { let byteBuffer: ByteBuffer }
  struct Response {
    let status: HTTPResponse.Status
    let body: ResponseBody
  }
  struct Context {}
  final class Router {
    typealias Handler = @Sendable (Request, Context) async throws -> Response
    var handler: Handler?
    func post(_ path: String, use handler: @escaping Handler) {
      self.handler = handler
    }
  }

  static func handler(_ server: SyncServer) -> Router.Handler? {
    let router = Router()
    router.post("sync") { request, context -> Response in
      let buffer = try await request.body.collect(upTo: 40 << 20)
      let (status, body) = await server.respond(
        to: Array(buffer: buffer),
        authorization: request.headers[.authorization])
      return Response(
        status: HTTPResponse.Status(code: status),
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
    return router.handler
  }
}

@Suite(.serialized) final class RunningAServerArticle: ServerSuite {
  private typealias Handler =
    @Sendable ([UInt8], String?) async throws -> (Int, [UInt8])

  private struct Status: Error, Equatable { let code: Int }

  /// Uploads through one framework, and downloads through the other one.
  @Test func handlersOfFrameworksAnswer() async throws {
    let server = SyncServer(hub: try await sqliteHub(), accounts: Accounts())
    let vapor = try #require(Vapor.handler(server))
    let hummingbird = try #require(Hummingbird.handler(server))
    let handlers: [Handler] = [
      { bytes, token in
        let response = try await vapor(
          .init(
            body: .init(data: ByteBuffer(bytes: bytes)),
            headers: .init(authorization: token)))
        return (response.status.statusCode, Array(response.body.data))
      },
      { bytes, token in
        let response = try await hummingbird(
          .init(
            body: .init(bytes: bytes), headers: .init(authorization: token)),
          .init())
        return (response.status.code, response.body.byteBuffer.bytes)
      },
    ]
    let phone = try await openStore()
    try await phone.save { $0[Note.self, "1"].title = "Milk" }
    let tablet = try await openStore()
    for (store, handler) in zip([phone, tablet], handlers) {
      try await store.sync(scope: "list-17") { request in
        let (status, body) = try await handler(request, "Bearer secret")
        #expect(status == 200)
        return body
      }
      await #expect(throws: Status(code: 401)) {
        try await store.sync(scope: "list-17") { request in
          let (status, body) = try await handler(request, nil)
          if status != 200 { throw Status(code: status) }
          return body
        }
      }
    }
    #expect(await tablet.noteTitles == ["Milk"])
  }

  private func sqliteHub() async throws -> Hub {
    let path = path("hub.sqlite")
    let hub = try await Hub(connections: 1) {
      let connection = try SQLiteConnection(opening: path)
      try connection.run("PRAGMA journal_mode = WAL")
      try connection.run("PRAGMA synchronous = FULL")
      return connection
    }
    return hub
  }

  private struct Tokens {
    var isExpired = false
    func current() async throws -> String {
      if isExpired { throw SyncRefusal.denied }
      return "secret"
    }
  }

  private func route(_ url: URL, _ tokens: Tokens) -> SyncRoute {
    let route = SyncRoute.http("server", scope: "list-17", url: url) {
      request in
      let token = try await tokens.current()
      request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
    }
    return route
  }

  @Test func tokenIsRenewedBeforeRequest() async throws {
    let server = SyncServer(hub: try await hub(), accounts: Accounts())
    let http = try TestServer(awaiting: { request in
      let lines = request.head.components(separatedBy: "\r\n")
      let line = lines.first { $0.hasPrefix("Authorization: ") }
      let token = line.map { String($0.dropFirst(15)) }
      let (status, body) = await server.respond(
        to: request.body, authorization: token)
      return .init(status, body)
    })
    defer { http.stop() }
    let store = try await openStore()
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    for isExpired in [true, false] {
      let tokens = Tokens(isExpired: isExpired)
      let engine = SyncEngine(store, routes: [route(http.url, tokens)])
      let status = try #require(await engine.sync().first)
      #expect((status.state == .needsDecision) == isExpired)
      #expect(status.isUploaded != isExpired)
      await engine.stop()
    }
  }

  @Test func pushesFollowSaves() async throws {
    let pushed = Locked<[(String, DeviceID?)]>([])
    @Sendable func push(_ scope: String, _ device: DeviceID?) async {
      pushed.withLock { $0.append((scope, device)) }
    }
    @Sendable func notify(after request: [UInt8], _ answer: [UInt8])
      async throws
    {
      let message = try SyncMessage(decoding: request)
      let refusal = try SyncMessage(decoding: answer).refusal
      guard message.part != nil, refusal == nil else { return }
      await push(message.scope, message.device)
    }
    let mayWrite = Locked(true)
    let session = try await hub().makeSession { request in
      if case .write = request, !mayWrite.withLock({ $0 }) {
        throw SyncRefusal.denied
      }
    }
    let store = try await openStore()
    func sync() async throws {
      try await store.sync(scope: "list-17") { request in
        let answer = await session.answer(request)
        try await notify(after: request, answer)
        return answer
      }
    }
    try await sync()
    #expect(pushed.withLock { $0.isEmpty })
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    try await sync()
    #expect(pushed.withLock { $0.map(\.0) } == ["list-17"])
    #expect(pushed.withLock { $0.first?.1 } == (await store.device))
    mayWrite.withLock { $0 = false }
    try await store.save { $0[Note.self, "1"].title = "Rye" }
    try await sync()
    #expect(pushed.withLock { $0.count } == 1)
  }

  /// The device sends again what the restored database lacks.
  @Test func restoredHubReceivesSavesAgain() async throws {
    let (first, second) = (try await hub("first"), try await hub("second"))
    let store = try await openStore()
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    for hub in [first, second] {
      let session = hub.makeSession { _ in }
      let engine = SyncEngine(
        store,
        routes: [SyncRoute("server", scope: "s") { await session.answer($0) }])
      #expect(await engine.sync().map(\.isSynced) == [true])
      await engine.stop()
    }
  }
}
