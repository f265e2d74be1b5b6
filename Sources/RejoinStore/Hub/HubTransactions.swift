// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// The transactions of a hub on one connection.
struct HubTransactions {
  let connection: any SQLConnection
  /// Whether to set the settings in each transaction.
  private let setsInTransactions: Bool

  /// Creates the transactions and, if possible, sets the settings of the
  /// session.
  init(_ connection: any SQLConnection) throws {
    self.connection = connection
    let hasSession =
      try (connection as? PostgreSQLConnection)?.keepStatements() ?? false
    setsInTransactions = connection.dialect == .postgresql && !hasSession
    if hasSession { try set(untilCommit: false) }
    // Overwrite deleted content instead of leaving it in free pages.
    if connection.dialect == .sqlite {
      try connection.run("PRAGMA secure_delete = 1")
    }
  }

  /// Runs `body` in a transaction that reads one state of the database.
  func reading<Value>(_ body: () throws -> Value) throws -> Value {
    try connection.reading {
      if setsInTransactions { try set(untilCommit: true) }
      return try body()
    }
  }

  /// Runs `body` in a transaction that changes scopes.
  ///
  /// In PostgreSQL, each statement reads what was committed before it, so a
  /// statement after ``lock(_:)`` reads the latest state.
  func changing<Value>(_ body: () throws -> Value) throws -> Value {
    if connection.dialect == .sqlite { return try connection.changing(body) }
    do {
      return try connection.transaction("BEGIN ISOLATION LEVEL READ COMMITTED")
      {
        if setsInTransactions { try set(untilCommit: true) }
        return try body()
      }
    } catch let error as SQLError
      where error.code == .limitExceeded
      && error.message.hasSuffix("(\(HubTransactions.lock))")
    {
      // The limit of a statement's time includes the wait for the lock.
      throw SQLError(.busy, error.message)
    }
  }

  /// Sets the settings of PostgreSQL.
  ///
  /// - The server must find all rows by an index. Otherwise, statistics about
  ///   the distribution of the rows, or the lack of them, could lead to a scan
  ///   of a table.
  /// - The disabled steps make some plans look expensive, but compiling them
  ///   would take longer than executing them.
  /// - A plan is then independent of the values and can be reused.
  /// - A server can be set to acknowledge commits that a crash undoes. A
  ///   stronger setting than `on` is kept.
  private func set(untilCommit isLocal: Bool) throws {
    let settings = [
      ("enable_seqscan", "'off'"), ("enable_bitmapscan", "'off'"),
      ("enable_sort", "'off'"), ("jit", "'off'"),
      ("plan_cache_mode", "'force_generic_plan'"),
      ("synchronous_commit", "CASE c.s WHEN 'off' THEN 'on' ELSE c.s END"),
    ]
    let calls = settings.map { "set_config('\($0)', \($1), \(isLocal))" }
    try connection.run(
      "SELECT \(calls.joined(separator: ", ")) "
        + "FROM (SELECT current_setting('synchronous_commit') AS s) c")
  }

  /// Locks the name of a scope until the end of the transaction.
  ///
  /// Other transactions that change the scope wait. The scope need not exist.
  /// Unlike the lock of a row, this lock is not written, so a request without
  /// changes needs no sync.
  func lock(_ name: [UInt8]) throws {
    // In SQLite, a writing transaction locks the file already.
    if connection.dialect == .sqlite { return }
    // Names with the same number wait for each other, which does no harm.
    let number = name.withUnsafeBytes { Int64(WireChecksum.of($0)) }
    try connection.run(
      HubTransactions.lock, .integer(0x7265_6a6f << 32 | number))
  }

  private static let lock = "SELECT pg_advisory_xact_lock($1)"
}
