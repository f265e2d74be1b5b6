// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// The tables of a store, of a device or of a hub.
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

  /// The statements that create them, in the words of PostgreSQL.
  ///
  /// Every key begins with the scope, so that a database can spread scopes over
  /// machines.
  private static let definitions = [
    """
    CREATE TABLE rejoin_scope (
      scope BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
      name BYTEA NOT NULL UNIQUE,
      format BIGINT NOT NULL, writer BIGINT NOT NULL, head BYTEA NOT NULL,
      devices BIGINT NOT NULL, records BIGINT NOT NULL,
      row_check BIGINT NOT NULL)
    """,
    """
    CREATE TABLE rejoin_device (
      scope BIGINT NOT NULL, device BIGINT GENERATED ALWAYS AS IDENTITY,
      id BYTEA NOT NULL, n BIGINT NOT NULL, time BIGINT NOT NULL,
      digest BIGINT NOT NULL, forked BIGINT NOT NULL,
      row_check BIGINT NOT NULL, PRIMARY KEY (scope, device),
      UNIQUE (scope, id))
    """,
    """
    CREATE TABLE rejoin_record (
      scope BIGINT NOT NULL, record BIGINT GENERATED ALWAYS AS IDENTITY,
      entity BYTEA NOT NULL, key BYTEA NOT NULL, body BYTEA NOT NULL,
      PRIMARY KEY (scope, record), UNIQUE (scope, entity, key))
    """,
    """
    CREATE TABLE rejoin_digest (
      scope BIGINT NOT NULL, n BIGINT NOT NULL, digest BIGINT NOT NULL,
      row_check BIGINT NOT NULL, PRIMARY KEY (scope, n))
    """,
    // A hub's alone: the last save of each device that a record has seen.
    """
    CREATE TABLE rejoin_touch (
      scope BIGINT NOT NULL, record BIGINT NOT NULL, device BIGINT NOT NULL,
      n BIGINT NOT NULL, PRIMARY KEY (scope, record, device))
    """,
    "CREATE INDEX rejoin_since ON rejoin_touch (scope, device, n, record)",
  ]

  /// The same in the words of SQLite, where the number of a row is its place.
  private static func sqlite(_ definition: String) -> String {
    var text = definition
    for name in ["scope", "device", "record"] {
      text.replace("PRIMARY KEY (scope, \(name)), ", with: "")
      text.replace("PRIMARY KEY (scope, \(name)),\n", with: "\n")
      text.replace(
        " \(name) BIGINT GENERATED ALWAYS AS IDENTITY",
        with: " \(name) INTEGER PRIMARY KEY")
    }
    text.replace(
      "BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY",
      with: "INTEGER PRIMARY KEY")
    text.replace("BIGINT", with: "INTEGER")
    text.replace("BYTEA", with: "BLOB")
    let hasNumber = text.contains("INTEGER PRIMARY KEY")
    return text
      + (hasNumber || !text.hasPrefix("CREATE TABLE") ? "" : " WITHOUT ROWID")
  }

  /// Creates the tables in a database that has none of them.
  static func create(on connection: any SQLConnection) throws {
    if try exist(on: connection) { return }
    if connection.dialect == .postgresql {
      // Not two at once, which would be an error for one of them.
      try connection.run("SELECT pg_advisory_xact_lock(?)", .integer(lock))
      if try exist(on: connection) { return }
    }
    for definition in definitions {
      switch connection.dialect {
      case .sqlite: try connection.run(sqlite(definition))
      case .postgresql: try connection.run(definition)
      }
    }
  }

  /// Any number that others are not likely to lock.
  private static let lock: Int64 = 0x7265_6a6f_696e

  /// Whether a database has the tables: all of them or none.
  static func exist(on connection: any SQLConnection) throws -> Bool {
    let names =
      switch connection.dialect {
      case .sqlite: "sqlite_master WHERE type = 'table' AND name"
      case .postgresql:
        "pg_tables WHERE schemaname = current_schema() AND tablename"
      }
    let count = try connection.integer(
      "SELECT count(*) FROM \(names) LIKE 'rejoin%'")
    if count == Int64(definitions.count - 1) { return true }
    if count == 0 { return false }
    throw StoreError.damaged("of whose tables there are \(count ?? 0)")
  }
}

extension SQLConnection {
  /// Reads as of one moment, whatever others write.
  func reading<Value>(_ body: () throws -> Value) throws -> Value {
    switch dialect {
    case .sqlite: try transaction("BEGIN", body)
    case .postgresql:
      try transaction(
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", body)
    }
  }

  /// Reads and writes, after the lock has been waited for.
  func changing<Value>(_ body: () throws -> Value) throws -> Value {
    try transaction(dialect == .sqlite ? "BEGIN IMMEDIATE" : "BEGIN", body)
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
    try read("ORDER BY scope", [], on: connection)
  }

  /// Finds a scope of a hub, which can have many.
  ///
  /// - Parameter locks: Whether no other transaction may change the scope before
  ///   the end of this one.
  static func findOnHub(
    _ name: [UInt8], locks: Bool, on connection: any SQLConnection
  ) throws -> ScopeRow? {
    // A transaction of SQLite that writes has locked the file.
    let end = locks && connection.dialect == .postgresql ? " FOR UPDATE" : ""
    let row = try read(
      "WHERE name = ?" + end, [.bytes(name)], on: connection
    ).first
    if let row, !row.isOfHub { throw StoreError.ofDevice }
    return row
  }

  /// Whether nobody opens the scope as one replica.
  var isOfHub: Bool { writer == 0 }

  private static func read(
    _ condition: String, _ values: [SQLValue], on connection: any SQLConnection
  ) throws -> [ScopeRow] {
    var scopes: [ScopeRow] = []
    try connection.run(
      "SELECT scope, name, format, writer, head, devices, records, row_check "
        + "FROM rejoin_scope " + condition, values
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
  ///
  /// - Returns: Whether there was none of that name.
  @discardableResult
  mutating func insert(on connection: any SQLConnection) throws -> Bool {
    let (format, name) = (Int64(format), SQLValue.bytes(name))
    let number = try connection.integer(
      "INSERT INTO rejoin_scope "
        + "(name, format, writer, head, devices, records, row_check) "
        + "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING "
        + "RETURNING scope",
      name, .integer(format), .integer(writer), .bytes(head),
      .integer(devices), .integer(records), .integer(check))
    scope = number ?? 0
    return number != nil
  }

  func update(on connection: any SQLConnection) throws {
    try connection.run(
      "UPDATE rejoin_scope SET head = ?, devices = ?, records = ?, "
        + "row_check = ? WHERE scope = ?",
      .bytes(head), .integer(devices), .integer(records), .integer(check),
      .integer(scope))
  }
}
