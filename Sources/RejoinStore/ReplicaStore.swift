// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// A replica whose every save is durable when the call returns.
///
///     let store = try await ReplicaStore(
///       at: "notes.sqlite", schema: [Note.self], wallClock: clock,
///       makeDeviceID: newDevice)
///     try await store.save { $0[Note.self, "1"].title = "Milk" }
///     try await store.close()
///
///     let again = try await ReplicaStore(
///       at: "notes.sqlite", schema: [Note.self], wallClock: clock,
///       makeDeviceID: newDevice)
///     await again.read { $0[Note.self, "1"]?.title }  // "Milk"
///
/// The replica is kept in a scope of an SQLite file: a row for each record, and one for each
/// device, so that a save costs what it changes. Between crashes and power cuts,
/// nothing that was acknowledged is lost, as far as disk and file system keep
/// what they say is synced.
///
/// There is one writer for each scope. Opening a scope supersedes whoever has opened it
/// before, whose next change throws ``StoreError/superseded``.
///
/// Its calls run on a thread of the store's own, so that waiting for the disk or for a
/// lock blocks no other task.
public actor ReplicaStore {
  private let scope: StoredScope
  private let connection: SQLiteConnection
  private let queue: SerialQueue
  nonisolated let observers: ChangeObservers

  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    queue.asUnownedSerialExecutor()
  }

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
  ///   - recovery: What to do if the token tells of a store that is not there. By
  ///     default, opening throws ``StoreError/missing(_:)``.
  ///   - makeDeviceID: Returns an ID that has never been used.
  /// - Throws: ``StoreError``
  /// - Complexity: O(*n*) for *n* fields.
  public init(
    at path: String, scope name: String = "main", schema: Schema,
    wallClock: WallClock, token: (any TokenKeeper)? = nil,
    recovering recovery: StoreRecovery? = nil,
    makeDeviceID: @escaping @Sendable () -> DeviceID
  ) async throws(StoreError) {
    // SQLite takes these for a database without a file.
    guard path != "", path != ":memory:" else {
      throw .cannotOpen(
        SQLError(
          .cannotOpen,
          "\"\(path)\" is no path of a file; `inMemory` opens a store without one"
        ))
    }
    let hexadecimal = name.utf8.map {
      String($0 >> 4, radix: 16) + String($0 & 15, radix: 16)
    }.joined()
    let token =
      token
      ?? TokenFile(beside: name == "main" ? path : path + "." + hexadecimal)
    try await self.init(path, name) { connection in
      try StoredScope(
        name, on: connection, recovering: recovery, schema: schema,
        wallClock: wallClock, token: token, makeDeviceID: makeDeviceID)
    }
    if let key = OpenScopes.Key(name, in: path) {
      OpenScopes.shared.open(key, by: observers)
    }
  }

  /// Opens a store that has no file and ends with the process, for tests and
  /// previews.
  ///
  /// - Parameters:
  ///   - schema: The entities that the app knows.
  ///   - wallClock: The wall clock.
  ///   - makeDeviceID: Returns an ID that has never been used.
  /// - Throws: ``StoreError``
  public static func inMemory(
    schema: Schema, wallClock: WallClock,
    makeDeviceID: @escaping @Sendable () -> DeviceID
  ) async throws(StoreError) -> ReplicaStore {
    struct Keeper: TokenKeeper {
      func load() -> [UInt8]? { nil }
      func keep(_ bytes: [UInt8]) {}
    }
    return try await ReplicaStore(":memory:", "main") { connection in
      try StoredScope(
        "main", on: connection, schema: schema, wallClock: wallClock,
        token: Keeper(), makeDeviceID: makeDeviceID)
    }
  }

  private init(
    _ path: String, _ name: String,
    _ open: @Sendable (SQLiteConnection) throws -> StoredScope
  ) async throws(StoreError) {
    let queue = SerialQueue("rejoin.store")
    do {
      (connection, scope) = try await QueueWorker(queue).run {
        let connection = try SQLiteConnection(opening: path)
        for setting in ReplicaStore.settings { try connection.run(setting) }
        return (connection, try open(connection))
      }
    } catch { throw StoreError(opening: error) }
    self.queue = queue
    observers = scope.observers
  }

  /// Every commit is synced; damage is looked for; the log stays small.
  private static let settings = [
    "PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL",
    "PRAGMA fullfsync = 1", "PRAGMA checkpoint_fullfsync = 1",
    "PRAGMA cell_size_check = 1", "PRAGMA trusted_schema = 0",
    "PRAGMA journal_size_limit = 16777216",
  ]

  /// Reads a setting of the connection, or sets one, for checkers.
  package func setting(_ text: String) throws -> Int64? {
    try connection.integer("PRAGMA " + text)
  }

  /// The device under which the replica saves.
  public var device: DeviceID { scope.replica.device }

  /// The last change of the device ID since the store was opened.
  public var deviceChange: Replica.DeviceChange? { scope.deviceChange }

  /// The saves that are fully applied here, and the fields ahead of them.
  public var version: ReplicaVersion { scope.replica.version }

  /// Whether the scope has been opened for writing elsewhere, so that this store can
  /// change no more and shows what was there before.
  ///
  /// If another process has opened the scope, it is found out at the next change.
  public nonisolated var isSuperseded: Bool {
    observers.failure == .superseded
  }

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
  ///     try await store.save(writing: { connection, changes in
  ///       for note in changes.of(Note.self) {
  ///         try connection.run(
  ///           "REPLACE INTO search VALUES (?, ?)", .text(note.key),
  ///           note.new?.title.map { .text($0) } ?? .null)
  ///       }
  ///     }) { $0[Note.self, "1"].title = "Milk" }
  ///
  /// - Parameters:
  ///   - tables: Runs statements, given what the save has changed. They cannot end
  ///     the transaction, change how it is made durable, or change the store's own
  ///     tables: that throws an `SQLError` with the code `misused`.
  ///   - body: The edits.
  /// - Returns: What `body` returns, and the report of the save.
  /// - Throws: What `tables` and `body` throw, `SaveError` or ``StoreError``. On error,
  ///   nothing has changed.
  @discardableResult
  public func save<Value: Sendable>(
    writing tables: @Sendable (any SQLConnection, RecordChanges) throws -> Void,
    _ body: @Sendable (Transaction) throws -> Value
  ) throws -> (value: Value, report: SaveReport) {
    try update(writing: tables) { try $0.save(body) }
  }

  /// Joins a delta, durably.
  ///
  /// - Throws: ``StoreError``. On error, nothing has changed.
  @discardableResult
  public func apply(_ delta: Delta) throws -> MergeReport {
    try scope.update { $0.apply(delta) }
  }

  /// Joins a delta, and writes tables of the app in the same file: both or neither.
  ///
  /// - Parameters:
  ///   - delta: The delta.
  ///   - tables: Runs statements as with ``save(writing:_:)``, given what the delta
  ///     has changed.
  /// - Throws: What `tables` throws, or ``StoreError``. On error, nothing has
  ///   changed.
  @discardableResult
  public func apply(
    _ delta: Delta,
    writing tables: @Sendable (any SQLConnection, RecordChanges) throws -> Void
  ) throws -> MergeReport {
    try update(writing: tables) { $0.apply(delta) }
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

  /// Carries out any change of the replica, and writes tables of the app in the same
  /// file: both or neither.
  ///
  /// - Parameters:
  ///   - tables: Runs statements as with ``save(writing:_:)``, given what has
  ///     changed.
  ///   - body: The change.
  /// - Returns: What `body` returns.
  /// - Throws: What `tables` and `body` throw, or ``StoreError``. On error, nothing
  ///   has changed.
  @discardableResult
  public func update<Value: Sendable>(
    writing tables: @Sendable (any SQLConnection, RecordChanges) throws -> Void,
    _ body: @Sendable (Replica) throws -> Value
  ) throws -> Value {
    try scope.update(
      writing: { changes in
        try connection.restricted(protecting: Set(Tables.names)) {
          try tables(connection, changes)
        }
      }, body)
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

  /// Closes the store, with the log written into the file.
  ///
  /// Afterwards, observers end and every change throws ``StoreError/closed``. What is
  /// in memory can still be read. Closing it again does nothing.
  ///
  /// - Throws: ``StoreError``. On error, the store is still open.
  public func close() throws(StoreError) {
    try scope.close {
      try connection.run("PRAGMA wal_checkpoint(TRUNCATE)")
      connection.close()
    }
  }

  /// Writes a complete copy into a file, while the store is in use.
  ///
  ///     try await store.backup(to: "notes-2026-11-25.sqlite")
  ///
  /// The copy has every save that was acknowledged, in one file without a log, and
  /// not the restore token: opened as a store, it takes a new device.
  ///
  /// - Parameter path: The path of the copy, which must not exist.
  /// - Throws: ``StoreError/notCopied(_:)``, and there is no copy; or
  ///   ``StoreError/closed``.
  /// - Complexity: O(*n*) for *n* bytes of the file.
  public func backup(to path: String) throws(StoreError) {
    try scope.copy(to: path)
  }
}
