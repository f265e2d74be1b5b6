// SPDX-License-Identifier: Apache-2.0

import RejoinSQL

/// The tables of a store, on a device or a hub.
///
/// Each row has a check of its content, and each scope stores the number of its
/// rows. The checks reveal flipped bits, and the numbers reveal lost rows. The
/// number of rows of the undo history is not stored. Rows of records are deleted
/// only with their scope.
///
/// Texts are stored as bytes, because they can contain NUL and are compared as
/// bytes.
enum Tables {
  /// The version of the tables, which breaking changes increment.
  ///
  /// It is not stored in `user_version`, which belongs to the app. A row of a
  /// scope has the first version that can read it: 1, or 2 if the scope is
  /// erased.
  ///
  /// If several processes save in one scope, as a later version may allow, they
  /// need more than this format has:
  ///
  /// - touches of records on devices, which one scan of the rows can fill
  /// - a generation for changes without a save
  /// - a row for each device whose saves are all ahead
  /// - numbers of saves that are taken from the rows, under the lock
  /// - an owner for each row of the undo history
  /// - no `writer`
  ///
  /// All of it can be added when a store opens, which reads every row anyway.
  /// The migration then moves `writer` once more, so a process of an earlier
  /// version is superseded. An open reader finds the later format in its next
  /// snapshot.
  static let format = 2

  /// The statements that create the tables, in PostgreSQL's dialect.
  ///
  /// Each condition fits only one index, so the database cannot choose a wrong
  /// one. A row is found by its number or by its name within its scope. The
  /// exception are the touches of a device: see ``touchesPerDevice``.
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
      entity BYTEA NOT NULL, key BYTEA NOT NULL,
      state BIGINT NOT NULL DEFAULT 0, body BYTEA NOT NULL,
      UNIQUE (scope, entity, key))
    """,
    existingIndex,
    // The changes of a large record since its row was written.
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
    // Hubs only: the last save of each device that a record has seen.
    """
    CREATE TABLE rejoin_touch (
      scope BIGINT NOT NULL, record BIGINT NOT NULL, device BIGINT NOT NULL,
      n BIGINT NOT NULL, PRIMARY KEY (record, device))
    """,
    "CREATE INDEX rejoin_since ON rejoin_touch (device, n, record)",
  ]

  /// The statement that creates the index of existing records, if it is missing.
  ///
  /// Only devices have entries. The rows of purged records stay, and there can be
  /// many of them.
  static let existingIndex = """
    CREATE INDEX IF NOT EXISTS rejoin_existing
      ON rejoin_record (scope, entity, key, state) WHERE \(isExisting)
    """

  /// The condition of the index of existing records, by the bits of
  /// `RecordFlags`.
  ///
  /// A database uses the index only for a condition with the same text.
  static let isExisting = "state & 3 <> 0"

  /// The statement that sets the number of devices for the plans of PostgreSQL.
  ///
  /// The primary key also contains the device, as its last column. If a sample of
  /// the touches had only one device, the server would expect that each device
  /// has all of them, and read the whole primary key.
  private static let touchesPerDevice =
    "ALTER TABLE rejoin_touch ALTER COLUMN device SET (n_distinct = 1000)"

  /// The table of the undo history, which files of earlier versions lack.
  ///
  /// The body is last, so SQLite finds the other columns without reading it.
  /// The index finds the rows of a scope.
  private static let undo = [
    """
    CREATE TABLE IF NOT EXISTS rejoin_undo (
      step BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
      scope BIGINT NOT NULL, undone BIGINT NOT NULL, name BYTEA,
      device BYTEA NOT NULL, n BIGINT NOT NULL,
      row_check BIGINT NOT NULL, body BYTEA NOT NULL)
    """,
    """
    CREATE INDEX IF NOT EXISTS rejoin_undo_of_scope
      ON rejoin_undo (scope, step)
    """,
  ]

  /// The names of the tables that every store has.
  private static let required = [
    "rejoin_scope", "rejoin_device", "rejoin_record", "rejoin_patch",
    "rejoin_digest", "rejoin_touch",
  ]

  /// The names of the tables with rows that an erased scope lacks.
  static let erased = required.filter { $0 != "rejoin_scope" }

  /// The names of the tables with rows of a scope.
  static let names = required + ["rejoin_undo"]

  /// The names of all tables, which statements of the app must not change.
  static let protected = Set(names + ["rejoin_app_table", "rejoin_note"])

  /// Returns a definition in SQLite's dialect.
  ///
  /// A row with a number is stored by this number, and other tables need no row
  /// ID.
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

  /// Creates the tables if they do not exist.
  static func create(on connection: any SQLConnection) throws {
    if try exist(on: connection) { return }
    if connection.dialect == .postgresql {
      // If two connections created the tables at once, one of them would fail.
      try connection.run("SELECT pg_advisory_xact_lock($1)", .integer(lock))
      if try exist(on: connection) { return }
    }
    for definition in definitions { try run(definition, on: connection) }
    if connection.dialect == .postgresql {
      try connection.run(touchesPerDevice)
    }
  }

  /// Creates the table of the undo history if the database lacks it.
  ///
  /// A table of an earlier version is replaced, and its history is lost.
  static func createUndo(on connection: any SQLConnection) throws {
    if try undoExists(on: connection) { return }
    try connection.run("DROP TABLE IF EXISTS rejoin_undo")
    for definition in undo { try run(definition, on: connection) }
  }

  /// Creates the table of the last writers that called the closure for tables of
  /// the app, if it does not exist.
  static func createAppTable(on connection: any SQLConnection) throws {
    try run(
      """
      CREATE TABLE IF NOT EXISTS rejoin_app_table (
        scope BIGINT PRIMARY KEY, writer BIGINT NOT NULL)
      """, on: connection)
  }

  /// Creates the table of notes, if it does not exist.
  static func createNotes(on connection: any SQLConnection) throws {
    try run(
      """
      CREATE TABLE IF NOT EXISTS rejoin_note (
        scope BIGINT NOT NULL, name BYTEA NOT NULL, value BYTEA NOT NULL,
        row_check BIGINT NOT NULL, PRIMARY KEY (scope, name))
      """, on: connection)
  }

  private static func run(
    _ definition: String, on connection: any SQLConnection
  ) throws {
    switch connection.dialect {
    case .sqlite: try connection.run(sqlite(definition))
    case .postgresql: try connection.run(definition)
    }
  }

  /// The number of the advisory lock, which other apps are unlikely to use.
  private static let lock: Int64 = 0x7265_6a6f_696e

  /// Returns whether a database has the table of the undo history, with the
  /// columns of this version.
  static func undoExists(on connection: any SQLConnection) throws -> Bool {
    let columns =
      switch connection.dialect {
      case .sqlite: "pragma_table_info('rejoin_undo') WHERE name"
      case .postgresql:
        "information_schema.columns WHERE table_schema = current_schema() "
          + "AND table_name = 'rejoin_undo' AND column_name"
      }
    return try connection.integer(
      "SELECT count(*) FROM \(columns) = 'device'") == 1
  }

  /// Returns the number of the given tables that a database has.
  static func count(
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

  /// Returns whether a database has the tables.
  ///
  /// - Throws: ``StoreError`` if it has only some of them.
  static func exist(on connection: any SQLConnection) throws -> Bool {
    let count = try count(of: required, on: connection)
    if count == Int64(Tables.required.count) { return true }
    if count == 0 { return false }
    // A later version may have other tables.
    let format = try? connection.integer(
      "SELECT max(format) FROM rejoin_scope")
    if let format, format > Self.format {
      throw StoreError.newerFormat(Int(clamping: format))
    }
    throw StoreError.damaged("it has only \(count) tables of a store")
  }
}

extension SQLConnection {
  /// Runs `body` in a transaction that reads one state of the database.
  func reading<Value>(_ body: () throws -> Value) throws -> Value {
    switch dialect {
    case .sqlite: try transaction("BEGIN", body)
    case .postgresql:
      try transaction(
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", body)
    }
  }

  /// Runs `body` in a transaction that reads and writes.
  ///
  /// In SQLite, the transaction first waits for the lock of the file.
  func changing<Value>(_ body: () throws -> Value) throws -> Value {
    try transaction(dialect == .sqlite ? "BEGIN IMMEDIATE" : "BEGIN", body)
  }
}
