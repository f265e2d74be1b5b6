// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import Testing

@testable import RejoinStore

/// Connections to servers that are silent, refuse or fail.
@Suite(.enabled(if: PostgreSQLStandIn.hasClient))
struct PostgreSQLConnectionTests {
  private typealias Failure = PostgreSQLStandIn.Failure

  private static func error(_ body: () throws -> Any) -> SQLError? {
    do {
      _ = try body()
      return nil
    } catch { return error as? SQLError }
  }

  private static func code(_ body: () throws -> Any) -> SQLError.Code? {
    error(body)?.code
  }

  /// Starts a call that blocks, on its own thread.
  private static func block(
    _ call: @escaping @Sendable () throws -> SQLError.Code?
  ) -> Task<SQLError.Code?, any Error> {
    Task { try await QueueWorker(SerialQueue("test")).run { try call() } }
  }

  enum Statement: CaseIterable {
    case short, large, commit, rollback

    func run(on connection: PostgreSQLConnection) throws {
      switch self {
      case .short: try connection.run("SELECT 1")
      case .large:
        // The buffers between the processes are smaller.
        let bytes = [UInt8](repeating: 7, count: 50_000_000)
        try connection.run("SELECT length($1)", .bytes(bytes))
      case .commit: try connection.run("COMMIT")
      case .rollback: try connection.run("ROLLBACK")
      }
    }
  }

  @Test(arguments: Statement.allCases)
  func silentServerCountsAsDisconnected(_ statement: Statement) throws {
    let server = try PostgreSQLStandIn(.silentLater)
    defer { server.stop() }
    let connection = try PostgreSQLConnection(
      server.parameters, answerTimeout: .milliseconds(300))
    #expect(connection.isIdle)
    #expect(Self.code { try statement.run(on: connection) } == .disconnected)
    #expect(!connection.isIdle)
    // The next statement does not wait: it reports the same silence.
    let next = try #require(Self.error { try connection.run("ROLLBACK") })
    #expect(next.code == .disconnected)
    #expect(next.message.contains("no answer before (ROLLBACK)"))
  }

  @Test(arguments: [Statement.short, .large])
  func canceledTaskStopsWaitingForSilentServer(
    _ statement: Statement
  ) async throws {
    let server = try PostgreSQLStandIn(.silentLater)
    defer { server.stop() }
    // Only the task uses it until the task ends.
    nonisolated(unsafe) let connection = try PostgreSQLConnection(
      server.parameters, answerTimeout: .seconds(3600))
    let task = Self.block {
      Self.code { try statement.run(on: connection) }
    }
    try await Task.sleep(for: .milliseconds(200))
    task.cancel()
    #expect(try await task.value == .canceled)
    #expect(!connection.isIdle)
  }

  /// A server that sends data is not silent.
  @Test func everyNoticeExtendsWait() throws {
    let server = try PostgreSQLStandIn(
      .failing(Failure(state: "42P01", text: ""), notices: 8))
    defer { server.stop() }
    let connection = try PostgreSQLConnection(
      server.parameters, answerTimeout: .seconds(4))
    let code = Self.code { try connection.run("SELECT 1") }
    #expect(code == .other("42P01"))
  }

  /// The end arrives as the answer to the sync of a commit that was not awaited.
  @Test func endOfSessionAfterReadingIsDisconnection() throws {
    let server = try PostgreSQLStandIn(
      .ending(Failure(state: "57P01", text: "terminating connection")))
    defer { server.stop() }
    let connection = try PostgreSQLConnection(server.parameters)
    try connection.run("BEGIN READ ONLY")
    try connection.run("SELECT 1", []) { _ in }
    try connection.run("COMMIT")
    try connection.run("BEGIN")
    let error = Self.error { try connection.run("SELECT 2", []) { _ in } }
    #expect(error?.code == .disconnected)
    #expect(error?.message.contains("terminating connection") == true)
    #expect(!connection.isIdle)
  }

  @Test func connectingToSilentServerEnds() async throws {
    let server = try PostgreSQLStandIn(.silent)
    defer { server.stop() }
    let code = Self.code {
      try PostgreSQLConnection(server.parameters, timeout: .milliseconds(300))
    }
    #expect(code == .unavailable)
    let task = Self.block {
      Self.code {
        try PostgreSQLConnection(server.parameters, timeout: .seconds(3600))
      }
    }
    try await Task.sleep(for: .milliseconds(200))
    task.cancel()
    #expect(try await task.value == .canceled)
  }

  @Test func lateConnectionIsClosed() async throws {
    let server = try PostgreSQLStandIn(
      .failing(Failure(state: "42601", text: "")), isAnswering: false)
    defer { server.stop() }
    let code = Self.code {
      try PostgreSQLConnection(server.parameters, timeout: .milliseconds(300))
    }
    #expect(code == .unavailable)
    server.answer()
    while server.closed == 0 { try await Task.sleep(for: .milliseconds(20)) }
  }

  /// - Parameter limit: The time for each host, or an empty text.
  @Test(arguments: ["", "connect_timeout=2", "connect_timeout=0"])
  func silentHostIsFollowedByNextOne(_ limit: String) throws {
    let silent = try PostgreSQLStandIn(.silent)
    defer { silent.stop() }
    let other = try PostgreSQLStandIn(
      .refusing(Failure(state: "3D000", text: "the other host answered")))
    defer { other.stop() }
    let error = try #require(
      Self.error {
        try PostgreSQLConnection(
          "\(silent.parameters) host=127.0.0.1,127.0.0.1 "
            + "port=\(silent.port),\(other.port) \(limit)",
          // Without a limit, each host has half of the time.
          timeout: .seconds(limit == "connect_timeout=2" ? 3600 : 6))
      })
    #expect(error.message.contains("the other host answered"))
    #expect(error.code == .cannotOpen)
  }

  @Test(arguments: [
    "host=127.0.0.1 password=hunter2 hunter3 dbname=x",
    "host=127.0.0.1 password='hunter2", "password=hunter2\0 dbname=x",
    "hunter2", "postgresql://u:hunter2%zz@127.0.0.1/x",
    "postgresql://u:hunter2@127.0.0.1:port/x", "postgresql://u:hunter2",
    "postgresql://u:hunter2@[127.0.0.1/x", "postgres://u:hunter2/x",
    "postgresql://u:pass@hunter2@127.0.0.1/x",
    "postgresql://u:1/hunter2@127.0.0.1/x",
    "host=127.0.0.1 dbname=postgresql://u:hunter2@h/x",
    "host=127.0.0.1 dbname=x;password=hunter2",
    "postgresql://127.0.0.1/x&password=hunter2",
    "host=127.0.0.1 user='u password=hunter2'",
    "postgresql://u:pass?hunter2@127.0.0.1@/x",
  ])
  func errorDoesNotShowUnclearString(_ string: String) throws {
    let error = try #require(Self.error { try PostgreSQLConnection(string) })
    #expect(error.code == .cannotOpen)
    #expect(!"\(error)".contains("hunter"), "\(error)")
  }

  /// Each string reaches the server, whose error does not show the password.
  @Test func clearStringReachesServer() throws {
    let server = try PostgreSQLStandIn(
      .refusing(Failure(state: "28P01", text: "wrong password")))
    defer { server.stop() }
    let address = "127.0.0.1:\(server.port)"
    let end = "sslmode=disable&gssencmode=disable"
    for string in [
      server.parameters, "\(server.parameters) password='hun@ter 2'",
      "postgresql://ada:hunter%402@\(address)/notes?\(end)",
      "postgres://ada:hunter?2@\(address)/notes?\(end)",
      "postgresql://\(address)/notes?user=a@b&password=hunter@2&\(end)",
    ] {
      let error = try #require(Self.error { try PostgreSQLConnection(string) })
      #expect(error.message.contains("28P01: wrong password"), "\(error)")
      #expect(!error.message.contains("hunter"))
    }
  }

  /// A wrong setting is not a server that may answer later.
  @Test func wrongSettingCannotOpen() {
    let code = Self.code { try PostgreSQLConnection("host=/none sslmode=some") }
    #expect(code == .cannotOpen)
    let other = Self.code { try PostgreSQLConnection("host=/none") }
    #expect(other == .unavailable)
  }

  /// The errors of a server as a user of a hub sees them.
  @Test(arguments: [
    (
      "28P01", "password authentication failed for user \"ada\"",
      "The store could not be opened (PostgreSQL: SERVER failed: FATAL:  28P01: "
        + "password authentication failed for user \"ada\"). Check the server, "
        + "database, role and password of the connection string."
    ),
    (
      "28000", "role \"ada\" does not exist",
      "The store could not be opened (PostgreSQL: SERVER failed: FATAL:  28000: "
        + "role \"ada\" does not exist). Check the server, database, role and "
        + "password of the connection string."
    ),
    (
      "3D000", "database \"notes\" does not exist",
      "The store could not be opened (PostgreSQL: SERVER failed: FATAL:  3D000: "
        + "database \"notes\" does not exist). Check the server, database, role "
        + "and password of the connection string."
    ),
    (
      "53300", "sorry, too many clients already",
      "The database server could not be reached, and nothing has changed "
        + "(PostgreSQL: SERVER failed: FATAL:  53300: sorry, too many clients "
        + "already). Check that the server runs and has a free connection, and "
        + "try again."
    ),
    (
      "57P03", "the database system is starting up",
      "The database server could not be reached, and nothing has changed "
        + "(PostgreSQL: SERVER failed: FATAL:  57P03: the database system is "
        + "starting up). Check that the server runs and has a free connection, "
        + "and try again."
    ),
  ])
  func refusalNamesRemedy(
    _ state: String, _ text: String, _ message: String
  ) throws {
    let server = try PostgreSQLStandIn(
      .refusing(Failure(state: state, text: text)))
    defer { server.stop() }
    let error = try #require(
      Self.error { try PostgreSQLConnection(server.parameters) })
    let address =
      "connection to server at \"127.0.0.1\", port \(server.port)"
    #expect(
      "\(StoreError(opening: error))".replacing(address, with: "SERVER")
        .replacing(" )", with: ")") == message)
  }

  @Test(arguments: [
    (
      "42501", "permission denied for table rejoin_scope",
      "The change could not be written and was undone (PostgreSQL: ERROR:  "
        + "permission denied for table rejoin_scope (DELETE)). Grant the role "
        + "the missing right."
    ),
    (
      "25006", "cannot execute DELETE in a read-only transaction",
      "The store cannot be written, and nothing has changed (PostgreSQL: "
        + "ERROR:  cannot execute DELETE in a read-only transaction (DELETE)). "
        + "Connect to a server that accepts writes."
    ),
    (
      "53100", "could not extend file",
      "The change could not be written and was undone (PostgreSQL: ERROR:  "
        + "could not extend file (DELETE)). Free space on the server's disk."
    ),
    (
      "55P03", "canceling statement due to lock timeout",
      "The store is locked by another connection, and nothing has changed "
        + "(PostgreSQL: ERROR:  canceling statement due to lock timeout "
        + "(DELETE)). Try again."
    ),
    (
      "58030", "could not read block",
      "The change could not be written and was undone (PostgreSQL: ERROR:  "
        + "could not read block (DELETE)). Check the server's disk."
    ),
    (
      "42P01", "relation does not exist",
      "The change could not be written and was undone (PostgreSQL: ERROR:  "
        + "relation does not exist (DELETE)). See code 42P01 in the database's "
        + "manual."
    ),
  ])
  func failureNamesRemedy(
    _ state: String, _ text: String, _ message: String
  ) throws {
    let server = try PostgreSQLStandIn(
      .failing(Failure(state: state, text: text)))
    defer { server.stop() }
    let connection = try PostgreSQLConnection(server.parameters)
    let error = try #require(Self.error { try connection.run("DELETE") })
    #expect(
      "\(StoreError(writing: error))".replacing("  (DELETE)", with: " (DELETE)")
        == message)
  }
}
