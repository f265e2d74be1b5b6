// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

// The transactions of a hub.
extension SQLConnection {
  /// Runs `body` in a transaction that reads one state of the database.
  func readingHub<Value>(_ body: () throws -> Value) throws -> Value {
    try reading {
      if dialect == .postgresql { try run("SELECT \(planning)") }
      return try body()
    }
  }

  /// Runs `body` in a transaction that changes scopes.
  ///
  /// In PostgreSQL, each statement must read what was committed before it, so
  /// that a statement after ``lock(_:)`` reads the latest state.
  func changingHub<Value>(_ body: () throws -> Value) throws -> Value {
    if dialect == .sqlite { return try changing(body) }
    return try transaction("BEGIN ISOLATION LEVEL READ COMMITTED") {
      // The default of a server can be to acknowledge commits that a crash
      // undoes. A stronger setting is kept.
      try run(
        "SELECT \(planning), set_config('synchronous_commit', "
          + "CASE c.s WHEN 'off' THEN 'on' ELSE c.s END, true) "
          + "FROM (SELECT current_setting('synchronous_commit') AS s) c")
      return try body()
    }
  }

  /// Calls that make PostgreSQL find all rows by an index in this transaction.
  ///
  /// Otherwise, statistics about the distribution of the rows, or the lack of
  /// them, could lead to a scan of a table.
  private var planning: String {
    ["seqscan", "bitmapscan", "sort"].map {
      "set_config('enable_\($0)', 'off', true)"
    }.joined(separator: ", ")
  }

  /// Locks the name of a hub's scope until the end of the transaction.
  ///
  /// Other transactions that change the scope wait. The scope need not exist.
  /// Unlike the lock of a row, this lock is not written, so a request without
  /// changes needs no sync.
  func lock(_ name: [UInt8]) throws {
    // In SQLite, a writing transaction locks the file already.
    if dialect == .sqlite { return }
    // Names with the same number wait for each other, which does no harm.
    let number = name.withUnsafeBytes { Int64(WireChecksum.of($0)) }
    try run(
      "SELECT pg_advisory_xact_lock($1)", .integer(0x7265_6a6f << 32 | number))
  }
}
