// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// A replica whose every save is durable when the call returns.
///
///     let store = try ReplicaStore(
///       at: "notes.sqlite", schema: [Note.self], wallClock: clock,
///       makeDeviceID: newDevice)
///     try await store.save { $0[Note.self, "1"].title = "Milk" }
///
///     // Later, perhaps after a crash:
///     let again = try ReplicaStore(
///       at: "notes.sqlite", schema: [Note.self], wallClock: clock,
///       makeDeviceID: newDevice)
///     try await again.read { $0[Note.self, "1"]?.title }  // "Milk"
///
/// The replica is kept in a scope of an SQLite file: a row for each record, and one for each
/// device, so that a save costs what it changes. Between crashes and power cuts,
/// nothing that was acknowledged is lost, as far as disk and file system keep
/// what they say is synced.
///
/// There is one writer for each scope. Opening a scope supersedes whoever has opened it
/// before, whose next change throws ``StoreError/superseded``.
public actor ReplicaStore {
  private let scope: StoredScope
  private let connection: SQLiteConnection
  nonisolated let observers: ChangeObservers

  /// Opens a scope, or creates it, and the file if there is none.
  ///
  /// If the file turns out to be a restored backup or a copy, the replica takes a
  /// new device ID, see ``deviceChange``.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - name: The name of the scope; a file can have many, each a replica.
  ///   - schema: The entities that the app knows.
  ///   - wallClock: The wall clock.
  ///   - token: Keeps the restore token; by default in a ``TokenFile`` beside the
  ///     file, with the scope in its name.
  ///   - makeDeviceID: Returns an ID that has never been used.
  /// - Throws: ``StoreError``
  /// - Complexity: O(*n*) for *n* fields.
  public init(
    at path: String, scope name: String = "main", schema: Schema,
    wallClock: WallClock, token: (any TokenKeeper)? = nil,
    makeDeviceID: @escaping @Sendable () -> DeviceID
  ) throws(StoreError) {
    let hexadecimal = name.utf8.map {
      String($0 >> 4, radix: 16) + String($0 & 15, radix: 16)
    }.joined()
    do {
      connection = try SQLiteConnection(opening: path)
      for setting in ReplicaStore.settings { try connection.run(setting) }
      scope = try StoredScope(
        name, on: connection, schema: schema, wallClock: wallClock,
        token: token
          ?? TokenFile(beside: name == "main" ? path : path + "." + hexadecimal),
        makeDeviceID: makeDeviceID)
      observers = scope.observers
    } catch { throw StoreError(opening: error) }
  }

  /// Every commit is synced; damage is looked for; the log stays small.
  private static let settings = [
    "PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL",
    "PRAGMA fullfsync = 1", "PRAGMA checkpoint_fullfsync = 1",
    "PRAGMA cell_size_check = 1", "PRAGMA trusted_schema = 0",
    "PRAGMA journal_size_limit = 16777216",
  ]

  /// The device under which the replica saves.
  public var device: DeviceID { scope.replica.device }

  /// The last change of the device ID since the store was opened.
  public var deviceChange: Replica.DeviceChange? { scope.deviceChange }

  /// The saves that are fully applied here, and the fields ahead of them.
  public var version: ReplicaVersion { scope.replica.version }

  /// Saves the edits of `body` under one dot, durably.
  ///
  /// - Returns: What `body` returns, and the report of the save.
  /// - Throws: What `body` throws, `SaveError` or ``StoreError``. On error, nothing
  ///   has changed.
  @discardableResult
  public func save<Value: Sendable>(
    _ body: @Sendable (Transaction) throws -> Value
  ) throws -> (value: Value, report: SaveReport) {
    try scope.update { try $0.save(body) }
  }

  /// Saves edits, and writes tables of the app in the same file: both or neither.
  ///
  ///     try await store.save(writing: { connection in
  ///       try connection.run(
  ///         "INSERT INTO search VALUES (?, ?)", .text("1"), .text("Milk"))
  ///     }) { $0[Note.self, "1"].title = "Milk" }
  ///
  /// - Parameters:
  ///   - tables: Runs statements, within a transaction that it does not end. The
  ///     tables whose names begin with `rejoin` are the store's.
  ///   - body: The edits.
  /// - Returns: What `body` returns, and the report of the save.
  /// - Throws: What `tables` and `body` throw, `SaveError` or ``StoreError``. On error,
  ///   nothing has changed.
  @discardableResult
  public func save<Value: Sendable>(
    writing tables: @Sendable (any SQLConnection) throws -> Void,
    _ body: @Sendable (Transaction) throws -> Value
  ) throws -> (value: Value, report: SaveReport) {
    try scope.update { replica in
      let saved = try replica.save(body)
      try tables(connection)
      return saved
    }
  }

  /// Joins a delta, durably.
  ///
  /// - Throws: ``StoreError``. On error, nothing has changed.
  @discardableResult
  public func apply(_ delta: Delta) throws -> MergeReport {
    try scope.update { $0.apply(delta) }
  }

  /// Joins the bytes of a delta, durably.
  ///
  /// - Throws: `WireError` or ``StoreError``. On error, nothing has changed.
  @discardableResult
  public func apply(decoding bytes: [UInt8]) throws -> MergeReport {
    try scope.update { replica in
      try bytes.withUnsafeBytes { try replica.apply(decoding: $0) }
    }
  }

  /// Carries out any other change of the replica, durably: to enroll or retire a
  /// device, to acknowledge a version, to purge or fold, to pull or import.
  ///
  ///     try await store.update { try $0.purge() }
  ///
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, or ``StoreError``. On error, nothing has changed.
  @discardableResult
  public func update<Value: Sendable>(
    _ body: @Sendable (Replica) throws -> Value
  ) throws -> Value {
    try scope.update(body)
  }

  /// What is unseen by a replica with a version.
  ///
  /// - Throws: ``StoreError/tokenNotStored(_:)`` if the restore token has to be kept
  ///   first and cannot be.
  public func delta(since basis: ReplicaVersion) throws -> Delta? {
    try scope.send { $0.delta(since: basis) }
  }

  /// Makes anything else that leaves the device, such as a `Snapshot` or a fork.
  ///
  /// - Throws: What `body` throws, or ``StoreError/tokenNotStored(_:)`` if the restore token
  ///   has to be kept first and cannot be.
  public func send<Value: Sendable>(
    _ body: @Sendable (Replica) throws -> Value
  ) throws -> Value {
    try scope.send(body)
  }

  /// Reads from the replica.
  ///
  /// - Precondition: `body` changes nothing.
  public func read<Value: Sendable>(
    _ body: @Sendable (Replica) throws -> Value
  ) rethrows -> Value {
    try scope.read(body)
  }
}
