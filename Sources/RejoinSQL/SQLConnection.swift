// SPDX-License-Identifier: Apache-2.0

/// A connection to a database, used by one owner at a time.
///
/// The module provides ``SQLiteConnection`` and ``PostgreSQLConnection``. To
/// share a connection with other database code, conform the connection type of
/// that code to this protocol.
public protocol SQLConnection: AnyObject {
  /// The SQL dialect of the database.
  var dialect: SQLDialect { get }

  /// Whether the connection can begin a transaction.
  ///
  /// It can if it is open and has no transaction in progress.
  var isIdle: Bool { get }

  /// Runs one statement and calls `body` with each row of the result.
  ///
  /// A connection may keep its prepared statements. To reuse a statement, pass
  /// the same text with other values.
  ///
  /// If the calling task is canceled while the statement waits for a lock or
  /// for the server, the statement has no effect. The error then has the code
  /// ``SQLError/Code/canceled``. Cancellation does not stop `COMMIT` and
  /// `ROLLBACK`.
  ///
  /// - Parameters:
  ///   - sql: The statement, with `$1`, `$2` and so on for the values, which must
  ///     first occur in this order. Both databases accept this form.
  ///   - values: The values of `$1`, `$2` and so on.
  ///   - body: A closure that reads a row. The row is valid only during the
  ///     call.
  /// - Throws: ``SQLError``, or the error that `body` throws.
  func run(
    _ sql: String, _ values: [SQLValue], _ body: (any SQLRow) throws -> Void
  ) throws

  /// Runs one statement without reading its rows.
  ///
  /// Within a transaction, a connection may send the statement together with
  /// the next one, and throw its error there. It must send `COMMIT` and
  /// `ROLLBACK` immediately. The default implementation sends every statement
  /// immediately.
  ///
  /// - Parameters:
  ///   - sql: The statement, with `$1`, `$2` and so on for the values, which must
  ///     first occur in this order. Both databases accept this form.
  ///   - values: The values of `$1`, `$2` and so on.
  /// - Throws: ``SQLError``
  func run(_ sql: String, _ values: [SQLValue]) throws
}

extension SQLConnection {
  public func run(_ sql: String, _ values: [SQLValue]) throws {
    try run(sql, values) { _ in }
  }

  /// Runs one statement without reading its rows.
  ///
  /// See ``run(_:_:)-swift.method``.
  public func run(_ sql: String, _ values: SQLValue...) throws {
    try run(sql, values)
  }

  /// Returns the integer in the first column of a statement's first row, or
  /// `nil` if the result has no rows.
  public func integer(_ sql: String, _ values: SQLValue...) throws -> Int64? {
    var result: Int64?
    try run(sql, values) { row in if result == nil { result = row.integer(0) } }
    return result
  }

  /// Runs `body` in a transaction, and rolls it back if an error is thrown.
  ///
  /// - Parameters:
  ///   - begin: The statement that begins the transaction.
  ///   - body: A closure that runs statements in the transaction.
  /// - Returns: The value that `body` returns.
  public func transaction<Value>(
    _ begin: String = "BEGIN", _ body: () throws -> Value
  ) throws -> Value {
    let wasIdle = isIdle
    do {
      // If the answer is lost, the transaction can still be in progress.
      try run(begin)
      let value = try body()
      try run("COMMIT")
      return value
    } catch {
      // Ignore the error. A connection that was lost or already rolled back
      // commits nothing.
      if wasIdle { try? run("ROLLBACK") }
      throw error
    }
  }
}

/// The dialect of SQL that a database uses.
public enum SQLDialect: Hashable, Sendable {
  /// The dialect of SQLite.
  case sqlite
  /// The dialect of PostgreSQL.
  case postgresql
}
