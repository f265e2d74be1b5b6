// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinSQL
import RejoinStore
import RejoinSync
import RejoinTesting
import Testing

@testable import RejoinCommand

/// `rejoin serve --port`, with real connections.
@Suite struct DevelopmentServerTests {
  private struct Note: Entity {
    let title = register("title", of: String.self)
  }

  private let folder: Folder
  private let server: RunningServer

  init() throws {
    folder = try Folder()
    server = try RunningServer(in: folder)
  }

  private static let host = "Host: 127.0.0.1\r\n"

  private func client() throws -> Client { try #require(Client(server.port)) }

  /// Returns the bytes of a valid request with a body.
  private func post(_ body: [UInt8]) -> [UInt8] {
    "POST / HTTP/1.1\r\n\(Self.host)Content-Length: \(body.count)\r\n\r\n".utf8
      + body
  }

  /// Returns a request of a sync, with the saves of a store.
  private func syncRequest(titles: [String]) async throws -> [UInt8] {
    let store = try await ReplicaStore.inMemory(schema: [Note.self])
    for title in titles {
      try await store.save { $0[Note.self, title].title = title }
    }
    let first = Locked<[UInt8]>([])
    _ = try? await store.sync(scope: "notes", assuming: ReplicaVersion()) {
      request in
      first.withLock { $0 = request }
      throw CancellationError()
    }
    return first.withLock { $0 }
  }

  private func expectAnswer(
    _ response: Response, hasVersion: Bool = true,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    #expect(response.status == 200, sourceLocation: sourceLocation)
    #expect(response.isEnded, sourceLocation: sourceLocation)
    let answer = try SyncMessage(decoding: try #require(response.body))
    #expect(
      (answer.version != nil) == hasVersion, sourceLocation: sourceLocation)
  }

  private static let refused: [(String, Int)] = [
    // No length.
    ("POST / HTTP/1.1\r\n\(host)\r\n", 411),
    ("POST / HTTP/1.0\r\n\(host)\r\n", 411),
    // Two lengths, and invalid ones.
    (length("1\r\nContent-Length: 1"), 400),
    (length("1\r\ncontent-length: 2"), 400), (length("1, 1"), 400),
    (length(""), 400), (length("+1"), 400), (length("-1"), 400),
    (length("0x1"), 400), (length("1.0"), 400), (length("1 1"), 400),
    (length("9223372036854775808"), 400),
    (length("99999999999999999999999999"), 400), (length("١"), 400),
    // Lengths above the limit.
    (length("9223372036854775807"), 413), (length("41943041"), 413),
    // Bodies with an encoding.
    (field("Transfer-Encoding: chunked") + "1\r\nx\r\n0\r\n\r\n", 501),
    (field("transfer-encoding: identity"), 501),
    (field("Transfer-Encoding:\tgzip, chunked"), 501),
    ("POST / HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n0\r\n", 501),
    (field("Expect: 100-continue"), 417),
    // Other methods.
    ("GET / HTTP/1.1\r\n\(host)\r\n", 405),
    ("PUT / HTTP/1.1\r\n\(host)Content-Length: 1\r\n\r\nx", 405),
    ("OPTIONS / HTTP/1.1\r\n\(host)Origin: http://a.example\r\n\r\n", 405),
    ("post / HTTP/1.1\r\n\(host)Content-Length: 1\r\n\r\nx", 405),
    // A web page.
    (field("Origin: http://a.example"), 403), (field("origin: null"), 403),
    (field("Origin:"), 403),
    ("POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\nx", 403),
    (to("a.example"), 403), (to("127.0.0.1.a.example"), 403), (to(""), 403),
    (to("localhost:"), 403), (to("localhost:80x"), 403), (to("[::1]"), 403),
    (to("a.example@127.0.0.1"), 403), (to("127.0.0.1, a.example"), 403),
    (to("localhost\r\nHost: localhost"), 403), (to("127.0.0.10"), 403),
    // Malformed lines.
    ("POST\r\n\r\n", 400), ("POST /\r\n\r\n", 400), ("\r\n\r\n", 400),
    ("POST  / HTTP/1.1\r\n\r\n", 400), ("POST / HTTP/2.0\r\n\r\n", 400),
    ("POST / HTTP/1.1 x\r\n\r\n", 400), ("POST x HTTP/1.1\r\n\r\n", 400),
    ("POST http://127.0.0.1/ HTTP/1.1\r\n\r\n", 400),
    ("POST / http/1.1\r\n\r\n", 400), ("/ POST HTTP/1.1\r\n\r\n", 400),
    ("\u{16}\u{3}\u{1}\r\n\r\n", 400), ("POST /\0 HTTP/1.1\r\n\r\n", 400),
    (field("Name"), 400), (field("Name : 1"), 400), (field(": 1"), 400),
    (field("A: 1\r\n folded"), 400), (field("A: 1\nOrigin: b"), 400),
    (field("A: 1\rOrigin: b"), 400), (field("Ä: 1"), 400),
  ]

  /// Calls a closure with the port on a thread of its own, because other tests need
  /// the shared ones.
  private func waiting<Value: Sendable>(
    _ body: @escaping @Sendable (UInt16) throws -> Value
  ) async throws -> Value {
    let port = server.port
    return try await Thread.run { try body(port) }
  }

  private static func response(
    to text: some Sequence<UInt8>, _ port: UInt16
  ) throws -> Response {
    try #require(Client(port)).send(text).response()
  }

  @Test func refusesRequests() async throws {
    let refused = Self.refused
    let responses = try await waiting { port in
      try refused.map { try Self.response(to: $0.0.utf8, port) }
    }
    for ((text, status), response) in zip(refused, responses) {
      #expect(response.status == status, "\(text)")
      #expect(response.isEnded && response.body == [], "\(text)")
    }
  }

  private static func length(_ text: String) -> String {
    "POST / HTTP/1.1\r\n\(host)Content-Length: \(text)\r\n\r\nx"
  }

  private static func field(_ text: String) -> String {
    "POST / HTTP/1.1\r\n\(host)Content-Length: 1\r\n\(text)\r\n\r\nx"
  }

  private static func to(_ host: String) -> String {
    "POST / HTTP/1.1\r\nContent-Length: 1\r\nHost: \(host)\r\n\r\nx"
  }

  @Test(arguments: [
    to("LocalHost"), to("localhost:65535"), to("127.0.0.1:1"),
    "POST /any/path?x=y HTTP/1.0\r\n\(host)CONTENT-LENGTH:\t01 \r\nA:\r\n\r\nx",
  ])
  func answersOtherForms(text: String) throws {
    let response = try client().send(text.utf8).response()
    try expectAnswer(response, hasVersion: false)
  }

  /// The client reads the status although the server did not read everything.
  @Test func refusesHeadOfMegabyte() throws {
    let text =
      "POST / HTTP/1.1\r\n\(Self.host)"
      + String(
        repeating: "Name: \(String(repeating: "x", count: 90))\r\n",
        count: 10_000)
    #expect(text.utf8.count > 950_000)
    let line = "POST /" + String(repeating: "x", count: 1 << 20)
    for text in [text, line] {
      #expect(try client().send(text.utf8).response().status == 431)
    }
  }

  /// The server reads on, because closing could discard the status.
  @Test func refusesBodyThatArrives() throws {
    let client = try client()
    client.send(
      Self.length("41943041").utf8 + [UInt8](repeating: 0, count: 1 << 23))
    #expect(client.hasSentAll)
    #expect(client.response().status == 413)
  }

  @Test func answersRequestInSingleBytes() async throws {
    let request = post(try await syncRequest(titles: ["Milk"]))
    let client = try client()
    for byte in request { client.send([byte]) }
    try expectAnswer(client.response())
  }

  @Test(arguments: [0, 1, 30 << 20, 40 << 20])
  func answersBody(size: Int) async throws {
    let request = post([UInt8](repeating: 1, count: size))
    try expectAnswer(
      try await waiting { try Self.response(to: request, $0) },
      hasVersion: false)
  }

  @Test func ignoresBytesAfterBody() async throws {
    let request = post(try await syncRequest(titles: ["Milk"]))
    try expectAnswer(client().send(request + request).response())
  }

  @Test func closesIncompleteRequests() async throws {
    let texts = ["", "POST / HT", Self.length("2")]
    let responses = try await waiting { port in
      try texts.map { try #require(Client(port)).send($0.utf8) }
        .map { $0.response() }
    }
    for response in responses {
      #expect(response.bytes.isEmpty && response.isEnded)
    }
  }

  /// The oldest silent connections make room for new ones.
  @Test func answersDespiteThousandSilentConnections() async throws {
    var limit = rlimit()
    // The type of the constant differs between systems.
    #if canImport(Glibc)
      let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
      let files = RLIMIT_NOFILE
    #endif
    getrlimit(files, &limit)
    limit.rlim_cur = min(limit.rlim_max, 4_096)
    setrlimit(files, &limit)
    let request = post(try await syncRequest(titles: ["Milk"]))
    let (answers, silent) = try await waiting { port in
      let silent = try (0..<1_000).map { _ in try #require(Client(port)) }
      let answers = try (0..<3).map { _ in
        try Self.response(to: request, port)
      }
      return (answers, silent.prefix(900).map { $0.response() })
    }
    for answer in answers { try expectAnswer(answer) }
    // All but the newest are closed, without a response.
    for response in silent { #expect(response.bytes.isEmpty) }
  }

  /// A new connection does not end an answer that others wait for.
  @Test func refusesConnectionWhileAllAreAnswered() async throws {
    let request = post(try await syncRequest(titles: ["Milk"]))
    let path = folder.url.appending(path: "hub.sqlite").path
    let lock = try SQLiteConnection(opening: path)
    try lock.run("BEGIN IMMEDIATE")
    // Requests wait for the lock, until the hub gives up.
    let (waiting, statuses) = try await waiting { port in
      var (waiting, statuses) = ([Client](), [Int?]())
      for i in 0..<2_000 where statuses.last != 503 {
        waiting.append(try #require(Client(port)).send(request))
        if i < 63 { continue }
        let text = "GET / HTTP/1.1\r\n\r\n"
        statuses.append(try Self.response(to: text.utf8, port).status)
      }
      return (Waiting(clients: waiting), statuses)
    }
    #expect(statuses.last == 503)
    #expect(statuses.dropLast().allSatisfy { $0 == 405 })
    try lock.run("ROLLBACK")
    let isAnswered = try await self.waiting { _ in
      waiting.clients.contains { $0.response().status == 200 }
    }
    #expect(isAnswered)
    try expectAnswer(client().send(request).response())
  }

  @Test func listensOnLoopbackAddressOnly() {
    #expect(Client(server.port, at: "127.0.0.2") == nil)
  }

  @Test func portInUseFails() throws {
    let printed = try rejoin(
      "serve", folder.url.appending(path: "other.sqlite").path,
      "--port=\(server.port)")
    #expect(printed.code == 1)
    #expect(
      printed.text == "rejoin: port \(server.port): Address already in use; "
        + "use another one\n")
  }
}

/// Clients that one thread after another uses.
private struct Waiting: @unchecked Sendable {
  let clients: [Client]
}
