// SPDX-License-Identifier: Apache-2.0

/// A connection to an SQLite file.
///
///     let connection = try SQLiteConnection(opening: "notes.sqlite")
///     try connection.integer("SELECT 1 + 1")  // 2
public final class SQLiteConnection: SQLConnection {
  /// How a file is opened.
  public enum Mode: Sendable {
    /// For writing; the file is created if there is none.
    case writing
    /// For reading alone.
    case reading
  }

  public var dialect: SQLDialect { .sqlite }

  private let library: SQLiteLibrary
  private let database: OpaquePointer?
  /// The statements that have been prepared, by their texts.
  private var statements: [String: OpaquePointer] = [:]

  /// Opens a file.
  ///
  /// - Parameters:
  ///   - path: The file's path.
  ///   - mode: How it is opened.
  ///   - timeout: How long a statement waits for the lock of another connection.
  /// - Throws: ``SQLError``
  public init(
    opening path: String, _ mode: Mode = .writing,
    timeout: Duration = .seconds(5)
  ) throws(SQLError) {
    library = try SQLiteLibrary.shared.get()
    // No mutex, since there is one owner at a time; extended result codes.
    let flags: Int32 =
      switch mode {
      case .writing: 0x2 | 0x4
      case .reading: 0x1
      }
    var database: OpaquePointer?
    let code = library.open(path, &database, flags | 0x8000 | 0x0200_0000, nil)
    self.database = database
    guard code == 0 else {
      // What was made has to be closed, even so; that is done by deinit.
      throw failure(code, path)
    }
    let (seconds, fraction) = timeout.components
    let milliseconds = seconds * 1000 + fraction / 1_000_000_000_000_000
    _ = library.setTimeout(database, Int32(clamping: milliseconds))
  }

  deinit {
    for statement in statements.values { _ = library.finalize(statement) }
    _ = library.close(database)
  }

  public func run(
    _ sql: String, _ values: [SQLValue], _ body: (any SQLRow) throws -> Void
  ) throws {
    let statement = try prepared(sql)
    // Frees the locks of a statement that did not end.
    defer { _ = library.reset(statement) }
    for (i, value) in values.enumerated() {
      try check(bind(value, at: Int32(i + 1), of: statement), sql)
    }
    while true {
      switch library.step(statement) {
      case 100: try body(SQLiteRow(library: library, statement: statement))
      case 101: return
      case let code: throw failure(code, sql)
      }
    }
  }

  private func prepared(_ sql: String) throws(SQLError) -> OpaquePointer {
    if let statement = statements[sql] { return statement }
    var statement: OpaquePointer?
    // 1: it will be used often.
    try check(library.prepare(database, sql, -1, 1, &statement, nil), sql)
    guard let statement else {
      throw SQLError(.other("0"), "\"\(sql)\" is no statement")
    }
    statements[sql] = statement
    return statement
  }

  private func bind(
    _ value: SQLValue, at place: Int32, of statement: OpaquePointer
  ) -> Int32 {
    switch value {
    case .integer(let number): library.bindInteger(statement, place, number)
    case .bytes(let bytes):
      bytes.withUnsafeBytes {
        // Of an empty array there may be no address, which would bind NULL.
        let start = $0.baseAddress ?? UnsafeRawPointer(bitPattern: 8)
        return library.bindBytes(
          statement, place, start, Int32(clamping: $0.count), -1)
      }
    }
  }

  private func check(_ code: Int32, _ sql: String) throws(SQLError) {
    if code != 0 { throw failure(code, sql) }
  }

  private func failure(_ code: Int32, _ what: String) -> SQLError {
    let message = library.message(database).map { String(cString: $0) }
    return SQLError(
      .init(sqlite: code), "SQLite: \(message ?? "no memory") (\(what))")
  }
}

private struct SQLiteRow: SQLRow {
  let library: SQLiteLibrary
  let statement: OpaquePointer

  func integer(_ column: Int) -> Int64 {
    library.integer(statement, Int32(column))
  }

  func withBytes<Value>(
    _ column: Int, _ body: (UnsafeRawBufferPointer) throws -> Value
  ) rethrows -> Value {
    let start = library.bytes(statement, Int32(column))
    let count = library.count(statement, Int32(column))
    return try body(
      UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(count))
    )
  }
}

extension SQLError.Code {
  /// By a result code of SQLite, the lowest byte of which is the kind.
  fileprivate init(sqlite code: Int32) {
    self =
      switch code & 0xff {
      case 5, 6: .busy
      case 8: .readOnly
      case 10: .inputOutput
      case 11, 26: .corrupted
      case 13: .full
      case 14: .cannotOpen
      default: .other(String(code))
      }
  }
}
