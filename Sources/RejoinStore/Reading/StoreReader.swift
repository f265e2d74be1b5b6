// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// A reader of a scope that a store writes, in this process or in another one.
///
///     let reader = try await StoreReader(at: path, schema: [Note.self])
///     let (notes, count) = try await reader.read { view in
///       (view.records(of: Note.self, limit: 50), view.recordCount(of: Note.self))
///     }
///
/// Use a reader in a widget, an extension or a command, and for lists that must
/// not wait for a running save. It opens in about a millisecond, whatever the size
/// of the file, and loads only the records that a closure reads. It changes neither
/// the file nor its log, claims no scope, and needs no token. A store that
/// is open stays the writer of its scope. The first store that opens a backup waits
/// until no reader reads it. If no store is open, SQLite can leave an empty log next
/// to the file.
///
/// A read sees the state after one commit, and keeps nothing for the next read. To
/// read many records again and again, or to filter all records in Swift,
/// ``ReplicaStore/read(_:)`` is 3 to 17 times as fast, because a store keeps all
/// records in memory. A reader does not notice changes.
///
/// A damaged record throws when it is read. Counts, lists of IDs and `exists` read
/// only the index of the file. If the index is damaged, or a row is missing, they
/// can be wrong until a store opens the file, which compares all rows.
///
/// The reader runs its calls on its own thread. It is connected to the file only
/// during a read, so that a suspended process holds no lock of the file. Each read
/// opens the file that the path names then.
public actor StoreReader {
  private let file: DurableFile
  private let scope: [UInt8]
  private let schema: Schema
  private let queue: SerialQueue

  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    queue.asUnownedSerialExecutor()
  }

  /// Creates a reader, and reads the scope once.
  ///
  /// - Parameters:
  ///   - path: The path of the store's file.
  ///   - name: The name of the scope.
  ///   - schema: The entities of the app.
  /// - Throws: ``StoreError``, such as ``StoreError/notCreated(path:scope:)``
  ///   before the app first opens the store, ``StoreError/protected(_:)`` while the
  ///   phone is locked, ``StoreError/newerFormat(_:)`` after an update of the app,
  ///   or ``StoreError/scopeBelongsToHub``.
  /// - Complexity: O(log *n*), where *n* is the number of scopes. After a crash of
  ///   the writer, the first read also reads its log.
  public init(
    at path: String, scope name: String = "main", schema: Schema
  ) async throws(StoreError) {
    do { try DurableFile.check(path) } catch { throw .cannotOpen(error) }
    let file = DurableFile(path: path)
    let scope = Array(name.utf8)
    let queue = SerialQueue("rejoin.reader")
    do {
      try await QueueWorker(queue).run {
        try StoreReader.read(scope, of: file, schema) { _ in }
      }
    } catch { throw StoreError(opening: error) }
    (self.file, self.scope, self.schema) = (file, scope, schema)
    self.queue = queue
  }

  /// Reads from a snapshot of the scope.
  ///
  ///     let title = try await reader.read { $0[Note.self, "1"]?.title }
  ///
  /// If the file is in a folder that cannot be written, and a store starts to
  /// write to it during the call, the call runs `body` again.
  ///
  /// - Parameter body: A closure that reads from the snapshot, which it must not
  ///   keep. The log of the file grows until `body` returns, because the
  ///   store cannot empty it.
  /// - Returns: The value that `body` returns.
  /// - Throws: The error that `body` throws, or ``StoreError`` as
  ///   ``init(at:scope:schema:)`` throws it. If a record that `body` reads is
  ///   damaged, the call throws ``StoreError/damaged(_:)`` after `body`
  ///   returns. If the file is changed during each of five attempts without locks,
  ///   it throws ``StoreError/busy(_:)``.
  /// - Complexity: The cost of the calls in `body`, and of opening the file.
  public func read<Value: Sendable>(
    _ body: @Sendable (Snapshot) throws -> Value
  ) throws -> Value {
    try StoreReader.read(scope, of: file, schema, body)
  }

  /// Reads from a snapshot of a scope, and blocks the thread.
  static func read<Value>(
    _ scope: [UInt8], of file: DurableFile, _ schema: Schema,
    _ body: (Snapshot) throws -> Value
  ) throws -> Value {
    var failure = StoreError.busy(
      SQLError(.busy, "the file changed during each of several reads"))
    for _ in 0..<5 {
      let result: Result<Value, any Error>?
      do {
        result = try attemptRead(scope, of: file, schema, body)
      } catch StoreError.cannotOpen(let error) where error.code == .readOnly {
        // SQLite can fail once if a store opens or closes the file at that moment,
        // and the reader has no permission to write. A store has a journal only
        // while it creates the file, and only a writer can undo its statements.
        failure =
          file.hasJournal
          ? .notCreated(scope, at: file.path) : .cannotOpen(error)
        continue
      }
      if let result { return try result.get() }
    }
    throw failure
  }

  /// Reads from a snapshot once.
  ///
  /// - Returns: The result of `body`, or `nil` if the file was changed meanwhile,
  ///   and has no locks that prevent it.
  /// - Throws: The errors of the store.
  private static func attemptRead<Value>(
    _ scope: [UInt8], of file: DurableFile, _ schema: Schema,
    _ body: (Snapshot) throws -> Value
  ) throws -> Result<Value, any Error>? {
    if file.isEmpty { throw StoreError.notCreated(scope, at: file.path) }
    let reading: StoreFile
    do { reading = try StoreFile(reading: file.path) } catch {
      throw StoreError(reading: file.explainedForReading(error))
    }
    defer { reading.connection.close() }
    let result = Result {
      try reading.connection.readingStore {
        try read(scope, at: file.path, schema, on: reading.connection, body)
      }
    }
    return reading.isUnchanged ? try result.get() : nil
  }

  /// Reads from a snapshot of a scope in an open database.
  package static func read<Value>(
    _ scope: String, _ schema: Schema, on connection: any SQLConnection,
    _ body: (Snapshot) throws -> Value
  ) throws -> Value {
    try connection.readingStore {
      try read(Array(scope.utf8), at: "", schema, on: connection, body)
    }.get()
  }

  private static func read<Value>(
    _ scope: [UInt8], at path: String, _ schema: Schema,
    on connection: any SQLConnection, _ body: (Snapshot) throws -> Value
  ) throws -> Result<Value, any Error> {
    guard try Tables.exist(on: connection),
      let row = try ScopeRow.find(scope, mustExist: true, on: connection)
    else { throw StoreError.notCreated(scope, at: path) }
    if row.isOfHub { throw StoreError.scopeBelongsToHub }
    let snapshot = Snapshot(of: row, schema, on: connection)
    defer { snapshot.end() }
    let result = Result { try body(snapshot) }
    // The error of the closure can follow from a row that could not be read.
    if let failure = snapshot.failure { throw failure }
    return result
  }
}

extension StoreError {
  /// Creates the error for a file that is only read.
  fileprivate init(reading error: SQLError) {
    // The error of a writer would advise to make the file writable.
    self = error.code == .readOnly ? .cannotOpen(error) : .init(opening: error)
  }

  /// The error for a scope that the file of a path lacks.
  fileprivate static func notCreated(
    _ scope: [UInt8], at path: String
  ) -> StoreError {
    .notCreated(path: path, scope: String(decoding: scope, as: UTF8.self))
  }
}

extension SQLConnection {
  /// Reads one state of the database, and throws the database's own errors as
  /// errors of the store.
  fileprivate func readingStore<Value>(
    _ body: () throws -> Value
  ) throws -> Value {
    do { return try reading(body) } catch let error as SQLError {
      throw StoreError(reading: error)
    }
  }
}

extension ReplicaStore {
  /// Returns a reader of the same scope, for lists that must not wait.
  ///
  ///     let list = try await store.reader()
  ///     let items = try await list.read { $0.records(of: Item.self, limit: 50) }
  ///
  /// A ``read(_:)`` of the store waits until a running save or
  /// ``apply(_:)`` ends. A reader reads the file instead, as it was after the
  /// last commit. It continues to read if the store is closed or superseded.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/cannotOpen(_:)`` for a store
  ///   in memory, or ``StoreError/closed``.
  public func reader() async throws(StoreError) -> StoreReader {
    if let failure = scope.failure { throw failure }
    try scope.file?.check()
    guard let path = scope.file?.path else {
      throw .cannotOpen(
        SQLError(.cannotOpen, "a store in memory has no file to read"))
    }
    return try await StoreReader(
      at: path, scope: String(decoding: scope.parts.name, as: UTF8.self),
      schema: scope.parts.schema)
  }
}
