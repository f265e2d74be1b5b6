// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinFoundation
import RejoinSQL

/// A replica that writes every save to an SQLite file.
///
///     let store = try await ReplicaStore(
///       at: "notes.sqlite", schema: [Note.self])
///     try await store.save { $0[Note.self, "1"].title = "Milk" }
///     try await store.close()
///
///     let again = try await ReplicaStore(
///       at: "notes.sqlite", schema: [Note.self])
///     await again.read { $0[Note.self, "1"]?.title }  // "Milk"
///
/// When a call returns, the change is on disk. A crash or a power failure
/// doesn't lose it, provided that the disk and the file system keep the data
/// that they report as synced. A file contains one or more scopes, and each
/// scope contains one replica, with a row per record and per device. A save
/// writes only the rows that change.
///
/// A scope has one writer. If you open a scope that is already open, the next
/// change through the earlier store throws ``StoreError/superseded``.
///
/// The store runs its calls on its own thread, so a wait for the disk or for a
/// lock doesn't block other tasks.
public actor ReplicaStore {
  let scope: StoredScope
  private let queue: SerialQueue
  nonisolated let observers: ChangeObservers
  nonisolated let tables: [RecordTable]
  /// The engine that syncs the store.
  package nonisolated let engine = EngineSlot()

  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    queue.asUnownedSerialExecutor()
  }

  /// Opens a scope, and creates the scope and the file if they do not exist.
  ///
  /// If the file is a restored backup or a copy, the replica gets a new device
  /// ID. See ``deviceChange``. If the file cannot be written, the store is opened
  /// for reading. See ``writeError``.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - name: The name of the scope. A file can have many scopes, each with
  ///     its own replica.
  ///   - schema: The entities of the app.
  ///   - tables: The tables of the file that show records to SQLite.
  ///   - writer: A closure that writes tables of the app in the transaction of
  ///     each change, or `nil`, the default. See ``rebuildTables()``.
  ///   - wallClock: The wall clock. The default is the system clock.
  ///   - token: The storage of the restore token, or `nil` for a ``TokenFile``
  ///     next to the file, with the scope in its name.
  ///   - recovery: The way to continue if the token shows that a missing store
  ///     existed. If it is `nil`, the default, opening throws
  ///     ``StoreError/missing(_:)``.
  ///   - makeDeviceID: A closure that returns an unused device ID. The default
  ///     returns a random one.
  /// - Throws: ``StoreError``
  /// - Complexity: O(*n*), where *n* is the number of fields.
  public init(
    at path: String, scope name: String = "main", schema: Schema,
    tables: [RecordTable] = [],
    writing writer: TableWriter? = nil,
    wallClock: WallClock = .system, token: (any TokenStorage)? = nil,
    recovering recovery: StoreRecovery? = nil,
    makeDeviceID: @escaping @Sendable () -> DeviceID = DeviceID.random
  ) async throws(StoreError) {
    // SQLite interprets these paths as a database without a file.
    guard path != "", path != ":memory:" else {
      throw .cannotOpen(
        SQLError(
          .cannotOpen,
          "\"\(path)\" is not a file path; use `inMemory` for a store without one"
        ))
    }
    do { try DurableFile.check(path) } catch { throw .cannotOpen(error) }
    let file = DurableFile(path: path)
    let token = token ?? TokenFile(beside: file.path, scope: name)
    let tables = try MirroredTables(tables, writing: writer, schema: schema)
    try await self.init {
      // Check first. SQLite would create the file and delete a log without a
      // file.
      let found = try FoundToken(of: token)
      if recovery == nil, found.impliesStore, file.isEmpty {
        throw StoreError.missing(found.token)
      }
      let parts = ScopeParts(
        name: Array(name.utf8), patching: Patching(), schema: schema,
        tables: tables, wallClock: wallClock, tokenStorage: token,
        makeDeviceID: makeDeviceID)
      return try StoredScope.open(parts, at: file.path, recovering: recovery)
    }
  }

  /// Opens a store without a file, for tests and previews.
  ///
  /// The content of the store is lost when the process exits.
  ///
  /// - Parameters:
  ///   - schema: The entities of the app.
  ///   - tables: The tables that show records to SQLite.
  ///   - writer: A closure that writes tables of the app, or `nil`.
  ///   - wallClock: The wall clock. The default is the system clock.
  ///   - makeDeviceID: A closure that returns an unused device ID. The default
  ///     returns a random one.
  /// - Throws: ``StoreError``
  public static func inMemory(
    schema: Schema, tables: [RecordTable] = [],
    writing writer: TableWriter? = nil,
    wallClock: WallClock = .system,
    makeDeviceID: @escaping @Sendable () -> DeviceID = DeviceID.random
  ) async throws(StoreError) -> ReplicaStore {
    struct MemoryTokenStorage: TokenStorage {
      func load() -> [UInt8]? { nil }
      func store(_ bytes: [UInt8]) {}
    }
    let tables = try MirroredTables(tables, writing: writer, schema: schema)
    return try await ReplicaStore {
      let parts = ScopeParts(
        name: Array("main".utf8), patching: Patching(), schema: schema,
        tables: tables, wallClock: wallClock,
        tokenStorage: MemoryTokenStorage(), makeDeviceID: makeDeviceID)
      let file = try StoreFile()
      return try StoredScope(
        parts, on: file.connection, in: file, recovering: nil)
    }
  }

  private init(
    opening open: @Sendable () throws -> sending StoredScope
  ) async throws(StoreError) {
    let queue = SerialQueue("rejoin.store")
    do { scope = try await QueueWorker(queue).run(open) } catch {
      throw StoreError(opening: error)
    }
    self.queue = queue
    (observers, tables) = (scope.observers, scope.parts.tables.tables)
  }

  /// Reads or changes a setting of the connection, for tests.
  package func setting(_ text: String) throws -> Int64? {
    try scope.file?.connection.integer("PRAGMA " + text)
  }

  /// The device ID of the replica's saves.
  public var device: DeviceID { scope.replica.device }

  /// The last change of the device ID since the store was opened.
  public var deviceChange: Replica.DeviceChange? { scope.deviceChange }

  /// The saves that are fully applied here, and the fields that are ahead of
  /// them.
  public var version: ReplicaVersion { scope.replica.version }

  /// Whether the scope was opened for writing elsewhere.
  ///
  /// A superseded store still shows its last state, but cannot change. If
  /// another process opened the scope, the store detects it during its next
  /// change.
  public nonisolated var isSuperseded: Bool {
    observers.failure == .superseded
  }

  /// Saves edits under one dot and writes them to disk.
  ///
  /// - Parameters:
  ///   - name: The name that the Undo menu shows for the save, or `nil`, the
  ///     default, if ``undo()`` must not undo it.
  ///   - body: A closure that edits records.
  /// - Returns: The value that `body` returns, and the report of the save.
  /// - Throws: The error that `body` throws, `SaveError` or ``StoreError``. If
  ///   an error is thrown, the store is unchanged.
  @discardableResult
  public func save<Value: Sendable>(
    undoable name: String? = nil,
    _ body: @Sendable (Transaction) throws -> Value
  ) throws -> (value: Value, report: SaveReport) {
    try scope.update { try $0.save(undoable: name, body) }
  }

  /// Joins a delta and writes the changes to disk.
  ///
  /// - Throws: ``StoreError``. If an error is thrown, the store is unchanged.
  @discardableResult
  public func apply(_ delta: Delta) throws -> MergeReport {
    try scope.update { $0.apply(delta) }
  }

  /// Decodes and joins a delta, and writes the changes to disk.
  ///
  /// - Throws: `WireError` or ``StoreError``. If an error is thrown, the store
  ///   is unchanged.
  @discardableResult
  public func apply(decoding bytes: [UInt8]) throws -> MergeReport {
    try scope.update { replica in
      try bytes.withUnsafeBytes { try replica.apply(decoding: $0) }
    }
  }

  /// Changes the replica and writes the changes to disk.
  ///
  ///     try await store.withReplica { try $0.purgeDeletedRecords() }
  ///
  /// Use this method to commit several drafts, enroll or retire a device, record a
  /// version, purge, fold or import rows. To read, use ``read(_:)``.
  ///
  /// If `body` creates a delta, send it after the call returns. If a call
  /// throws after `body` created one with new saves, the replica takes a new
  /// device ID, in case the delta was sent.
  ///
  /// - Returns: The value that `body` returns.
  /// - Throws: The error that `body` throws, or ``StoreError``. If an error is
  ///   thrown, the store is unchanged, with one exception. After
  ///   ``StoreError/tokenNotStored(_:)``, the change is on disk, but you must
  ///   not send a delta or a copy of the state that `body` created.
  @discardableResult
  public func withReplica<Value: Sendable>(
    _ body: @Sendable (Replica) throws -> Value
  ) throws -> Value {
    try scope.update(body)
  }

  /// Returns the delta that a replica at `basis` lacks.
  ///
  /// - Returns: The delta, or `nil` if `basis` contains everything.
  /// - Throws: ``StoreError``, such as ``StoreError/tokenNotStored(_:)`` if the
  ///   store cannot first store the restore token.
  public func delta(since basis: ReplicaVersion) throws -> Delta? {
    try scope.export { $0.delta(since: basis) }
  }

  /// Returns a delta of the first records with changes that `basis` lacks.
  ///
  ///     while let delta = try phone.delta(since: tablet.version, byteLimit: 256_000) {
  ///       guard try tablet.apply(delta).hasAdvanced else { break }
  ///     }
  ///
  /// See `Replica.delta(since:byteLimit:)`.
  ///
  /// - Returns: The delta, or `nil` if `basis` contains everything.
  /// - Throws: ``StoreError``, such as ``StoreError/tokenNotStored(_:)`` if the
  ///   store cannot first store the restore token.
  public func delta(
    since basis: ReplicaVersion, byteLimit: Int
  ) throws -> Delta? {
    try scope.export { $0.delta(since: basis, byteLimit: byteLimit) }
  }

  /// Reads from the replica and creates deltas or copies of the same state.
  ///
  ///     let (version, delta) = try await store.export { replica in
  ///       (replica.version, replica.delta(since: basis))
  ///     }
  ///
  /// Unlike ``read(_:)``, this method first stores the restore token.
  ///
  /// - Returns: The value that `body` returns.
  /// - Throws: The error that `body` throws, or ``StoreError``, such as
  ///   ``StoreError/tokenNotStored(_:)`` if the store cannot store the token.
  /// - Precondition: `body` does not change the replica.
  public func export<Value: Sendable>(
    _ body: @Sendable (Replica) throws -> Value
  ) throws -> Value {
    try scope.export(body)
  }

  /// Reads from the replica.
  ///
  ///     let (items, version) = await store.read { view in
  ///       (view.records(of: Item.self, limit: 50), view.version)
  ///     }
  ///
  /// - Parameter body: A closure that reads from a view of the replica. To
  ///   create a delta of the same state, use ``export(_:)``.
  /// - Returns: The value that `body` returns.
  public func read<Value: Sendable>(
    _ body: @Sendable (ReplicaView) throws -> Value
  ) rethrows -> Value {
    try scope.read(body)
  }

  /// Writes the log into the file and closes the store.
  ///
  /// Closing ends the sequences of the store's observers. After that, you can
  /// still read the state in memory, but every change throws
  /// ``StoreError/closed``. Closing a closed store has no effect.
  ///
  /// Closing does not wait for a ``StoreReader``. While the closure of one runs, the
  /// log stays next to the file, and the next store writes it into the file. To
  /// copy a store that may be read, use ``backup(to:)``.
  ///
  /// - Throws: ``StoreError``. If an error is thrown, the store is still open.
  public func close() throws(StoreError) {
    try scope.close()
  }

  /// Writes a complete copy of the store into a file while the store is in use.
  ///
  ///     try await store.backup(to: "notes-2026-11-25.sqlite")
  ///
  /// The copy contains every acknowledged save, in one file without a log. It
  /// does not contain the restore token, so an app that opens the copy as a
  /// store gets a new device ID.
  ///
  /// - Parameter path: The path of the copy. Neither the file nor a log
  ///   (`-wal`, `-journal`) next to it must exist.
  /// - Throws: ``StoreError/closed`` or ``StoreError/notCopied(_:)``. After an
  ///   error, the path has no copy, or a complete one.
  /// - Complexity: O(*n*), where *n* is the size of the file.
  public func backup(to path: String) throws(StoreError) {
    try scope.copy(to: path)
  }
}
