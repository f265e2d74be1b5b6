// SPDX-License-Identifier: Apache-2.0

/// A connection to a database, used by one owner at a time.
///
/// ``SQLiteConnection`` and ``PostgreSQLConnection`` are two. To share a connection
/// with code that has its own, conform that to this protocol.
public protocol SQLConnection: AnyObject {
  /// The SQL that the database speaks.
  var dialect: SQLDialect { get }

  /// Runs one statement, and calls `body` with each row of its result.
  ///
  /// A connection keeps the statements that it has prepared: pass the same text
  /// again, and other values.
  ///
  /// - Parameters:
  ///   - sql: The statement, with `?` in place of each value.
  ///   - values: The values, in order.
  ///   - body: Reads a row, which is valid during the call only.
  /// - Throws: ``SQLError``, or what `body` throws.
  func run(
    _ sql: String, _ values: [SQLValue], _ body: (any SQLRow) throws -> Void
  ) throws
}

extension SQLConnection {
  /// Runs one statement whose result does not matter.
  public func run(_ sql: String, _ values: SQLValue...) throws {
    try run(sql, values) { _ in }
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
    try run(begin)
    do {
      let value = try body()
      try run("COMMIT")
      return value
    } catch {
      // A connection that is lost, or has done so itself, cannot; nothing is
      // committed either way.
      try? run("ROLLBACK")
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

/// A value of a statement.
public enum SQLValue: Hashable, Sendable {
  /// An integer.
  case integer(Int64)
  /// Bytes; texts are kept as bytes, too.
  case bytes([UInt8])

  /// The bit pattern of an integer.
  public static func bits(_ number: UInt64) -> SQLValue {
    .integer(Int64(bitPattern: number))
  }

  /// The bytes of a text.
  public static func text(_ text: String) -> SQLValue {
    .bytes(Array(text.utf8))
  }
}

/// A row of a result.
public protocol SQLRow {
  /// The integer in a column; zero if there is none.
  func integer(_ column: Int) -> Int64
  /// Calls `body` with the bytes in a column, which has none if it is absent.
  func withBytes<Value>(
    _ column: Int, _ body: (UnsafeRawBufferPointer) throws -> Value
  ) rethrows -> Value
}

extension SQLRow {
  /// The integer in a column, as a bit pattern.
  public func bits(_ column: Int) -> UInt64 {
    UInt64(bitPattern: integer(column))
  }

  /// The bytes in a column.
  public func bytes(_ column: Int) -> [UInt8] {
    withBytes(column) { Array($0) }
  }
}
