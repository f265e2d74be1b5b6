// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinSync
import RejoinTesting
import Testing
import _RejoinVerification

@testable import Rejoin
@testable import RejoinStore

/// A hub of three processes, whose database goes back to a dump again and again.
@Suite final class HubProcessTests: HubSuite {
  /// A process that answers requests.
  private final class Server: @unchecked Sendable {
    // Unchecked: one call uses it at a time.
    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())
    private var stream = MessageStream()

    /// - Parameter database: The path of a file, or the URL of a database.
    init(_ database: String) throws {
      process.executableURL = try #require(TestProgram.named("rejoin"))
      process.arguments = ["serve", database, "--stdio"]
      (process.standardInput, process.standardOutput) = (input, output)
      try process.run()
    }

    func answer(_ request: [UInt8]) throws -> [UInt8] {
      try input.fileHandleForWriting.write(
        contentsOf: Data(MessageStream.framed(request)))
      while true {
        if let answer = try stream.next() { return answer }
        let piece = output.fileHandleForReading.availableData
        if piece.isEmpty { throw Lost() }
        stream.append(piece)
      }
    }

    func stop() {
      try? input.fileHandleForWriting.close()
      process.waitUntilExit()
    }
  }

  private struct Lost: Error {}

  /// The rows of a scope at an earlier time, in the same database.
  private final class Dump {
    private static let tables = [
      "rejoin_scope", "rejoin_device", "rejoin_record", "rejoin_patch",
      "rejoin_digest", "rejoin_touch",
    ]
    private let connection: any SQLConnection
    private let scope: [UInt8]

    init(_ connection: any SQLConnection, of scope: String) {
      (self.connection, self.scope) = (connection, Array(scope.utf8))
    }

    private func number() throws -> Int64 {
      var number: Int64 = -1
      try connection.run(
        "SELECT scope FROM rejoin_scope WHERE name = $1", [.bytes(scope)]
      ) { number = $0.integer(0) }
      return number
    }

    func make() throws {
      let number = try number()
      for table in Self.tables {
        try connection.run("DROP TABLE IF EXISTS dump_\(table)")
        try connection.run(
          "CREATE TEMP TABLE dump_\(table) AS SELECT * FROM \(table) "
            + "WHERE scope = \(number)")
      }
    }

    func restore() throws {
      let number = try number()
      let overriding =
        connection.dialect == .postgresql ? "OVERRIDING SYSTEM VALUE " : ""
      try connection.transaction(
        connection.dialect == .sqlite ? "BEGIN IMMEDIATE" : "BEGIN"
      ) {
        for table in Self.tables {
          try connection.run("DELETE FROM \(table) WHERE scope = \(number)")
          try connection.run(
            "INSERT INTO \(table) \(overriding)SELECT * FROM dump_\(table)")
        }
      }
    }
  }

  /// The line to the processes, which has faults up to a number of requests.
  private actor Line {
    private let servers: [Server]
    private let lagging: HubSession
    private let dump: Dump
    private let faultyRequests: Int
    private var random = SeededRandom(seed: 65)
    private var late: [[UInt8]] = []
    private var lateAnswers: [[UInt8]] = []
    private(set) var requests = 0
    private(set) var restores = 0

    init(
      _ servers: [Server], lagging: HubSession, dumping scope: String,
      on database: Database, _ path: String, faultyRequests: Int
    ) throws {
      (self.servers, self.lagging) = (servers, lagging)
      dump = Dump(try database.connect(path), of: scope)
      self.faultyRequests = faultyRequests
    }

    var hasFaults: Bool { requests <= faultyRequests }

    func ask(_ request: [UInt8]) async throws -> [UInt8] {
      requests += 1
      let server = servers[requests % servers.count]
      if !hasFaults { return try server.answer(request) }
      do {
        if requests % 10 == 7 { try dump.make() }
        if requests % 10 == 0 {
          try dump.restore()
          restores += 1
        }
      } catch {
        Issue.record("the dump at request \(requests): \(error)")
        throw error
      }
      if !late.isEmpty, random.chance(percent: 20) {
        _ = try server.answer(random.pick(late))
      }
      switch random.number(below: 20) {
      case 0:
        late.append(request)
        throw Lost()
      case 1:
        lateAnswers.append(try server.answer(request))
        throw Lost()
      case 2: _ = try server.answer(request)
      case 3 where !lateAnswers.isEmpty: return random.pick(lateAnswers)
      case 4: return await lagging.answer(request)
      default: break
      }
      return try server.answer(request)
    }
  }

  private func store() async throws -> ReplicaStore {
    try await ReplicaStore.inMemory(schema: [Note.self])
  }

  /// Calls until one ends synced.
  ///
  /// - Returns: The number of calls after the last fault.
  private func sync(_ store: ReplicaStore, _ line: Line) async throws -> Int {
    var (hint, count) = (nil as ReplicaVersion?, 0)
    while true {
      let hadFaults = await line.hasFaults
      let result = try? await store.sync(
        scope: scope, bytesPerPart: 8_000, assuming: hint
      ) { try await line.ask($0) }
      hint = result?.peerVersion
      if hadFaults { continue }
      count += 1
      if result?.isSynced == true || count > 20 { return count }
    }
  }

  /// A transfer of 10,000 records to the hub, and one to a new device.
  @Test(arguments: Database.available)
  func transferEndsWithoutState(_ database: Database) async throws {
    let parameters = (Database.server ?? "").split(separator: " ")
    let name =
      database == .sqlite
      ? path : "postgresql:///?" + parameters.joined(separator: "&")
    _ = try hub(database)
    let servers = try (0..<3).map { _ in try Server(name) }
    defer { for server in servers { server.stop() } }
    let (phone, tablet) = (try await store(), try await store())
    try await phone.save { transaction in
      for i in 0..<10_000 { transaction[Note.self, "\(i)"].title = "Milk \(i)" }
    }
    for device in [phone, tablet] {
      let lagging = try await Hub(connections: 1) {
        try SQLiteConnection(opening: ":memory:")
      }.makeSession { _ in }
      let line = try Line(
        servers, lagging: lagging, dumping: scope, on: database, path,
        faultyRequests: 120)
      #expect(try await sync(device, line) <= 20)
      #expect(await line.restores == 12)
    }
    #expect(await tablet.read { $0.recordCount(of: Note.self) } == 10_000)
    #expect(
      try await tablet.delta(since: ReplicaVersion())
        == phone.delta(since: ReplicaVersion()))
  }
}
