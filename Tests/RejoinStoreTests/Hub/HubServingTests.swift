// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing

@testable import Rejoin
@testable import RejoinSQL
@testable import RejoinStore

/// Many requests, few connections, and failures.
@Suite final class HubServingTests: HubSuite {
  private final class Count: Sendable {
    private let count = Locked(0)
    var value: Int { count.withLock { $0 } }
    func add() { count.withLock { $0 += 1 } }
  }

  @Test(arguments: Database.available)
  func manyRequestsShareFewConnections(_ database: Database) async throws {
    let (count, path, scope) = (Count(), self.path, self.scope)
    let hub = try await Hub(connections: 3) {
      count.add()
      return try database.connect(path)
    }
    let session = hub.makeSession { _ in }
    let replicas = (1...40).map { replica(UInt64($0)) }
    var deltas: [Delta] = []
    for replica in replicas {
      try write(replica, "1", "\(replica.device)")
      deltas.append(try #require(replica.delta()))
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for delta in deltas {
        group.addTask { try await session.apply(delta, in: scope) }
        group.addTask { _ = try await session.version(of: scope) }
        group.addTask {
          _ = try await session.delta(since: ReplicaVersion(), in: "other")
        }
      }
      try await group.waitForAll()
    }
    #expect(count.value <= 3)
    let all = replica(99)
    for replica in replicas { all.merge(replica) }
    #expect(
      try await session.delta(since: ReplicaVersion(), in: scope)
        == all.delta())
  }

  /// A connection that reports the begin of each transaction.
  private final class Telling: SQLConnection {
    let connection: SQLiteConnection
    let begins: AsyncStream<Void>.Continuation
    init(
      _ connection: SQLiteConnection,
      _ begins: AsyncStream<Void>.Continuation
    ) {
      (self.connection, self.begins) = (connection, begins)
    }
    var dialect: SQLDialect { .sqlite }
    var isIdle: Bool { connection.isIdle }
    func run(
      _ sql: String, _ values: [SQLValue],
      _ body: (any SQLRow) throws -> Void
    ) throws {
      if sql == "BEGIN IMMEDIATE" { begins.yield() }
      try connection.run(sql, values, body)
    }
  }

  @Test func cancelingStopsWaitForConnection() async throws {
    let (path, scope) = (self.path, self.scope)
    _ = try HubConnection(connect(.sqlite), makeDeviceID: DeviceID.random)
    let (stream, begins) = AsyncStream.makeStream(of: Void.self)
    let hub = try await Hub(connections: 1) {
      Telling(
        try SQLiteConnection(opening: path, timeout: .seconds(600)), begins)
    }
    let session = hub.makeSession { _ in }
    let other = try SQLiteConnection(opening: path)
    try other.run("BEGIN IMMEDIATE")
    let phone = replica(1)
    try write(phone, "1")
    let delta = try #require(phone.delta())
    // One request waits for the lock, one in its queue, one for the connection.
    let first = Task { try await session.apply(delta, in: scope) }
    for await _ in stream { break }
    let second = Task { try await session.apply(delta, in: scope) }
    let third = Task { try await session.version(of: scope) }
    second.cancel()
    third.cancel()
    await #expect(throws: StoreError.canceled) { _ = try await second.value }
    await #expect(throws: StoreError.canceled) { _ = try await third.value }
    try other.run("COMMIT")
    #expect(try await !first.value.hasFaults)
    #expect(
      try await session.delta(since: ReplicaVersion(), in: scope) == delta)
  }

  /// Changes of all scopes share the transactions of the single writer.
  @Test func scopesOfOneFileShareTransactions() async throws {
    let (path, scope) = (self.path, self.scope)
    _ = try HubConnection(connect(.sqlite), makeDeviceID: DeviceID.random)
    let (stream, begins) = AsyncStream.makeStream(of: Void.self)
    var limits = Hub.Limits()
    limits.bytesPerRecord = 5_000
    let hub = try await Hub(connections: 1, limits: limits) {
      Telling(
        try SQLiteConnection(opening: path, timeout: .seconds(600)), begins)
    }
    let session = hub.makeSession { _ in }
    let other = try SQLiteConnection(opening: path)
    try other.run("BEGIN IMMEDIATE")
    let large = replica(99)
    try large.save { transaction in
      transaction[Note.self, "1"].title = String(repeating: "x", count: 9_000)
    }
    let refused = try #require(large.delta())
    let deltas = try (1...40).map { number in
      let phone = replica(UInt64(number))
      try write(phone, "1")
      return try #require(phone.delta())
    }
    let first = Task { try await session.apply(deltas[0], in: "\(scope) 0") }
    for await _ in stream { break }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (i, delta) in deltas.enumerated().dropFirst() {
        group.addTask { try await session.apply(delta, in: "\(scope) \(i)") }
      }
      // Neither a large record nor a long name affects the transaction.
      group.addTask {
        await #expect(throws: StoreError.self) {
          try await session.apply(refused, in: "\(scope) 7")
        }
        await #expect(throws: StoreError.scopeNameTooLong(byteCount: 2_000)) {
          try await session.apply(
            refused, in: String(repeating: "x", count: 2_000))
        }
      }
      // The others must wait before the first one is written.
      while hub.writes.waitingCount < 40 {
        try await Task.sleep(for: .milliseconds(1))
      }
      try other.run("COMMIT")
      try await group.waitForAll()
    }
    _ = try await first.value
    begins.finish()
    #expect(await stream.reduce(0) { count, _ in count + 1 } == 1)
    for (i, delta) in deltas.enumerated() {
      #expect(
        try await session.delta(since: ReplicaVersion(), in: "\(scope) \(i)")
          == delta)
    }
  }

  /// The transaction is in progress, but the hub lacks the answer.
  @Test(arguments: Database.available)
  func lostAnswerToBeginLeavesNoTransaction(
    _ database: Database
  ) throws {
    let connection = CountingConnection(try connect(database))
    let hub = try HubConnection(connection, makeDeviceID: DeviceID.random)
    let phone = replica(1)
    try write(phone, "1")
    let delta = try #require(phone.delta())
    let begins = connection.statements.filter { $0.hasPrefix("BEGIN") }
    connection.lost = Set(
      begins + ["BEGIN IMMEDIATE", "BEGIN ISOLATION LEVEL READ COMMITTED"])
    for _ in 0..<2 {
      #expect(throws: StoreError.self) {
        try hub.apply(delta, in: self.scope)
      }
      #expect(throws: StoreError.self) { try hub.version(of: self.scope) }
      #expect(hub.isIdle)
    }
    connection.lost = []
    _ = try hub.apply(delta, in: scope)
    #expect(try hub.delta(since: ReplicaVersion(), in: scope) == delta)
  }

  @Test func hubReplacesConnectionInUnknownState() async throws {
    let (count, path, scope) = (Count(), self.path, self.scope)
    let hub = try await Hub(connections: 1) {
      count.add()
      let connection = try SQLiteConnection(opening: path)
      if count.value > 1 { return connection }
      return FailingConnection(connection) { sql in
        sql == "ROLLBACK" ? SQLError(.busy, "no answer") : nil
      }
    }
    let session = hub.makeSession { _ in }
    // The scope of a device makes the request fail.
    try open(path).write("Milk")
    await #expect(throws: StoreError.scopeBelongsToDevice) {
      try await session.version(of: "main")
    }
    #expect(try await session.version(of: scope) == ReplicaVersion())
    #expect(count.value == 2)
  }

  @Test func hubReopensLostConnection() async throws {
    guard Database.available.contains(.postgresql) else { return }
    let (path, scope) = (self.path, self.scope)
    let hub = try await Hub(connections: 4) {
      let connection = try Database.postgresql.connect(path)
      try connection.run("SET application_name = 'to be ended'")
      return connection
    }
    let session = hub.makeSession { _ in }
    let killer = try connect(.postgresql)
    let phone = replica(1)
    for i in 0..<20 {
      try write(phone, "\(i)")
      let held = try await session.version(of: scope)
      try killer.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
          + "WHERE application_name = 'to be ended'")
      try await session.apply(
        #require(phone.delta(since: held)), in: scope)
    }
    #expect(
      try await session.delta(since: ReplicaVersion(), in: scope)
        == phone.delta())
  }

  @Test func errorsReportWhetherRetryCanSucceed() async throws {
    guard let server = Database.server else { return }
    func code(_ parameters: String) -> SQLError.Code? {
      do {
        _ = try PostgreSQLConnection(parameters)
        return nil
      } catch { return error.code }
    }
    #expect(code("\(server) port=1") == .unavailable)
    #expect(code("\(server) dbname=none") == .cannotOpen)
    #expect(code("\(server) user=nobody_here") == .cannotOpen)
    #expect(code("no connection string") == .cannotOpen)
    let connection = try connect(.postgresql)
    try connection.run(
      "CREATE ROLE rejoin_few LOGIN CONNECTION LIMIT 0")
    #expect(code("\(server) user=rejoin_few") == .unavailable)
    try connection.run("DROP ROLE rejoin_few")

    func failure(_ statement: String) -> SQLError.Code? {
      do {
        _ = try connection.integer(statement)
        return nil
      } catch { return (error as? SQLError)?.code }
    }
    try connection.run("SET statement_timeout = 20")
    #expect(failure("SELECT pg_sleep(1)") == .limitExceeded)
    try connection.run("SET statement_timeout = 0")
    try connection.run("BEGIN")
    #expect(failure("SELECT nothing") == .other("42703"))
    // COMMIT would roll back and look like success.
    #expect(failure("COMMIT") == .other("25P02"))
    #expect(connection.isIdle)
    #expect(
      failure("SELECT 1; SELECT 2") == .other("42601"))
    // If a statement is sent with a later one, its error is thrown there, and
    // nothing is committed.
    try connection.run("BEGIN")
    try connection.run("SELECT nothing")
    try connection.run("SELECT 1")
    #expect(failure("COMMIT") == .other("42703"))
    try connection.run("ROLLBACK")
    #expect(connection.isIdle && failure("SELECT 1") == nil)
    try connection.run("BEGIN")
    try connection.run("SELECT nothing")
    try connection.run("ROLLBACK")
    #expect(connection.isIdle)
    // A waiting task can be canceled, and its connection is not reused.
    let task = Task {
      let connection = try PostgreSQLConnection(server)
      do {
        try connection.run("SELECT pg_sleep(3600)")
        return nil as (SQLError.Code, Bool)?
      } catch let error as SQLError {
        return (error.code, connection.isIdle)
      }
    }
    try await Task.sleep(for: .milliseconds(100))
    task.cancel()
    let canceled = try #require(try await task.value)
    #expect(canceled == (.canceled, false))
  }

  @Test func readingFromPostgreSQLReturnsWrittenValues() throws {
    guard Database.available.contains(.postgresql) else { return }
    let connection = try connect(.postgresql)
    let values: [SQLValue] = [
      .text("Bread\u{301}"), .double(1.5), .null, .integer(-7), .bytes([0, 1]),
    ]
    try connection.run(
      "SELECT $1, $2, $3, $4, $5, 1::smallint, 2.5::real, 'a'::varchar", values
    ) { row in
      #expect((0..<5).map { row.value($0) } == values)
      #expect(row.integer(5) == 1 && row.double(6) == 2.5)
      #expect(row.text(7) == "a")
    }
    #expect(throws: SQLError.self) { try connection.run("SELECT $1") }
    #expect(throws: SQLError.self) { try connection.run("SELECT 1\0") }
  }

  /// The same text, with values of other types and with question marks.
  @Test(arguments: Database.available, [false, true])
  func statementTextServesValuesOfDifferentTypes(
    _ database: Database, _ keepsStatements: Bool
  ) throws {
    let connection = try connect(database)
    if keepsStatements, let connection = connection as? PostgreSQLConnection {
      #expect(try connection.keepStatements())
    }
    let values: [SQLValue] = [
      .integer(7), .text("?"), .bytes([63]), .integer(-1), .null, .double(0.5),
    ]
    for value in values + values {
      try connection.run("SELECT $1, '?', '$2' -- ?", [value]) { row in
        #expect(row.value(0) == value)
        #expect(row.text(1) == "?" && row.text(2) == "$2")
      }
    }
  }

  /// A failed statement does not stop later ones with the same text.
  @Test func failedStatementIsPreparedAgain() throws {
    guard Database.available.contains(.postgresql) else { return }
    let connection = try #require(
      try connect(.postgresql) as? PostgreSQLConnection)
    #expect(try connection.keepStatements())
    let query = "SELECT count(*) FROM missing_\(UUID().uuidString.prefix(8))"
      .replacing("-", with: "_").lowercased()
    let table = try #require(query.split(separator: " ").last)
    for _ in 0..<2 {
      #expect(throws: SQLError.self) { try connection.integer(query) }
      #expect(throws: SQLError.self) {
        try connection.transaction {
          try connection.run("SELECT 1 FROM \(table)")
          try connection.run("SELECT 2::bigint")
          try connection.run("SELECT 3::bigint", []) { _ in }
        }
      }
    }
    try connection.run("CREATE TEMP TABLE \(table) (n bigint)")
    #expect(try connection.integer(query) == 0)
    try connection.transaction {
      try connection.run("SELECT 1 FROM \(table)")
      #expect(try connection.integer("SELECT 2::bigint") == 2)
      #expect(try connection.integer("SELECT 3::bigint") == 3)
    }
  }

  /// The server no longer has the statements that the connection prepared.
  @Test func lostStatementsArePreparedAgain() throws {
    guard Database.available.contains(.postgresql) else { return }
    let connection = try #require(
      try connect(.postgresql) as? PostgreSQLConnection)
    #expect(try connection.keepStatements())
    #expect(try connection.integer("SELECT 4::bigint") == 4)
    try connection.run("DEALLOCATE ALL", []) { _ in }
    #expect(throws: SQLError.self) {
      try connection.integer("SELECT 4::bigint")
    }
    #expect(try connection.integer("SELECT 4::bigint") == 4)
  }

  /// The connection does not wait for the end of a transaction that read, unless
  /// the transaction has unread answers.
  @Test func failedReadOnlyTransactionThrows() throws {
    guard Database.available.contains(.postgresql) else { return }
    let connection = try connect(.postgresql)
    #expect(throws: SQLError.self) {
      try connection.reading {
        try connection.run("SELECT 1 / $1::bigint", .integer(0))
      }
    }
    #expect(connection.isIdle)
    #expect(try connection.integer("SELECT 2::bigint") == 2)
  }

  /// A hub's connection waits for the disk even if the server would not.
  @Test func hubCommitsSynchronously() throws {
    guard let server = Database.server else { return }
    for (setting, expected) in [("off", "on"), ("local", "local")] {
      let connection = try PostgreSQLConnection(
        server + " options='-c synchronous_commit=\(setting)'")
      var found: [String?] = []
      func read() throws {
        try connection.run("SHOW synchronous_commit", []) {
          found.append($0.text(0))
        }
      }
      try read()
      let transactions = try HubTransactions(connection)
      try transactions.changing { try read() }
      #expect(found == [setting, expected])
    }
  }
}
