// SPDX-License-Identifier: Apache-2.0

import RejoinSQL

/// A statement of a hub for many rows.
///
/// PostgreSQL receives the rows as arrays, so a statement serves up to 1,000
/// rows. SQLite needs no network and runs the statement once for each row.
///
/// In the text of the statement, `u` has the rows, with the scope as their
/// first column.
struct RowStatement: Sendable {
  enum Column: Sendable {
    case bytes(String)
    case integer(String)

    fileprivate var name: String {
      switch self {
      case .bytes(let name), .integer(let name): name
      }
    }

    fileprivate var arrayType: String {
      switch self {
      case .bytes: "bytea[]"
      case .integer: "bigint[]"
      }
    }
  }

  /// The maximum number of rows per statement, and of bytes after which the
  /// next statement starts.
  private static let (rowLimit, byteLimit) = (1_000, 1 << 20)

  private let sqlite: String
  private let postgresql: String

  /// Creates a statement.
  ///
  /// - Parameters:
  ///   - columns: The columns of the rows after the scope.
  ///   - text: A closure that returns the text in a dialect. Its second
  ///     argument is the source of the rows `u`.
  init(
    _ columns: Column..., text: (SQLDialect, _ rows: String) -> String
  ) {
    let names = columns.map(\.name)
    let values = names.enumerated().map { ", $\($0 + 2) AS \($1)" }.joined()
    sqlite = text(.sqlite, "(SELECT $1 AS scope\(values)) u")
    let arrays = columns.enumerated()
      .map { "$\($0 + 2)::text::\($1.arrayType)" }.joined(separator: ", ")
    postgresql = text(
      .postgresql,
      "(SELECT $1::bigint AS scope, a.* FROM unnest(\(arrays)) "
        + "a (\(names.joined(separator: ", ")))) u")
  }

  /// Runs the statement for some rows.
  func run(
    _ rows: [[SQLValue]], in scope: Int64, on connection: any SQLConnection
  ) throws {
    try execute(rows, connection.dialect) {
      try connection.run($0, [.integer(scope)] + $1)
    }
  }

  /// Runs the statement for some rows, and calls `body` with the rows of its
  /// results.
  func run(
    _ rows: [[SQLValue]], in scope: Int64, on connection: any SQLConnection,
    _ body: (any SQLRow) throws -> Void
  ) throws {
    try execute(rows, connection.dialect) {
      try connection.run($0, [.integer(scope)] + $1, body)
    }
  }

  private func execute(
    _ rows: [[SQLValue]], _ dialect: SQLDialect,
    _ run: (_ text: String, _ values: [SQLValue]) throws -> Void
  ) throws {
    switch dialect {
    case .sqlite: for row in rows { try run(sqlite, row) }
    case .postgresql:
      var rest = rows[...]
      while let first = rest.first {
        var arrays = first.map { _ in SQLArray() }
        var count = 0
        for row in rest.prefix(RowStatement.rowLimit) {
          for (i, value) in row.enumerated() { arrays[i].append(value) }
          count += 1
          if arrays.contains(where: { $0.count > RowStatement.byteLimit }) {
            break
          }
        }
        rest = rest.dropFirst(count)
        try run(postgresql, arrays.map { .text($0.text) })
      }
    }
  }
}

extension SQLDialect {
  /// Returns a join with the rows of a table that a condition selects.
  ///
  /// A database can execute the join only by looking up the rows for each row
  /// before it. Otherwise, its statistics could lead to a scan of the table.
  ///
  /// - Parameters:
  ///   - columns: The columns that the statement uses.
  ///   - name: The name of the rows in the condition and the statement.
  func lookup(
    _ columns: String, in table: String, as name: String,
    where condition: String
  ) -> String {
    switch self {
    // SQLite keeps the order of a cross join.
    case .sqlite: "CROSS JOIN \(table) \(name) ON \(condition)"
    // PostgreSQL plans a subquery with OFFSET separately.
    case .postgresql:
      "CROSS JOIN LATERAL (SELECT \(columns) FROM \(table) \(name) "
        + "WHERE \(condition) OFFSET 0) \(name)"
    }
  }
}

/// The text of an array in PostgreSQL.
private struct SQLArray {
  private static let digits = Array("0123456789abcdef".utf8)

  private var bytes = Array("{".utf8)

  var count: Int { bytes.count }
  var text: String { String(decoding: bytes + Array("}".utf8), as: UTF8.self) }

  mutating func append(_ value: SQLValue) {
    if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
    switch value {
    case .integer(let number): bytes += "\(number)".utf8
    case .bytes(let content):
      bytes += "\"\\\\x".utf8
      for byte in content {
        bytes.append(SQLArray.digits[Int(byte >> 4)])
        bytes.append(SQLArray.digits[Int(byte & 15)])
      }
      bytes.append(UInt8(ascii: "\""))
    default: preconditionFailure("A column has bytes or integers.")
    }
  }
}
