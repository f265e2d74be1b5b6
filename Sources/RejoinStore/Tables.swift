// SPDX-License-Identifier: Apache-2.0

import RejoinSQL

/// The tables of a store, of a device or of a hub.
///
/// Each row has a check of its content, and each scope the number of its rows, so
/// that neither a flipped bit nor a lost row goes unnoticed. Texts are kept as
/// bytes, since they may contain NUL and are compared as bytes. Rows of records
/// are never deleted. Rows of the undo history have checks, and their number is not stored.
enum Tables {
  /// Incremented for breaking changes.
  ///
  /// The `user_version` of a file belongs to the app.
  static let format = 1

  /// The statements that create the tables, in PostgreSQL's dialect.
  ///
  /// No condition fits two of the indexes, so the database cannot choose the
  /// wrong one, whatever its statistics are. A row is found by its number or by
  /// its name within its scope, and a touch by its device.
  private static let definitions = [
    """
    CREATE TABLE rejoin_scope (
      scope BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
      name BYTEA NOT NULL UNIQUE,
      format BIGINT NOT NULL, writer BIGINT NOT NULL, head BYTEA NOT NULL,
      devices BIGINT NOT NULL, records BIGINT NOT NULL,
      patches BIGINT NOT NULL,
      row_check BIGINT NOT NULL)
    """,
    """
    CREATE TABLE rejoin_device (
      device BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
      scope BIGINT NOT NULL,
      id BYTEA NOT NULL, n BIGINT NOT NULL, time BIGINT NOT NULL,
      digest BIGINT NOT NULL, forked BIGINT NOT NULL,
      row_check BIGINT NOT NULL, UNIQUE (scope, id))
    """,
    """
    CREATE TABLE rejoin_record (
      record BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
      scope BIGINT NOT NULL,
      entity BYTEA NOT NULL, key BYTEA NOT NULL, body BYTEA NOT NULL,
      UNIQUE (scope, entity, key))
    """,
    // A device's alone: what has changed of a large record since its row was
    // written.
    """
    CREATE TABLE rejoin_patch (
      scope BIGINT NOT NULL, record BIGINT NOT NULL, place BIGINT NOT NULL,
      body BYTEA NOT NULL, row_check BIGINT NOT NULL,
      PRIMARY KEY (record, place))
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
      n BIGINT NOT NULL, PRIMARY KEY (record, device))
    """,
    "CREATE INDEX rejoin_since ON rejoin_touch (device, n, record)",
  ]

  /// A table that only devices need, and that files of earlier versions lack.
  private static let undo = """
    CREATE TABLE IF NOT EXISTS rejoin_undo (
      step BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
      scope BIGINT NOT NULL, undone BIGINT NOT NULL, body BYTEA NOT NULL,
      row_check BIGINT NOT NULL)
    """

  /// The names of the tables that every database of a store has.
  private static let required = [
    "rejoin_scope", "rejoin_device", "rejoin_record", "rejoin_patch",
    "rejoin_digest", "rejoin_touch",
  ]

  /// The names of all tables, which distinguish them from tables of the app.
  static let names = required + ["rejoin_undo"]

  /// The same in the words of SQLite, where the number of a row is its place.
  private static func sqlite(_ definition: String) -> String {
    var text = definition
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
    for definition in definitions { try run(definition, on: connection) }
  }

  /// Creates the table of the undo history if the database lacks it.
  static func createUndo(on connection: any SQLConnection) throws {
    try run(undo, on: connection)
  }

  private static func run(
    _ definition: String, on connection: any SQLConnection
  ) throws {
    switch connection.dialect {
    case .sqlite: try connection.run(sqlite(definition))
    case .postgresql: try connection.run(definition)
    }
  }

  /// Any number that others are not likely to lock.
  private static let lock: Int64 = 0x7265_6a6f_696e

  /// Whether a database has the table of the undo history.
  static func undoExists(on connection: any SQLConnection) throws -> Bool {
    try count(of: ["rejoin_undo"], on: connection) == 1
  }

  /// Returns how many of some tables a database has.
  private static func count(
    of tables: [String], on connection: any SQLConnection
  ) throws -> Int64 {
    let names =
      switch connection.dialect {
      case .sqlite: "sqlite_master WHERE type = 'table' AND name"
      case .postgresql:
        "pg_tables WHERE schemaname = current_schema() AND tablename"
      }
    let list = tables.map { "'\($0)'" }.joined(separator: ", ")
    return try connection.integer(
      "SELECT count(*) FROM \(names) IN (\(list))") ?? 0
  }

  /// Whether a database has the tables: all of them or none.
  static func exist(on connection: any SQLConnection) throws -> Bool {
    let count = try count(of: required, on: connection)
    if count == Int64(Tables.required.count) { return true }
    if count == 0 { return false }
    // A later version may have other tables.
    let format = try? connection.integer(
      "SELECT max(format) FROM rejoin_scope")
    if let format, format > Self.format {
      throw StoreError.newerFormat(Int(format))
    }
    throw StoreError.damaged("of whose tables there are \(count)")
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
