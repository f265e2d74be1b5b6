// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// The tables that a scope derives from its records, and the closure that writes
/// those of the app.
///
/// The definition of each table has a comment with the number of the scope, which
/// distinguishes it from a table of the app. Opening compares each row with its
/// record. It can differ because a store without the table changed records, or
/// because a new version of the app reads a field in another way.
package struct MirroredTables: Sendable {
  package let tables: [RecordTable]
  let writer: TableWriter?

  /// Creates the tables of a store.
  ///
  /// - Throws: ``StoreError/invalidTable(_:reason:)`` if a name is not allowed.
  /// - Precondition: The schema declares the entities.
  package init(
    _ tables: [RecordTable] = [], writing writer: TableWriter? = nil,
    schema: Schema
  ) throws(StoreError) {
    (self.tables, self.writer) = (tables, writer)
    for table in tables {
      demand(
        schema.entities[SchemaName(table.entityName)] != nil,
        "The table \"\(table.name)\" has records of \(table.entityName), which the "
          + "schema does not declare. Add the entity to the schema.")
    }
    try checkNames()
  }

  /// Whether a change writes no table.
  var isEmpty: Bool { tables.isEmpty && writer == nil }

  private func checkNames() throws(StoreError) {
    var names: Set<String> = []
    for table in tables {
      let name = table.name
      if let fault = fault(of: name, among: &names) {
        throw .invalidTable(name, reason: "the name \(fault)")
      }
      if ["rejoin_", "sqlite_"].contains(where: name.lowercased().hasPrefix) {
        throw .invalidTable(name, reason: "the start of the name is reserved")
      }
      if table.columns.count > 1_999 {
        throw .invalidTable(name, reason: "it has more than 1,999 columns")
      }
      var columns: Set = ["id"]
      for column in table.columns {
        if let fault = fault(of: column.name, among: &columns) {
          throw .invalidTable(
            name, reason: "the name of its column \"\(column.name)\" \(fault)")
        }
      }
    }
  }

  /// Returns why a name is not allowed, and adds it to the names in lower case.
  private func fault(of name: String, among names: inout Set<String>) -> String?
  {
    let isIdentifier = name.utf8.enumerated().allSatisfy { index, byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"):
        true
      case UInt8(ascii: "0")...UInt8(ascii: "9"): index > 0
      default: false
      }
    }
    if name.isEmpty || !isIdentifier { return "is not an identifier" }
    return names.insert(name.lowercased()).inserted ? nil : "is used twice"
  }
}

// Opening.
extension MirroredTables {
  /// Makes the tables equal to the records of a scope that was opened.
  ///
  /// - Parameters:
  ///   - former: The number of the writer before this one.
  ///   - current: The number of this writer.
  ///   - damaged: The names of the tables that an earlier attempt could not read.
  /// - Returns: The names of the tables that were built again.
  /// - Throws: ``DamagedTable`` if another table cannot be read.
  func open(
    _ replica: Replica, in scope: Int64, after former: Int64,
    as current: Int64, settingAside damaged: Set<String>,
    on connection: any SQLConnection
  ) throws -> [String] {
    if isEmpty { return [] }
    do {
      try setAside(damaged, on: connection)
      return try prepare(
        replica, in: scope, after: former, as: current, on: connection)
    } catch let error as DamagedTable { throw error } catch {
      throw StoreError(writingTables: error)
    }
  }

  private func setAside(
    _ damaged: Set<String>, on connection: any SQLConnection
  ) throws {
    for table in tables where damaged.contains(table.name) {
      try table.setAside(on: connection)
    }
  }

  /// Runs a transaction again for each damaged table that it finds.
  ///
  /// - Parameter body: A closure that receives the names of the tables that earlier
  ///   attempts found.
  static func retrying<Value>(
    _ body: (_ damaged: Set<String>) throws -> Value
  ) throws -> Value {
    var damaged: Set<String> = []
    while true {
      do { return try body(damaged) } catch let error as DamagedTable {
        if !damaged.insert(error.name).inserted { throw error.cause }
      }
    }
  }

  private func prepare(
    _ replica: Replica, in scope: Int64, after former: Int64,
    as current: Int64, on connection: any SQLConnection
  ) throws -> [String] {
    let stale = try tables.filter { table in
      try table.definition(in: scope, on: connection)
        != table.definition(in: scope)
        || !table.shows(replica, on: connection)
    }
    for table in stale {
      try table.rebuild(from: replica, in: scope, on: connection)
    }
    if writer != nil {
      let last = try LastCall(in: scope, on: connection)
      if !stale.isEmpty || last.writer != former {
        try callWriter(RecordChanges(rebuildingFrom: replica), on: connection)
        // SQLite rolls back a transaction by itself after some errors.
        if connection.isIdle {
          throw SQLError(.misused, "the closure ended the store's transaction")
        }
      }
      try last.write(current, on: connection)
    }
    return stale.map(\.name)
  }
}

// Changing.
extension MirroredTables {
  /// Returns the tables that others changed or dropped, as far as their definitions
  /// show it.
  ///
  /// - Throws: ``StoreError/invalidTable(_:reason:)`` if the app took a name.
  func changedTables(
    in scope: Int64, on connection: any SQLConnection
  ) throws -> Set<String> {
    let changed = try tables.filter { table in
      try table.definition(in: scope, on: connection)
        != table.definition(in: scope)
    }
    return Set(changed.map(\.name))
  }

  /// Writes changes of a replica into the tables.
  ///
  /// - Parameters:
  ///   - changes: The changes, which are part of the replica's state.
  ///   - stale: The names of the tables to build again.
  ///   - damaged: Those that an earlier attempt could not read.
  /// - Throws: ``DamagedTable`` if another table cannot be read.
  package func writeTables(
    _ changes: RecordChanges, of replica: Replica, in scope: Int64,
    rebuilding stale: Set<String>, settingAside damaged: Set<String>,
    on connection: any SQLConnection
  ) throws {
    try setAside(damaged, on: connection)
    for table in tables {
      do {
        if stale.contains(table.name) || damaged.contains(table.name) {
          try table.rebuild(from: replica, in: scope, on: connection)
        } else {
          // A trigger of the app must not change the tables of the store.
          try protecting(connection, derived: []) {
            try table.write(changes, replica.schema, on: connection)
          }
        }
      } catch let error as DamagedTable { throw error } catch {
        throw StoreError(writing: error, table: table.name)
      }
    }
  }

  /// Calls the closure of the app.
  func callWriter(
    _ changes: RecordChanges, on connection: any SQLConnection
  ) throws {
    guard let writer else { return }
    try protecting(
      connection, derived: Set(tables.map { $0.name.lowercased() })
    ) {
      try writer(connection, changes)
    }
  }

  private func protecting(
    _ connection: any SQLConnection, derived: Set<String>,
    _ body: () throws -> Void
  ) throws {
    // A connection of another kind is one of a test.
    guard let connection = connection as? SQLiteConnection else {
      return try body()
    }
    try connection.restricted(
      protecting: Tables.protected, derived: derived, body)
  }

  /// Drops the tables of a scope, whether they are declared or not, except damaged
  /// ones, which cannot be dropped.
  ///
  /// - Throws: ``DamagedTable`` if a table cannot be read.
  static func drop(
    of scope: Int64, except damaged: Set<String>,
    on connection: any SQLConnection
  ) throws {
    // Only stores in files have such tables.
    if connection.dialect != .sqlite { return }
    var names: [String] = []
    try connection.run(
      "SELECT name, sql FROM sqlite_master WHERE type = 'table'", []
    ) { row in
      if let name = row.text(0), let sql = row.text(1),
        RecordTable.isDerived(sql, named: name, from: scope),
        !name.hasPrefix("rejoin_damaged_"), !damaged.contains(name)
      {
        names.append(name)
      }
    }
    for name in names {
      do {
        try connection.run("DROP TABLE \(RecordTable.quoted(name))")
      } catch let error as SQLError where error.code == .corrupted {
        throw DamagedTable(name: name, cause: error)
      }
    }
    if try Tables.count(of: ["rejoin_app_table"], on: connection) == 1 {
      try connection.run(
        "DELETE FROM rejoin_app_table WHERE scope = $1", .integer(scope))
    }
  }
}

/// The last writer of a scope that called the closure of the app.
///
/// A later writer of the scope can change records without the closure.
private struct LastCall {
  private let scope: Int64
  /// The number of the writer, or `nil` if no writer called the closure.
  private(set) var writer: Int64?

  /// Reads the row of a scope, and creates the table if it does not exist.
  init(in scope: Int64, on connection: any SQLConnection) throws {
    self.scope = scope
    try Tables.createAppTable(on: connection)
    writer = try connection.integer(
      "SELECT writer FROM rejoin_app_table WHERE scope = $1", .integer(scope))
  }

  func write(_ writer: Int64, on connection: any SQLConnection) throws {
    try connection.run(
      "INSERT INTO rejoin_app_table (scope, writer) VALUES ($1, $2) "
        + "ON CONFLICT (scope) DO UPDATE SET writer = excluded.writer",
      .integer(scope), .integer(writer))
  }
}

extension StoreError {
  /// Creates the error for a table that could not be written.
  ///
  /// A statement can fail because of an index or a trigger of the app. Other
  /// errors concern the whole file.
  fileprivate init(writing error: any Error, table: String) {
    if let error = error as? SQLError, error.isOfStatement {
      // The statement of the store is long and does not help.
      let cause = error.message.split(separator: " (INSERT INTO ")[0]
      self = .tablesNotWritten("\"\(table)\": \(cause)")
    } else {
      self.init(writing: error)
    }
  }

  /// Creates the error for tables that could not be written while a store was
  /// opened.
  fileprivate init(writingTables error: any Error) {
    switch error {
    case let error as StoreError: self = error
    case let error as SQLError where !error.isOfStatement:
      self.init(opening: error)
    default: self = .tablesNotWritten("\(error)")
    }
  }
}

extension SQLError {
  /// Whether a statement of the app caused the error.
  fileprivate var isOfStatement: Bool {
    switch code {
    case .other, .misused: true
    default: false
    }
  }
}
