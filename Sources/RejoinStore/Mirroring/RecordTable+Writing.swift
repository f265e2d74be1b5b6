// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

// The definition in the file.
extension RecordTable {
  /// Returns the start of the comment that marks a table as derived from a scope.
  private static let mark = "/* Rejoin derives this table from scope "

  static func quoted(_ name: String) -> String {
    "\"\(name.replacing("\"", with: "\"\""))\""
  }

  /// Returns whether a definition is that of a table derived from a scope.
  ///
  /// - Parameter scope: The scope, or `nil` for any scope.
  static func isDerived(
    _ definition: String, named name: String, from scope: Int64? = nil
  ) -> Bool {
    let start = "CREATE TABLE \(quoted(name)) (\(mark)"
    return definition.hasPrefix(scope.map { "\(start)\($0). " } ?? start)
  }

  /// Returns the statement that creates the table.
  ///
  /// SQLite stores the statement with its comment, which names the scope of the
  /// table.
  func definition(in scope: Int64) -> String {
    let columns = columns.map { column in
      ", \(RecordTable.quoted(column.name)) \(column.type ?? "")"
    }.joined()
    return "CREATE TABLE \(RecordTable.quoted(name)) "
      + "(\(RecordTable.mark)\(scope). Do not write it. */ "
      + "\"id\" TEXT PRIMARY KEY NOT NULL\(columns)) WITHOUT ROWID"
  }

  /// Returns the definition of the table in the file, or `nil` if the name of the
  /// table is free.
  ///
  /// - Throws: ``StoreError/invalidTable(_:reason:)`` if the name belongs to the app
  ///   or to another scope.
  func definition(
    in scope: Int64, on connection: any SQLConnection
  ) throws -> String? {
    var found: (name: String, definition: String)?
    // A trigger can have the name of a table.
    try connection.run(
      "SELECT name, CASE type WHEN 'table' THEN sql ELSE '' END "
        + "FROM sqlite_master "
        + "WHERE name = $1 COLLATE NOCASE AND type <> 'trigger'", [.text(name)]
    ) { row in
      found = (row.text(0) ?? "", row.text(1) ?? "")
    }
    guard let (name, definition) = found else { return nil }
    if RecordTable.isDerived(definition, named: name, from: scope) {
      return definition
    }
    throw StoreError.invalidTable(
      self.name,
      reason: RecordTable.isDerived(definition, named: name)
        ? "another scope of the file has a table with this name"
        : "the app has a table, view or index with this name")
  }

  /// Returns whether the table has the row of each record, and no other rows.
  ///
  /// - Complexity: O(*n*), where *n* is the number of records.
  func shows(
    _ replica: Replica, on connection: any SQLConnection
  ) throws -> Bool {
    var (count, isEqual) = (0, true)
    let names = (["id"] + columns.map(\.name)).map(RecordTable.quoted)
    do {
      try connection.run(
        "SELECT \(names.joined(separator: ", ")) "
          + "FROM \(RecordTable.quoted(name)) NOT INDEXED", []
      ) { found in
        count += 1
        let id = RecordID(entityName, found.text(0) ?? "")
        guard isEqual, let record = replica.record(id), record.exists else {
          return isEqual = false
        }
        isEqual = row(of: record, replica.schema).enumerated().allSatisfy {
          $1.equals(found, at: $0)
        }
      }
    } catch let error as SQLError where error.code == .corrupted {
      throw DamagedTable(name: name, cause: error)
    }
    return isEqual && count == replica.recordCount(of: entityName)
  }
}

extension SQLValue {
  /// Returns whether a column of a row has this value.
  fileprivate func equals(_ row: any SQLRow, at column: Int) -> Bool {
    let other = row.value(column)
    // Texts can be equal and have other bytes.
    if case .text(var text) = self, case .text = other {
      return text.withUTF8 { text in
        row.withBytes(column) { $0.elementsEqual(text) }
      }
    }
    return self == other
  }
}

// Writing rows.
extension RecordTable {
  /// Writes the changes of the entity's records.
  ///
  /// - Throws: ``DamagedTable`` if the table cannot be read.
  func write(
    _ changes: RecordChanges, _ schema: Schema,
    on connection: any SQLConnection
  ) throws {
    do {
      for change in changes.changes(to: entityName) {
        if let record = change.new, record.exists {
          try connection.run(upsert, row(of: record, schema))
        } else {
          try connection.run(
            "DELETE FROM \(RecordTable.quoted(name)) WHERE \"id\" = $1",
            .text(change.id.key))
        }
      }
    } catch let error as SQLError where error.code == .corrupted {
      throw DamagedTable(name: name, cause: error)
    }
  }

  /// Creates the table again with a row for each record.
  ///
  /// Its indexes and triggers are dropped.
  ///
  /// - Throws: ``DamagedTable`` if the former table cannot be dropped.
  func rebuild(
    from replica: Replica, in scope: Int64, on connection: any SQLConnection
  ) throws {
    if try definition(in: scope, on: connection) != nil {
      do {
        // Dropping the table frees its pages. In a damaged file, these can also be
        // pages of records.
        try connection.checkPages()
        try connection.run("DROP TABLE \(RecordTable.quoted(name))")
      } catch let error as SQLError where error.code == .corrupted {
        throw DamagedTable(name: name, cause: error)
      }
    }
    try connection.run(definition(in: scope))
    for id in replica.recordIDs(of: entityName) {
      guard let record = replica.record(id) else { continue }
      try connection.run(upsert, row(of: record, replica.schema))
    }
  }

  /// Gives the table another name, because SQLite cannot drop a damaged table, and
  /// drops its indexes and triggers.
  func setAside(on connection: any SQLConnection) throws {
    var parts: [String] = []
    try connection.run(
      "SELECT type, name FROM sqlite_master WHERE tbl_name = $1 COLLATE NOCASE "
        + "AND type IN ('index', 'trigger') AND sql IS NOT NULL", [.text(name)]
    ) { row in
      parts.append(
        "\(row.text(0) ?? "") \(RecordTable.quoted(row.text(1) ?? ""))")
    }
    for part in parts { try connection.run("DROP \(part)") }
    let number = String(UInt64.random(in: 0 ... .max), radix: 16)
    // Views and triggers of the app keep the former name.
    try connection.run("PRAGMA legacy_alter_table = 1")
    try connection.run(
      "ALTER TABLE \(RecordTable.quoted(name)) "
        + "RENAME TO \"rejoin_damaged_\(number)\"")
  }

  private func row(of record: Record, _ schema: Schema) -> [SQLValue] {
    [.text(record.id.key)] + columns.map { $0.read(record, schema) }
  }

  /// Returns the statement that inserts a row, or changes the row if it differs.
  ///
  /// `REPLACE` would delete a row without a call of the triggers for deletions.
  static func upsert(into name: String, _ columns: [TableColumn]) -> String {
    let table = quoted(name)
    let names = columns.map { quoted($0.name) }
    let values = (1...(names.count + 1)).map { "$\($0)" }
    let insert =
      "INSERT INTO \(table) (\((["\"id\""] + names).joined(separator: ", "))) "
      + "VALUES (\(values.joined(separator: ", "))) ON CONFLICT (\"id\") DO "
    if names.isEmpty { return insert + "NOTHING" }
    let assignments = names.map { "\($0) = excluded.\($0)" }
    func list(_ names: [String], _ form: (String) -> String) -> String {
      "(\(names.map(form).joined(separator: ", ")))"
    }
    var differs =
      list(names) { "\(table).\($0)" } + " IS NOT "
      + list(names) { "excluded.\($0)" }
    // For `IS NOT`, 1 and 1.0 are equal.
    let untyped = columns.filter { $0.type == nil }.map { quoted($0.name) }
    if !untyped.isEmpty {
      differs +=
        " OR " + list(untyped) { "typeof(\(table).\($0))" } + " IS NOT "
        + list(untyped) { "typeof(excluded.\($0))" }
    }
    return insert + "UPDATE SET \(assignments.joined(separator: ", ")) "
      + "WHERE \(differs)"
  }
}

extension SQLConnection {
  /// Throws an error if a page of the file is damaged.
  fileprivate func checkPages() throws {
    var message = ""
    try run("PRAGMA quick_check(1)", []) { message = $0.text(0) ?? "" }
    if message != "ok" { throw SQLError(.corrupted, message) }
  }
}

/// An error that names a derived table whose pages are damaged.
///
/// SQLite writes nothing more in the transaction that finds the damage. The next
/// transaction can set the table aside if it does not read the table before.
struct DamagedTable: Error {
  let name: String
  let cause: SQLError
}
