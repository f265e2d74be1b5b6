// SPDX-License-Identifier: Apache-2.0

/// A connection to a database, used by one owner at a time.
///
/// ``SQLiteConnection`` and ``PostgreSQLConnection`` are two. To share a connection
/// with code that has its own, conform that to this protocol.
public protocol SQLConnection: AnyObject {
  /// The SQL that the database speaks.
  var dialect: SQLDialect { get }

  /// Whether the connection can begin a transaction: it is open, and none is under
  /// way.
  var isIdle: Bool { get }

  /// Runs one statement, and calls `body` with each row of its result.
  ///
  /// A connection may keep the statements that it has prepared: pass the same text
  /// again, and other values. If the task that calls it is cancelled while it waits
  /// for a lock or for the server, the statement has no effect, and the error has
  /// the code ``SQLError/Code/canceled``. `COMMIT` and `ROLLBACK` are not cancelled.
  ///
  /// - Parameters:
  ///   - sql: The statement, with `?` in place of each value.
  ///   - values: As many values as places, in order.
  ///   - body: Reads a row, which is valid during the call only.
  /// - Throws: ``SQLError``, or what `body` throws.
  func run(
    _ sql: String, _ values: [SQLValue], _ body: (any SQLRow) throws -> Void
  ) throws

  /// Runs one statement whose rows are not read.
  ///
  /// Within a transaction, a connection may send it together with the next statement,
  /// and throw its error there. `COMMIT` and `ROLLBACK` are sent immediately. By
  /// default, every statement is.
  ///
  /// - Parameters:
  ///   - sql: The statement, with `?` in place of each value.
  ///   - values: As many values as places, in order.
  /// - Throws: ``SQLError``
  func run(_ sql: String, _ values: [SQLValue]) throws
}

extension SQLConnection {
  public func run(_ sql: String, _ values: [SQLValue]) throws {
    try run(sql, values) { _ in }
  }

  /// Runs one statement whose rows are not read, see ``run(_:_:)-swift.method``.
  public func run(_ sql: String, _ values: SQLValue...) throws {
    try run(sql, values)
  }

  /// The first column of a statement's first row; `nil` if there is none.
  public func integer(_ sql: String, _ values: SQLValue...) throws -> Int64? {
    var result: Int64?
    try run(sql, values) { row in if result == nil { result = row.integer(0) } }
    return result
  }

  /// Runs `body` in a transaction, which is taken back if it throws.
  ///
  /// - Parameters:
  ///   - begin: The statement that begins it.
  ///   - body: What is done in it.
  /// - Returns: What `body` returns.
  public func transaction<Value>(
    _ begin: String = "BEGIN", _ body: () throws -> Value
  ) throws -> Value {
    let wasIdle = isIdle
    do {
      // Its answer may be lost, and the transaction under way all the same.
      try run(begin)
      let value = try body()
      try run("COMMIT")
      return value
    } catch {
      // A connection that is lost, or has done so itself, cannot; nothing is
      // committed either way.
      if wasIdle { try? run("ROLLBACK") }
      throw error
    }
  }
}

/// The SQL that a database speaks, where it is not the same everywhere.
public enum SQLDialect: Hashable, Sendable {
  /// That of SQLite.
  case sqlite
  /// That of PostgreSQL.
  case postgresql
}
