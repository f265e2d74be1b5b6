// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing

@testable import Rejoin
@testable import RejoinSQL
@testable import RejoinStore

/// Failures of the database while many requests wait.
@Suite final class HubFailureTests: HubSuite {
  /// A database with failures, whose connections can be counted.
  private final class Server: Sendable {
    private struct State {
      var isUp = true
      var connections = 0
      var commits = 0
      var scopes: [Int] = []
      var standby: Int?
    }

    private let path: String
    private let state = Locked(State())
    /// A closure that returns the error of a commit, from the number of the
    /// commit and the names of the scopes that its transaction reads.
    private let failure: @Sendable (Int, Set<String>) -> SQLError?
    /// Whether a failed commit takes effect.
    private let commits: Bool
    /// A closure that each attempt to connect calls first.
    private let waits: @Sendable () -> Void

    init(
      _ path: String, commits: Bool = false,
      waiting waits: @escaping @Sendable () -> Void = {},
      failing failure: @escaping @Sendable (Int, Set<String>) -> SQLError? = {
        _, _ in nil
      }
    ) {
      (self.path, self.commits) = (path, commits)
      (self.waits, self.failure) = (waits, failure)
    }

    var connections: Int { state.withLock { $0.connections } }
    /// The number of scopes in each transaction that changed some.
    var scopes: [Int] { state.withLock { $0.scopes } }
    func setUp(_ isUp: Bool) { state.withLock { $0.isUp = isUp } }
    /// The number of the connection that claims to be one to PostgreSQL.
    var standby: Int? {
      get { state.withLock { $0.standby } }
      set { state.withLock { $0.standby = newValue } }
    }

    func connect() throws -> any SQLConnection {
      waits()
      let (isUp, number) = state.withLock { state in
        state.connections += 1
        return (state.isUp, state.connections)
      }
      guard isUp else { throw SQLError(.unavailable, "refused") }
      return Connection(try Database.sqlite.connect(path), self, number)
    }

    fileprivate func commit(
      _ connection: any SQLConnection, _ names: Set<String>
    ) throws {
      let number = state.withLock { state in
        state.commits += 1
        state.scopes.append(names.count)
        return state.commits
      }
      guard let error = failure(number, names) else {
        return try connection.run("COMMIT")
      }
      try connection.run(commits ? "COMMIT" : "ROLLBACK")
      throw error
    }
  }

  private final class Connection: SQLConnection {
    private let connection: any SQLConnection
    private let server: Server
    private let number: Int
    private var writes = false
    private var names: Set<String> = []

    init(_ connection: any SQLConnection, _ server: Server, _ number: Int) {
      (self.connection, self.server) = (connection, server)
      self.number = number
    }

    var dialect: SQLDialect {
      server.standby == number ? .postgresql : .sqlite
    }
    var isIdle: Bool { connection.isIdle }

    func run(
      _ sql: String, _ values: [SQLValue], _ body: (any SQLRow) throws -> Void
    ) throws {
      if sql.hasPrefix("BEGIN") {
        (writes, names) = (sql == "BEGIN IMMEDIATE", [])
      }
      if case .bytes(let name) = values.first, sql.hasPrefix("SELECT") {
        names.insert(String(decoding: name, as: UTF8.self))
      }
      if sql == "COMMIT", writes, !names.isEmpty {
        return try server.commit(connection, names)
      }
      try connection.run(sql, values, body)
    }
  }

  private func pool(
    _ server: Server, connections: Int = 1, patience: Duration
  ) -> HubPool {
    HubPool(
      connections: connections, limits: Hub.Limits(), patience: patience,
      { try server.connect() }, makeDeviceID: DeviceID.random)
  }

  private func join(_ number: Int) throws -> HubChange {
    let phone = replica(UInt64(number))
    try write(phone, "1")
    return .join(try #require(phone.delta())) { _ in }
  }

  /// Blocks a thread until a condition holds.
  private static func block(until condition: () -> Bool) {
    while !condition() { Thread.sleep(forTimeInterval: 0.001) }
  }

  /// Requests that wait while another one cannot connect get its error.
  ///
  /// Otherwise, each of them would wait for attempts of its own.
  @Test func outageEndsWaitingRequestsTogether() async throws {
    let (pools, isFirst) = (Locked<HubPool?>(nil), Locked(true))
    let server = Server(path) {
      let waits = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      if waits { Self.block { pools.withLock { $0?.waitingCount } == 15 } }
    }
    server.setUp(false)
    let pool = pool(server, patience: .zero)
    pools.withLock { $0 = pool }
    let scope = scope
    try await withThrowingTaskGroup(of: StoreError?.self) { group in
      for _ in 0..<16 {
        group.addTask {
          await storeError { try await pool.run { try $0.version(of: scope) } }
        }
      }
      for try await error in group {
        #expect(error == .unavailable(SQLError(.unavailable, "refused")))
      }
    }
    #expect(server.connections == 1)
  }

  /// Many changes wait in one queue, and none fails because of an earlier one.
  @Test func changesWaitSeparatelyInOutage() async throws {
    let server = Server(path)
    server.setUp(false)
    let patience = Duration.seconds(2)
    let changes = HubWriteQueue(
      pool(server, patience: patience), hasOneWriter: true)
    let (scope, joins) = (scope, try (1...5).map(join))
    try await withThrowingTaskGroup(of: (StoreError?, Duration).self) { group in
      for change in joins {
        group.addTask {
          let start = ContinuousClock.now
          let error = await storeError {
            try await changes.make(change, in: scope)
          }
          return (error, .now - start)
        }
        try await Task.sleep(for: .milliseconds(300))
      }
      for try await (error, time) in group {
        #expect(error == .unavailable(SQLError(.unavailable, "refused")))
        // A slow machine can only make it longer.
        #expect(time >= patience)
      }
    }
  }

  /// A request waits for a busy connection, and then the connection is lost.
  @Test func waitWithoutOutageDoesNotShortenRetries() async throws {
    let server = Server(
      path,
      failing: { number, _ in
        number == 1 ? SQLError(.disconnected, "reset") : nil
      })
    let pool = pool(server, patience: .milliseconds(200))
    let changes = HubWriteQueue(pool, hasOneWriter: true)
    let (scope, change) = (scope, try join(1))
    let slow = Task {
      try await pool.run { _ in Thread.sleep(forTimeInterval: 0.5) }
    }
    while server.connections == 0 { await Task.yield() }
    #expect(try await changes.make(change, in: scope).hasAdvanced)
    try await slow.value
  }

  /// Makes changes of scopes with the given names, which wait together.
  private func changeTogether(
    _ names: [String],
    _ failure: @escaping @Sendable (Int, Set<String>) -> SQLError?
  ) async throws -> (errors: [String: StoreError?], server: Server) {
    let all = Locked<HubWriteQueue?>(nil)
    let server = Server(
      path,
      waiting: {
        Self.block { all.withLock { $0?.waitingCount } == names.count }
      }, failing: failure)
    let changes = HubWriteQueue(
      pool(server, patience: .seconds(60)), hasOneWriter: true)
    all.withLock { $0 = changes }
    var errors: [String: StoreError?] = [:]
    let joins = try names.indices.map { try join($0 + 1) }
    await withTaskGroup(of: (String, StoreError?).self) { group in
      for (name, change) in zip(names, joins) {
        group.addTask {
          (name, await storeError { try await changes.make(change, in: name) })
        }
      }
      for await (name, error) in group { errors[name] = .some(error) }
    }
    return (errors, server)
  }

  /// A request that exceeds a limit of the server fails alone, and only once.
  @Test func requestAboveServerLimitFailsAlone() async throws {
    let names = (0..<8).map { "\(scope) \($0)" }
    let limit = SQLError(.limitExceeded, "statement timeout")
    let (errors, server) = try await changeTogether(names) { _, scopes in
      scopes.contains(names[2]) ? limit : nil
    }
    for name in names {
      #expect(
        errors[name] == (name == names[2] ? .limitExceeded(limit) : .some(nil)))
    }
    #expect(server.scopes.sorted() == [1, 1, 2, 2, 4, 4, 8])
    #expect(server.connections == 1)
    for name in names where name != names[2] {
      #expect(try !hub(.sqlite).version(of: name).vectorClock.isEmpty)
    }
  }

  /// A connection that is lost in a transaction of several requests.
  @Test func lostConnectionDividesRequests() async throws {
    let names = (0..<4).map { "\(scope) \($0)" }
    let (errors, server) = try await changeTogether(names) { number, _ in
      number == 1 ? SQLError(.disconnected, "reset") : nil
    }
    #expect(errors.values.allSatisfy { $0 == nil })
    #expect(server.scopes == [4, 2, 2])
  }

  /// The requests of a divided transaction are tried once more.
  @Test func requestThatLosesConnectionFailsAlone() async throws {
    let names = (0..<4).map { "\(scope) \($0)" }
    let lost = SQLError(.disconnected, "reset")
    let (errors, server) = try await changeTogether(names) { _, scopes in
      scopes.contains(names[2]) ? lost : nil
    }
    for name in names {
      #expect(
        errors[name] == (name == names[2] ? .disconnected(lost) : .some(nil)))
    }
    #expect(server.scopes.sorted() == [1, 1, 2, 2, 4])
  }

  /// A change that may be saved does not end with an error that denies it.
  @Test(arguments: [SQLError.Code.unavailable, .busy, .full])
  func failureAfterLostAnswerIsDisconnection(
    _ code: SQLError.Code
  ) async throws {
    let server = Server(
      path, commits: true,
      failing: { number, _ in
        number == 1
          ? SQLError(.disconnected, "lost") : SQLError(code, "a later failure")
      })
    let pool = pool(server, patience: .seconds(5))
    let changes = HubWriteQueue(pool, hasOneWriter: true)
    await #expect {
      try await changes.make(join(1), in: "1")
    } throws: { error in
      guard case StoreError.disconnected(let error) = error else {
        return false
      }
      return error.message.contains("a later failure")
    }
  }

  /// Canceling all requests of a transaction ends its retries.
  @Test func canceledTransactionEnds() async throws {
    let started = Locked(false)
    let server = Server(
      path,
      failing: { _, _ in
        started.withLock { $0 = true }
        return SQLError(.busy, "locked")
      })
    let pool = pool(server, patience: .seconds(100_000))
    let changes = HubWriteQueue(pool, hasOneWriter: true)
    let change = try join(1)
    let task = Task { try await changes.make(change, in: "1") }
    while !started.withLock({ $0 }) { await Task.yield() }
    task.cancel()
    await #expect(throws: StoreError.canceled) { try await task.value }
  }

  /// A lock concerns all requests, so they stay together.
  @Test func lockDoesNotDivideRequests() async throws {
    let names = (0..<4).map { "\(scope) \($0)" }
    let (errors, server) = try await changeTogether(names) { number, _ in
      number <= 2 ? SQLError(.busy, "locked") : nil
    }
    #expect(errors.values.allSatisfy { $0 == nil })
    #expect(server.scopes == [4, 4, 4])
  }

  /// The database commits, and the hub does not receive the answer.
  @Test func reportContainsAttemptWithLostAnswer() async throws {
    // Two replicas with one device ID, and a third one.
    let (phone, clone, tablet) = (replica(1), replica(1), replica(2))
    try write(phone, "1", "2")
    try write(clone, "3")
    try write(tablet, "4")
    let (first, second, third) = (
      try #require(phone.delta()), try #require(clone.delta()),
      try #require(tablet.delta())
    )
    let expected = try hub(.sqlite)
    _ = try expected.apply(first, in: "expected")
    let report = try expected.apply(second, in: "expected")
    #expect(report.hasFaults)

    let server = Server(
      path, commits: true,
      failing: { number, _ in
        number % 2 == 0 ? SQLError(.disconnected, "reset") : nil
      })
    let changes = HubWriteQueue(
      pool(server, patience: .seconds(60)), hasOneWriter: true)
    func apply(_ delta: Delta) async throws -> MergeReport {
      try await changes.make(.join(delta) { _ in }, in: scope)
    }
    #expect(try await apply(first).hasAdvanced)
    let found = try await apply(second)
    #expect(found.hasAdvanced)
    #expect(found.forkedDevices == report.forkedDevices)
    #expect(found.equivocations == report.equivocations)
    #expect(found.gaps == report.gaps)
    // Commits 2 and 3 were for the second delta.
    #expect(try await !apply(second).hasAdvanced)
    _ = try await changes.make(
      .recordVersion(tablet.version, of: tablet.device), in: scope)
    #expect(try await apply(third).hasAdvanced)
    #expect(try await !apply(third).hasAdvanced)
    let before = tablet.version
    try write(tablet, "5")
    let missing = tablet.version
    try write(tablet, "6")
    #expect(before != missing)
    let gap = try await apply(#require(tablet.delta(since: missing)))
    #expect(gap.gaps.count == 1)
  }

  /// A transaction that was rolled back advanced nothing.
  @Test func reportOmitsRolledBackAttempt() async throws {
    let path = path
    let phone = replica(1)
    try write(phone, "1")
    let (scope, delta) = (scope, try #require(phone.delta()))
    // Before the second attempt, another hub receives the same delta.
    let server = Server(
      path,
      failing: { number, _ in
        number == 1 ? SQLError(.busy, "locked") : nil
      })
    let pool = pool(server, patience: .seconds(60))
    let count = Locked(0)
    let reports = Locked([MergeReport()])
    let results = try await pool.run { scopes in
      let attempt = count.withLock { count in
        count += 1
        return count
      }
      if attempt == 2 {
        let other = try HubConnection(
          Database.sqlite.connect(path), makeDeviceID: DeviceID.random)
        _ = try other.apply(delta, in: scope)
      }
      return try reports.withLock {
        try scopes.make([(scope, .join(delta) { _ in })], adding: &$0)
      }
    }
    #expect(try results.map { try $0.get().hasAdvanced } == [false])
    #expect(count.withLock { $0 } == 2)
  }

  /// A session of a server that became a standby does not accept changes.
  @Test func readOnlySessionIsReplaced() async throws {
    let server = Server(path)
    let pool = pool(server, patience: .seconds(60))
    let failure = StoreError.readOnly(SQLError(.readOnly, "standby"))
    let connection = try await pool.run { _ in
      if server.connections == 1 {
        server.standby = 1
        throw failure
      }
      return server.connections
    }
    #expect(connection == 2)
    // The file of SQLite stays read-only.
    let error = await storeError { try await pool.run { _ in throw failure } }
    #expect(error == failure && server.connections == 2)
  }

  @Test func readOnlySessionOfPostgreSQLIsReplaced() async throws {
    guard Database.available.contains(.postgresql) else { return }
    let (count, path) = (Locked(0), path)
    _ = try hub(.postgresql)
    let pool = HubPool(
      connections: 1, limits: Hub.Limits(), patience: .seconds(100_000),
      {
        let connection = try Database.postgresql.connect(path)
        let number = count.withLock { count in
          count += 1
          return count
        }
        if number == 1 {
          try connection.run("SET default_transaction_read_only = on")
        }
        return connection
      }, makeDeviceID: DeviceID.random)
    let (scope, change) = (scope, try join(1))
    let report = try await pool.run { try $0.make(change, in: scope) }
    #expect(report.hasAdvanced && count.withLock { $0 } == 2)
  }

  /// The limit of a statement's time includes the wait for a scope.
  @Test func waitForLockedScopeIsRepeated() async throws {
    guard let server = Database.server else { return }
    let hub = try await Hub(connections: 1) {
      try PostgreSQLConnection(server + " options='-c statement_timeout=200'")
    }
    let session = hub.makeSession { _ in }
    let (other, scope) = (try connect(.postgresql), scope)
    let transactions = try HubTransactions(other)
    let phone = replica(1)
    try write(phone, "1")
    let delta = try #require(phone.delta())
    try other.run("BEGIN")
    try transactions.lock(Array(scope.utf8))
    _ = try other.integer("SELECT 1::bigint")
    let task = Task { try await session.apply(delta, in: scope) }
    try await Task.sleep(for: .milliseconds(800))
    try other.run("COMMIT")
    #expect(try await task.value.hasAdvanced)
  }

  /// A request that exceeds the limit of a statement's time ends.
  @Test func slowStatementIsNotRepeated() async throws {
    guard Database.available.contains(.postgresql) else { return }
    let (path, count) = (path, Locked(0))
    let pool = HubPool(
      connections: 1, limits: Hub.Limits(),
      { try Database.postgresql.connect(path) }, makeDeviceID: DeviceID.random)
    let error = await storeError {
      try await pool.run { _ in
        count.withLock { $0 += 1 }
        let connection = try Database.postgresql.connect(path)
        do {
          try connection.run("SET statement_timeout = 20")
          _ = try connection.integer("SELECT 1::bigint FROM pg_sleep(60)")
        } catch { throw StoreError(writing: error) }
      }
    }
    guard case .limitExceeded = error else {
      Issue.record("\(error as Any)")
      return
    }
    #expect(count.withLock { $0 } == 1)
    #expect("\(error as Any)".contains("statement timeout"))
  }

  /// Two clients send large deltas, and four clients send small ones.
  @Test func largeDeltasAlternateWithSmallOnes() async throws {
    let server = Server(path)
    let changes = HubWriteQueue(
      pool(server, patience: .seconds(60)), hasOneWriter: true)
    let scope = scope
    let expected = replica(99)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 1...6 {
        let member = replica(UInt64(number))
        var deltas: [Delta] = []
        for round in 1...4 {
          let before = member.version
          try member.save { transaction in
            for i in 0..<(number > 2 ? 1 : 501) {
              transaction[Note.self, "\(i)"].title = "\(number) \(round)"
            }
          }
          deltas.append(try #require(member.delta(since: before)))
        }
        expected.merge(member)
        group.addTask { [deltas] in
          for delta in deltas {
            let report = try await changes.make(
              .join(delta) { _ in }, in: scope)
            #expect(report.hasAdvanced)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(changes.waitingCount == 0)
    #expect(
      try hub(.sqlite).delta(since: ReplicaVersion(), in: scope)
        == expected.delta())
  }
}

/// Returns the error that a closure throws.
private func storeError(
  _ body: () async throws -> some Any
) async -> StoreError? {
  do {
    _ = try await body()
    return nil
  } catch { return error as? StoreError }
}
