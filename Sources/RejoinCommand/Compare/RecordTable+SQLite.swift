// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinComparison
import RejoinSQL

extension RecordTable {
  /// The tables of an SQLite file that have primary keys, by their names.
  static func tables(
    ofSQLite path: String
  ) throws -> [String: RecordTable] {
    let connection: SQLiteConnection
    do {
      connection = try SQLiteConnection(opening: path, .reading)
      _ = try connection.integer("SELECT count(*) FROM sqlite_master")
    } catch {
      throw Failure(path, "\(error)", "an SQLite file")
    }
    var names: [String] = []
    try connection.run(
      "SELECT name FROM sqlite_master WHERE type = 'table' "
        + "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name", []
    ) { names.append(String(decoding: $0.bytes(0), as: UTF8.self)) }
    var tables: [String: RecordTable] = [:]
    for name in names {
      do {
        tables[name] = try table(name, in: connection)
      } catch let error as SQLError {
        throw Failure("\(path), table \(name)", "\(error)", "a table to read")
      }
    }
    if tables.isEmpty {
      throw Failure(
        path, "no table has a primary key", "tables with primary keys")
    }
    return tables
  }

  /// - Returns: `nil` if the table has no primary key.
  private static func table(
    _ name: String, in connection: SQLiteConnection
  ) throws -> RecordTable? {
    var (columns, keys) = ([String](), [(place: Int64, column: Int)]())
    try connection.run(
      "SELECT name, pk FROM pragma_table_info(CAST(? AS TEXT))", [.text(name)]
    ) { row in
      let place = row.integer(1)
      if place > 0 { keys.append((place, columns.count)) }
      columns.append(String(decoding: row.bytes(0), as: UTF8.self))
    }
    if keys.isEmpty { return nil }
    keys.sort { $0.place < $1.place }
    let parts = columns.map { column in
      "typeof(\(column.quoted)), CASE typeof(\(column.quoted)) WHEN 'real' "
        + "THEN printf('%!.17g', \(column.quoted)) ELSE \(column.quoted) END"
    }
    var table = RecordTable()
    try connection.run(
      "SELECT \(parts.joined(separator: ", ")) FROM \(name.quoted)", []
    ) { row in
      let values = columns.indices.map { row.value($0 * 2) }
      let key = keys.map { values[$0.column]?.keyText ?? "" }
        .joined(separator: "/")
      var fields: JSONValue.Row = [:]
      for (column, value) in zip(columns, values) { fields[column] = value }
      for key in keys { fields[columns[key.column]] = nil }
      _ = table.add(fields, at: key)
    }
    return table
  }
}

extension String {
  /// The name as SQL quotes it.
  fileprivate var quoted: String {
    "\""
      + split(separator: "\"", omittingEmptySubsequences: false)
      .joined(separator: "\"\"") + "\""
  }
}

extension SQLRow {
  /// The value in the second of two columns, whose type is in the first; `nil` for
  /// NULL.
  fileprivate func value(_ column: Int) -> JSONValue? {
    switch String(decoding: bytes(column), as: UTF8.self) {
    case "null": nil
    case "integer": .scalar(.int(integer(column + 1)))
    case "real":
      .scalar(
        .double(
          Double(String(decoding: bytes(column + 1), as: UTF8.self)) ?? .nan))
    case "text":
      .scalar(.string(String(decoding: bytes(column + 1), as: UTF8.self)))
    default: .scalar(.bytes(bytes(column + 1)))
    }
  }
}

extension JSONValue {
  fileprivate var keyText: String {
    if case .scalar(.string(let text)) = self { text } else { description }
  }
}
