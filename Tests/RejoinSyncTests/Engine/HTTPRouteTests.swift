// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import Testing

@testable import RejoinStore
@testable import RejoinSync

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.serialized) class HTTPRouteTests: SyncSuite {
  private func server(
    answer:
      @escaping @Sendable (TestServer.Request) ->
      TestServer.Response
  ) throws -> TestServer {
    let server = try TestServer(answer: answer)
    servers.append(server)
    return server
  }

  private var servers: [TestServer] = []

  deinit { for server in servers { server.stop() } }

  /// Sends a request over a route to a server.
  private func ask(
    _ response: TestServer.Response, _ request: [UInt8] = [1]
  ) async throws -> [UInt8] {
    let server = try server { _ in response }
    return try await SyncRoute.http(
      "hub", scope: "s", url: server.url, session: .patient
    )
    .ask(request)
  }

  @Test func statusesBecomeErrors() async throws {
    let refusals: [(Int, [String], SyncRefusal)] = [
      (401, [], .denied), (403, [], .denied), (410, [], .gone),
      (413, [], .tooLarge), (429, ["Retry-After: 7"], .busy(seconds: 7)),
      (503, ["Retry-After: 60"], .busy(seconds: 60)),
      (503, [], .busy(seconds: 0)),
      (503, ["Retry-After: x"], .busy(seconds: 0)),
    ]
    for (status, headers, refusal) in refusals {
      await #expect(throws: refusal, "\(status)") {
        try await self.ask(.init(status, headers: headers))
      }
    }
    for status in [201, 204, 400, 404, 405, 500, 502, 504] {
      await #expect(throws: HTTPRouteError.status(status)) {
        try await self.ask(.init(status))
      }
    }
  }

  /// A request that waited for a password would keep one of a few connections.
  @Test func serverThatAsksForPasswordIsLeft() async throws {
    let server = try server { _ in
      .init(401, headers: ["WWW-Authenticate: Basic realm=\"x\""])
    }
    let route = SyncRoute.http(
      "hub", scope: "s", url: server.url, session: .patient)
    for _ in 0..<20 {
      await #expect(throws: SyncRefusal.denied) { try await route.ask([1]) }
    }
  }

  @Test func busyServerCanNameDate() async throws {
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.timeZone = TimeZone(identifier: "GMT")
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    let date = format.string(from: .now + 36_000)
    do {
      _ = try await ask(.init(503, headers: ["Retry-After: \(date)"]))
      Issue.record("an answer")
    } catch SyncRefusal.busy(let seconds) {
      #expect(18_000...36_000 ~= seconds)
    }
  }

  @Test func otherSchemesAreNotAsked() async throws {
    for text in ["ftp://127.0.0.1/x", "data:text/plain,x", "file:///etc/hosts"]
    {
      let route = SyncRoute.http(
        "hub", scope: "s", url: try #require(URL(string: text)))
      await #expect(throws: HTTPRouteError.notHTTP) { try await route.ask([1]) }
    }
  }

  /// A request can be canceled before it starts, while it connects, and while it
  /// waits.
  @Test func canceledRequestsEnd() async throws {
    let server = try server { request in
      usleep(1_000)
      return .init(200, request.body)
    }
    let route = SyncRoute.http(
      "hub", scope: "s", url: server.url, session: .patient)
    let answered = Locked(0)
    for i in 0..<1_000 {
      let call = Task {
        if (try? await route.ask([1])) != nil { answered.withLock { $0 += 1 } }
      }
      if i % 4 > 0 { try await Task.sleep(for: .microseconds(40 * (i % 60))) }
      call.cancel()
      await call.value
    }
    #expect(answered.withLock { $0 } < 1_000)
    #expect(try await route.ask([7]) == [7])
  }

  @Test func serverThatSendsSlowlyIsLeft() async throws {
    let server = try server { _ in
      var response = TestServer.Response(200, [1, 2, 3], length: 1_000)
      response.closes = false
      return response
    }
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = 600
    configuration.timeoutIntervalForResource = 0.3
    let route = SyncRoute.http(
      "hub", scope: "s", url: server.url,
      session: URLSession(configuration: configuration))
    await #expect(throws: URLError.self) { try await route.ask([1]) }
  }

  @Test func bodyIsAnswer() async throws {
    for size in [0, 1, 256 << 10, 32 << 20] {
      let body = [UInt8](repeating: 7, count: size)
      let server = try server { .init(200, $0.body) }
      let route = SyncRoute.http(
        "hub", scope: "s", url: server.url, session: .patient
      ) {
        $0.setValue("Bearer x", forHTTPHeaderField: "Authorization")
      }
      #expect(try await route.ask(body) == body)
      let request = try #require(server.requests.first)
      #expect(request.head.hasPrefix("POST /sync HTTP/1.1"))
      #expect(request.head.contains("Authorization: Bearer x"))
      #expect(request.body == body)
    }
  }

  @Test func tooLargeBodyThrows() async throws {
    let length = SyncMessage.exchangeLimit + 1
    let body = [UInt8](repeating: 0, count: length)
    await #expect(throws: HTTPRouteError.tooLarge) {
      try await self.ask(.init(200, body))
    }
    // Without a length, the body lasts until the connection ends.
    var endless = TestServer.Response(200)
    endless.bytes = Array("HTTP/1.1 200 OK\r\n\r\n".utf8) + body + body
    await #expect(throws: HTTPRouteError.tooLarge) {
      try await self.ask(endless)
    }
  }

  @Test func brokenResponsesThrow() async throws {
    var cut = TestServer.Response(200, [1, 2, 3], length: 1_000)
    cut.closes = true
    var silent = cut
    silent.bytes = []
    for response in [cut, silent] {
      await #expect(throws: URLError.self) { try await self.ask(response) }
    }
  }

  @Test func redirectIsNotFollowed() async throws {
    let target = try server { .init(200, $0.body) }
    for status in [301, 302, 303, 307, 308] {
      let location = "Location: \(target.url)"
      await #expect(throws: (any Error).self) {
        try await self.ask(.init(status, headers: [location]))
      }
    }
    #expect(target.requests.isEmpty)
  }

  @Test func preparationErrorIsErrorOfRoute() async throws {
    struct Expired: Error {}
    let server = try server { .init(200, $0.body) }
    let route = SyncRoute.http(
      "hub", scope: "s", url: server.url, session: .patient
    ) { _ in
      throw Expired()
    }
    await #expect(throws: Expired.self) { try await route.ask([1]) }
    #expect(server.requests.isEmpty)
  }

  /// A page of HTML and an echo are damaged answers, after which the engine waits.
  @Test func wrongBodiesAreDamaged() async throws {
    let page = Array("<html>Log in</html>".utf8)
    for answer in [page, nil] {
      let server = try server { .init(200, answer ?? $0.body) }
      let engine = SyncEngine(
        try await store(),
        routes: [.http("hub", scope: "s", url: server.url, session: .patient)])
      let status = try #require(await engine.sync().first)
      #expect(status.error is WireError)
      guard case .waiting = status.state else {
        Issue.record("\(status)")
        continue
      }
    }
  }

  @Test func serverThatNeverAnswersIsLeft() async throws {
    let server = try server { _ in TestServer.silence }
    let slow = SyncRoute.http(
      "hub", scope: "s", url: server.url, session: .patient
    ) {
      $0.timeoutInterval = 1
    }
    await #expect(throws: URLError.self) { try await slow.ask([1]) }
    // Stopping the engine cancels the request.
    let engine = SyncEngine(
      try await store(),
      routes: [.http("hub", scope: "s", url: server.url, session: .patient)])
    let call = Task { await engine.sync() }
    while server.requests.count < 2 {
      try await Task.sleep(for: .milliseconds(5))
    }
    await engine.stop()
    #expect(await call.value.map(\.state) == [.stopped])
    while server.leftCount < 2 { try await Task.sleep(for: .milliseconds(5)) }
  }

  @Test func devicesSyncThroughServer() async throws {
    let session = try await hub().makeSession { _ in }
    let server = try TestServer(awaiting: {
      .init(200, await session.answer($0.body))
    })
    servers.append(server)
    let (phone, tablet) = (try await store("phone"), try await store("tablet"))
    try await phone.fill(3_000)
    for store in [phone, tablet] {
      let engine = SyncEngine(
        store,
        routes: [.http("hub", scope: "s", url: server.url, session: .patient)])
      let status = try #require(await engine.sync().first)
      #expect(status.isSynced, "\(status)")
    }
    #expect(await tablet.titles.count == 3_000)
  }
}

extension SyncRoute {
  /// Carries a request of a test.
  fileprivate func ask(_ request: [UInt8]) async throws -> [UInt8] {
    guard case .asking(let ask) = means else { throw SyncRefusal.wrongScope }
    return try await ask(request)
  }
}
