// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// The tables of a store.
///
/// Each row has a check of its content, and each scope the number of its rows, so
/// that neither a flipped bit nor a lost row goes unnoticed. Texts are kept as
/// bytes, since they may contain NUL and are compared as bytes. Rows of records
/// are never deleted.
enum Tables {
  /// Incremented for breaking changes.
  ///
  /// The `user_version` of a file belongs to the app.
  static let format = 1

  private static let tables = [
    """
    CREATE TABLE rejoin_scope (
      scope INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE,
      format INTEGER NOT NULL, writer INTEGER NOT NULL, head BLOB NOT NULL,
      devices INTEGER NOT NULL, records INTEGER NOT NULL,
      row_check INTEGER NOT NULL)
    """,
    """
    CREATE TABLE rejoin_device (
      device INTEGER PRIMARY KEY, scope INTEGER NOT NULL, id BLOB NOT NULL,
      n INTEGER NOT NULL, time INTEGER NOT NULL, digest INTEGER NOT NULL,
      forked INTEGER NOT NULL, row_check INTEGER NOT NULL, UNIQUE (scope, id))
    """,
    """
    CREATE TABLE rejoin_record (
      record INTEGER PRIMARY KEY, scope INTEGER NOT NULL, entity BLOB NOT NULL,
      key BLOB NOT NULL, body BLOB NOT NULL, UNIQUE (scope, entity, key))
    """,
    """
    CREATE TABLE rejoin_digest (
      scope INTEGER NOT NULL, n INTEGER NOT NULL, digest INTEGER NOT NULL,
      row_check INTEGER NOT NULL, PRIMARY KEY (scope, n)) WITHOUT ROWID
    """,
  ]

  /// Creates the tables in a database that has none of them.
  static func create(on connection: any SQLConnection) throws {
    if try exist(on: connection) { return }
    for table in tables { try connection.run(table) }
  }

  /// Whether a database has the tables: all of them or none.
  static func exist(on connection: any SQLConnection) throws -> Bool {
    let count = try connection.integer(
      "SELECT count(*) FROM sqlite_master WHERE type = 'table' "
        + "AND name LIKE 'rejoin%'")
    if count == Int64(tables.count) { return true }
    if count == 0 { return false }
    throw StoreError.damaged("of whose tables there are \(count ?? 0)")
  }
}

/// The check of a row.
struct RowCheck {
  private var bytes: [UInt8] = []

  init(_ words: UInt64...) { for word in words { add(word) } }

  mutating func add(_ word: UInt64) {
    withUnsafeBytes(of: word.littleEndian) { bytes += $0 }
  }

  mutating func add(_ content: [UInt8]) {
    add(UInt64(content.count))
    bytes += content
  }

  var value: Int64 { bytes.withUnsafeBytes { Int64(WireChecksum.of($0)) } }
}

/// A row of `rejoin_scope`.
struct ScopeRow {
  var scope: Int64 = 0
  let name: [UInt8]
  var format = Tables.format
  var writer: Int64 = 0
  var head: [UInt8]
  var devices: Int64
  var records: Int64

  private var check: Int64 {
    var check = RowCheck(
      UInt64(format), UInt64(bitPattern: devices), UInt64(bitPattern: records))
    check.add(name)
    check.add(head)
    return check.value
  }

  /// Finds a scope.
  ///
  /// Every row is read, since a damaged name must not look like no scope.
  static func find(
    _ name: [UInt8], on connection: any SQLConnection
  ) throws -> ScopeRow? {
    try all(on: connection).first { $0.name == name }
  }

  /// All scopes, by their numbers.
  static func all(on connection: any SQLConnection) throws -> [ScopeRow] {
    var scopes: [ScopeRow] = []
    try connection.run(
      "SELECT scope, name, format, writer, head, devices, records, row_check "
        + "FROM rejoin_scope ORDER BY scope", []
    ) { row in
      let scope = ScopeRow(
        scope: row.integer(0), name: row.bytes(1),
        format: Int(row.integer(2)), writer: row.integer(3),
        head: row.bytes(4), devices: row.integer(5), records: row.integer(6))
      // A later version may check its rows in another way.
      if scope.format > Tables.format {
        throw StoreError.newerFormat(scope.format)
      }
      guard row.integer(7) == scope.check else {
        throw StoreError.damaged("in the row of scope \(scope.scope)")
      }
      scopes.append(scope)
    }
    return scopes
  }

  /// Adds the row, which gets a number.
  mutating func insert(on connection: any SQLConnection) throws {
    let (format, name) = (Int64(format), SQLValue.bytes(name))
    let number = try connection.integer(
      "INSERT INTO rejoin_scope "
        + "(name, format, writer, head, devices, records, row_check) "
        + "VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING scope",
      name, .integer(format), .integer(writer), .bytes(head),
      .integer(devices), .integer(records), .integer(check))
    scope = number ?? 0
  }

  func update(on connection: any SQLConnection) throws {
    try connection.run(
      "UPDATE rejoin_scope SET head = ?, devices = ?, records = ?, "
        + "row_check = ? WHERE scope = ?",
      .bytes(head), .integer(devices), .integer(records), .integer(check),
      .integer(scope))
  }
}
