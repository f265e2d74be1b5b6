// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinComparison
import RejoinSQL

extension RecordTable {
  /// Tables that Core Data and the mirroring of a container use internally.
  private static let ownTables = [
    "ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING", "Z_METADATA",
    "Z_MODELCACHE", "Z_PRIMARYKEY",
  ]
  private static let ownColumns: Set = ["Z_OPT", "Z_ENT"]

  /// Returns the tables of an SQLite file that have primary keys, by their names.
  ///
  /// - Parameters:
  ///   - file: The path of the file to open.
  ///   - path: The path that the user gave, for messages.
  static func tables(
    ofSQLite file: String, named path: String
  ) throws -> [String: RecordTable] {
    let connection: SQLiteConnection
    do {
      connection = try SQLiteConnection(opening: file, .reading)
      _ = try connection.integer("SELECT count(*) FROM sqlite_master")
    } catch {
      throw Failure(path, "\(error)", "an SQLite file")
    }
    // Not those that belong to virtual tables.
    let names = try connection.texts(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' "
        + "AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
        + "ORDER BY name")
    let isCoreData = Set(names).isSuperset(of: ["Z_METADATA", "Z_PRIMARYKEY"])
    var tables: [String: RecordTable] = [:]
    for name in names {
      if isCoreData, ownTables.contains(name) || name.hasPrefix("ANSCK") {
        continue
      }
      let location = "\(path), table \(name)"
      do {
        tables[name] = try table(
          name, in: connection, location, without: isCoreData ? ownColumns : [])
        if tables[name] == nil {
          Terminal.reportLeftOut("\(location): it has no primary key")
        }
      } catch let error as SQLError {
        throw Failure(
          location, String(error.message.prefix(100)),
          "a table that can be read")
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
    _ name: String, in connection: SQLiteConnection, _ location: String,
    without left: Set<String>
  ) throws -> RecordTable? {
    var (columns, keys) = ([String](), [(position: Int64, column: Int)]())
    try connection.run(
      "SELECT name, pk FROM pragma_table_info($1)", [.text(name)]
    ) { row in
      let position = row.integer(1)
      if position > 0 { keys.append((position, columns.count)) }
      columns.append(row.text(0) ?? "")
    }
    if keys.isEmpty { return nil }
    keys.sort { $0.position < $1.position }
    let left = left.union(keys.map { columns[$0.column] })
    var table = RecordTable()
    try connection.run(
      "SELECT \(columns.map(\.quoted).joined(separator: ", ")) "
        + "FROM \(name.quoted)", []
    ) { row in
      let values = columns.indices.map { JSONValue(row.value($0)) }
      let parts = keys.map { values[$0.column]?.keyText ?? "NULL" }
      let fields = zip(columns, values).compactMap { column, value in
        left.contains(column)
          ? nil : value.map { (name: SchemaName(column), value: $0) }
      }
      try table.add(
        fields,
        at: parts.count == 1
          ? parts[0] : parts.map(\.escaped).joined(separator: "/"),
        location)
    }
    return table
  }
}

extension SQLiteConnection {
  /// The first column of all rows.
  fileprivate func texts(_ sql: String) throws -> [String] {
    var texts: [String] = []
    try run(sql, []) { row in
      texts.append(row.text(0) ?? "")
    }
    return texts
  }
}

extension String {
  /// The name as SQL quotes it.
  fileprivate var quoted: String { "\"" + marked(["\""], by: "\"") + "\"" }

  /// The text as a part of a key of several columns, so that different keys differ.
  fileprivate var escaped: String { marked(["\\", "/"], by: "\\") }

  /// The text with a mark before each of some scalars.
  private func marked(
    _ scalars: [Unicode.Scalar], by mark: Unicode.Scalar
  ) -> String {
    var result = UnicodeScalarView()
    for scalar in unicodeScalars {
      if scalars.contains(scalar) { result.append(mark) }
      result.append(scalar)
    }
    return String(result)
  }
}

extension JSONValue {
  /// The value of a column, or `nil` for NULL.
  fileprivate init?(_ value: SQLValue) {
    switch value {
    case .null: return nil
    case .integer(let number): self = .scalar(.int(number))
    case .double(let number): self = .scalar(.double(number))
    case .text(let text): self = .scalar(.string(text))
    case .bytes(let bytes): self = .scalar(.bytes(bytes))
    }
  }

  fileprivate var keyText: String {
    if case .scalar(.string(let text)) = self { text } else { description }
  }
}
