// SPDX-License-Identifier: Apache-2.0

/// A connection to a PostgreSQL server.
///
///     let connection = try PostgreSQLConnection("host=localhost dbname=notes")
///     try connection.integer("SELECT 1::bigint + 1")  // 2
///
/// Integers are `BIGINT` and bytes are `BYTEA`. A call blocks its thread until the
/// server has answered.
public final class PostgreSQLConnection: SQLConnection {
  public var dialect: SQLDialect { .postgresql }

  private let library: PostgreSQLLibrary
  private let connection: OpaquePointer?
  /// The names of the statements that have been prepared, by their texts.
  private var statements: [String: String] = [:]

  /// Connects to a server.
  ///
  /// - Parameter parameters: What libpq calls a connection string: either
  ///   `host=… dbname=…` or a `postgresql://` URL. What it leaves out comes from
  ///   the environment.
  /// - Throws: ``SQLError``
  public init(_ parameters: String) throws(SQLError) {
    library = try PostgreSQLLibrary.shared.get()
    connection = library.connect(parameters)
    // Also of a connection that failed there is something to finish, by deinit.
    guard library.status(connection) == 0 else {
      throw SQLError(.cannotOpen, "PostgreSQL: \(message)")
    }
    // A library prints nothing, and an error tells what a notice would.
    _ = library.setNoticeProcessor(connection, { _, _ in }, nil)
  }

  deinit { library.finish(connection) }

  public func run(
    _ sql: String, _ values: [SQLValue], _ body: (any SQLRow) throws -> Void
  ) throws {
    let name = try prepared(sql, values)
    let contents = values.map(PostgreSQLConnection.content)
    let lengths = contents.map { Int32(clamping: $0.count) }
    let formats = [Int32](repeating: 1, count: values.count)
    let result = withAddresses(of: contents) { addresses in
      library.execute(
        connection, name, Int32(values.count), addresses, lengths, formats, 1)
    }
    defer { library.clear(result) }
    try check(result, sql)
    for row in 0..<library.rowCount(result) {
      try body(PostgreSQLRow(library: library, result: result, row: row))
    }
  }

  private func prepared(
    _ sql: String, _ values: [SQLValue]
  ) throws(SQLError) -> String {
    if let name = statements[sql] { return name }
    let name = "rejoin_\(statements.count)"
    var (text, count) = ("", 0)
    for character in sql.unicodeScalars {
      if character == "?" {
        count += 1
        text += "$\(count)"
      } else {
        text.unicodeScalars.append(character)
      }
    }
    // The numbers of the types BIGINT and BYTEA.
    let types = values.map { value -> UInt32 in
      switch value {
      case .integer: 20
      case .bytes: 17
      }
    }
    let result = library.prepare(
      connection, name, text, Int32(types.count), types)
    defer { library.clear(result) }
    try check(result, sql)
    statements[sql] = name
    return name
  }

  private static func content(_ value: SQLValue) -> [UInt8] {
    switch value {
    case .integer(let number):
      withUnsafeBytes(of: number.bigEndian) { Array($0) }
    case .bytes(let bytes): bytes
    }
  }

  /// Calls `body` with the address of each content; none of them is null, which
  /// would mean NULL.
  private func withAddresses<Value>(
    of contents: [[UInt8]],
    _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Value
  ) -> Value {
    // One copy, whose parts do not move.
    let bytes = Array(contents.joined()) + [0]
    return bytes.withUnsafeBytes { bytes in
      var offset = 0
      let addresses = contents.map { content in
        defer { offset += content.count }
        return bytes.baseAddress.map {
          ($0 + offset).assumingMemoryBound(to: CChar.self)
        }
      }
      return body(addresses)
    }
  }

  private func check(_ result: OpaquePointer?, _ sql: String) throws(SQLError) {
    switch library.resultStatus(result) {
    // A command without rows, and one with.
    case 1, 2: return
    default: break
    }
    // The five characters of the SQLSTATE; none if the server did not answer.
    let state = library.resultField(result, Int32(UInt8(ascii: "C")))
      .map { String(cString: $0) }
    throw SQLError(
      library.status(connection) == 0
        ? SQLError.Code(postgreSQL: state ?? "") : .disconnected,
      "PostgreSQL: \(message) (\(sql))")
  }

  private var message: String {
    let text = library.message(connection).map { String(cString: $0) }
    return (text ?? "no memory").split(whereSeparator: \.isNewline)
      .joined(separator: " ")
  }
}

private struct PostgreSQLRow: SQLRow {
  let library: PostgreSQLLibrary
  let result: OpaquePointer?
  let row: Int32

  func integer(_ column: Int) -> Int64 {
    withBytes(column) { bytes in
      bytes.count > 8
        ? 0
        // Shorter types are signed, too.
        : bytes.dropFirst().reduce(
          Int64(bytes.first.map { Int8(bitPattern: $0) } ?? 0)
        ) { $0 << 8 | Int64($1) }
    }
  }

  func withBytes<Value>(
    _ column: Int, _ body: (UnsafeRawBufferPointer) throws -> Value
  ) rethrows -> Value {
    let start = library.value(result, row, Int32(column))
    let count = library.length(result, row, Int32(column))
    return try body(
      UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(count))
    )
  }
}

extension SQLError.Code {
  /// By the SQLSTATE, of which the first two characters are the class.
  fileprivate init(postgreSQL state: String) {
    self =
      switch state {
      // Serialization failure, deadlock, lock not available.
      case "40001", "40P01", "55P03": .busy
      case "53100": .full
      case "25006": .readOnly
      case "58030": .inputOutput
      case "XX001", "XX002": .corrupted
      default: .other(state)
      }
  }
}
