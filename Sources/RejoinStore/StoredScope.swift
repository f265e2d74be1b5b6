// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// A replica in memory and its scope in a database, which agree when a call
/// returns.
///
/// If a change cannot be written, the scope undoes it by reading the changed
/// records again. A replica therefore needs no other way to undo a change.
package final class StoredScope {
  package let replica: Replica
  /// The last change of the device ID since the scope was opened.
  package private(set) var deviceChange: Replica.DeviceChange?
  /// The observers of the scope's changes.
  package let observers = ChangeObservers()
  /// The references of the observed records, or `nil` without observers.
  private var referrers: ReferrerIndex?
  private let connection: any SQLConnection
  private let keeper: any TokenStorage
  private let name: [UInt8]
  private let patching: Patching
  /// The writer number of this instance.
  let writer: Int64
  private var rows: ScopeRows
  private var undoRows: UndoRows
  /// The error that prevented reading the undo history, or `nil`.
  private var undoFailure: StoreError?
  /// The error that prevents further changes, or `nil`.
  private var failure: StoreError?
  /// The token in the token storage.
  private var kept: RestoreToken?

  /// Opens a scope for writing, or creates it.
  ///
  /// - Parameters:
  ///   - initial: The initial state of a new scope, or `nil` for an empty
  ///     replica.
  ///   - patching: The conditions for patches.
  package init(
    _ name: String, on connection: any SQLConnection,
    from initial: ReplicaState? = nil, recovering: StoreRecovery? = nil,
    patching: Patching = Patching(), schema: Schema,
    wallClock: WallClock, token keeper: any TokenStorage,
    makeDeviceID: @escaping () -> DeviceID
  ) throws(StoreError) {
    let name = Array(name.utf8)
    let (found, isNew): (FoundToken, Bool)
    do {
      (replica, rows, undoRows, writer, found, isNew) = try connection.changing
      {
        // Read the token under the lock, because another process may be
        // creating the scope.
        let found = try FoundToken(of: keeper)
        try Tables.create(on: connection)
        try Tables.createUndo(on: connection)
        let row = try ScopeRow.find(name, on: connection)
        guard let row else {
          // The scope does not exist. If the token shows a store, the store was
          // lost.
          if initial == nil, recovering == nil, found.tellsOfStore {
            throw StoreError.missing(found.token)
          }
          let replica =
            if let initial {
              Replica(
                opening: initial, token: found.token, schema: schema,
                wallClock: wallClock, makeDeviceID: makeDeviceID)
            } else {
              Replica(
                device: makeDeviceID(), schema: schema, wallClock: wallClock,
                makeDeviceID: makeDeviceID)
            }
          if initial == nil, let token = found.token {
            replica.recordLoss(of: token)
          }
          let rows = ScopeRows.new(
            name, for: replica.stored, patching: patching,
            on: connection)
          // Keep the token of a lost store until the new store is durable.
          if !found.tellsOfStore { try FoundToken.keepCreating(by: keeper) }
          replica.markAllRecordsChanged()
          replica.confirmTokenStored(replica.restoreToken)
          try rows.write(replica)
          let undo = UndoRows(scope: rows.scope)
          return (replica, rows, undo, try rows.claim(), found, true)
        }
        if row.isOfHub { throw StoreError.scopeBelongsToHub }
        let (rows, stored) = try ScopeRows.read(
          row, patching: patching, on: connection)
        let replica = Replica(
          opening: stored, token: found.token(of: stored), schema: schema,
          wallClock: wallClock, makeDeviceID: makeDeviceID)
        if replica.deviceChange != nil {
          // Store the token before the commit. In the reverse order, a crash in
          // between would cost another device ID.
          try StoredScope.keepToken(of: replica, by: keeper)
        }
        // Write the changes of opening: a new device ID and the confirmed
        // token.
        try rows.write(replica)
        let undo = try UndoRows(scope: rows.scope, on: connection)
        return (replica, rows, undo, try rows.claim(), found, false)
      }
    } catch { throw StoreError(opening: error) }
    (self.connection, self.keeper, self.name) = (connection, keeper, name)
    self.patching = patching
    deviceChange = replica.deviceChange
    setUndoHistory()
    replica.readUndoSteps = { [weak self] in self?.readUndoSteps() }
    if isNew || found == .creating {
      // Store the token after the commit. Once it is stored, opening reports a
      // lost scope as missing.
      do {
        try connection.changing {
          // A later writer can store a later token.
          guard try rows.writer() == writer else { return }
          try StoredScope.keepToken(of: replica, by: keeper)
        }
      } catch { throw StoreError(opening: error) }
    }
    let token = found.token
    kept = token?.device == replica.device ? token : replica.restoreToken
    replica.markRecordsChanged()
  }

  /// Changes the replica and writes the change.
  ///
  /// If `body` creates a delta or copies the state, the scope stores the token
  /// before the call returns.
  ///
  /// - Returns: The value that `body` returns.
  /// - Throws: The error that `body` throws, or ``StoreError``. If an error is
  ///   thrown, the replica and the scope are unchanged, with one exception.
  ///   After ``StoreError/tokenNotStored(_:)``, the change is durable, but you
  ///   must not send what `body` exported.
  @discardableResult
  package func update<Value>(_ body: (Replica) throws -> Value) throws -> Value
  {
    try change(body) { _ in }
  }

  /// Changes the replica and writes other tables in one transaction.
  ///
  /// - Parameters:
  ///   - tables: A closure that receives the changes and writes the tables.
  ///   - body: A closure that changes the replica.
  /// - Returns: The value that `body` returns.
  /// - Throws: The error that `body` or `tables` throws, or ``StoreError``. If
  ///   an error is thrown, the replica and the scope are unchanged.
  @discardableResult
  package func update<Value>(
    writing tables: (RecordChanges) throws -> Void,
    _ body: (Replica) throws -> Value
  ) throws -> Value {
    try change(body, tells: true, tables)
  }

  private func change<Value>(
    _ body: (Replica) throws -> Value, tells: Bool = false,
    _ tables: (RecordChanges) throws -> Void
  ) throws -> Value {
    try begin()
    let (former, version) = (replica.former, replica.stored.version)
    let formerUndo = undoRows
    replica.hasExported = false
    let value: Value
    var isIndexed = false
    let head = StoredHead(replica.stored)
    rows.begin()
    let mark = observers.mark
    observers.update(&referrers, of: replica)
    if tells || referrers != nil {
      replica.keepFormerRecords(of: tells ? nil : referrers)
    }
    do {
      undoFailure = nil
      value = try body(replica)
      if let undoFailure { throw undoFailure }
      isIndexed = true
      let (changed, referring) = replica.takeDifferences(&referrers)
      let changes = RecordChanges(changed, replica.schema)
      try tables(changes)
      do {
        // SQLite rolls back a transaction by itself after some errors.
        if connection.isIdle {
          throw SQLError(.misused, "a statement ended the store's transaction")
        }
        try rows.write(replica)
        if replica.hasChangedUndoHistory
          || undoRows.isAhead(of: replica.history)
        {
          try undoRows.write(&replica.history, on: connection)
        }
        try connection.run("COMMIT")
      } catch { throw StoreError(writing: error) }
      replica.hasChangedUndoHistory = false
      if let change = replica.deviceChange { deviceChange = change }
      observers.tell(
        referring.isEmpty
          ? changes
          : RecordChanges(changed.merging(referring) { $1 }, replica.schema),
        upTo: mark)
    } catch {
      if isIndexed { referrers = nil }
      // Ignore the error if the connection already rolled back.
      try? connection.run("ROLLBACK")
      undoRows = formerUndo
      if replica.hasChangedUndoHistory { setUndoHistory() }
      let isChanged =
        replica.hasChangedRecords || head != StoredHead(replica.stored)
        || version != replica.stored.version
      if isChanged || error is StoreError { try revert(to: former) }
      // `body` can send a delta before it throws.
      if replica.hasExported { try? keepToken() }
      throw error
    }
    if replica.hasExported {
      // The change is durable, so report every failure as `tokenNotStored`.
      do { try keepToken() } catch let error as StoreError {
        if case .tokenNotStored = error { throw error }
        throw StoreError.tokenNotStored("\(error)")
      }
    }
    return value
  }

  /// Sets the undo history of the replica to the stored one, without its steps.
  private func setUndoHistory() {
    replica.history = undoRows.history
    replica.hasChangedUndoHistory = false
  }

  /// Reads the steps of the undo history, or returns `nil` if they cannot be
  /// read now.
  private func readUndoSteps() -> [Dot: UndoStep]? {
    if failure != nil { return nil }
    do { return try undoRows.steps(on: connection) } catch {
      undoFailure = StoreError(opening: error)
      return nil
    }
  }

  /// Begins a transaction that excludes other writers.
  private func begin() throws(StoreError) {
    if let failure { throw failure }
    do {
      try connection.run("BEGIN IMMEDIATE")
      do { try checkWriter() } catch {
        try? connection.run("ROLLBACK")
        throw error
      }
    } catch { throw StoreError(writing: error) }
  }

  /// Prevents further changes.
  ///
  /// - Parameter close: A closure that closes the connection.
  package func close(_ close: () throws -> Void) throws(StoreError) {
    if failure == .closed { return }
    do { try close() } catch { throw StoreError(writing: error) }
    failure = .closed
    observers.end(.closed)
  }

  /// Writes a complete copy of the database into a new file.
  package func copy(to path: String) throws(StoreError) {
    if failure == .closed { throw .closed }
    let file = DurableFile(path: path)
    if path.isEmpty || file.exists {
      throw .notCopied(
        SQLError(.cannotOpen, "\"\(path)\" exists, or is not a file path"))
    }
    do {
      try connection.run("VACUUM INTO $1", .text(path))
      try file.sync()
    } catch {
      file.remove()
      throw .notCopied(
        error as? SQLError ?? SQLError(.inputOutput, "\(error)"))
    }
  }

  /// Reads data from the replica to send it elsewhere.
  ///
  /// The data can contain saves that no other device has. The scope stores the
  /// token first. Otherwise, a restored backup could reuse the numbers of these
  /// saves.
  ///
  /// - Precondition: `body` does not change the replica.
  package func export<Value>(
    _ body: (Replica) throws -> Value
  ) throws -> Value {
    if let failure { throw failure }
    try keepToken()
    let version = replica.stored.version
    defer {
      demand(
        !replica.hasChangedRecords && !replica.hasChangedUndoHistory
          && version == replica.stored.version,
        "`export` must not change the replica. Use `save` or `withReplica`.")
    }
    return try body(replica)
  }

  /// Reads from the replica.
  package func read<Value>(
    _ body: (ReplicaView) throws -> Value
  ) rethrows -> Value {
    try body(ReplicaView(replica))
  }

  /// Stores the current token, unless it is stored already.
  private func keepToken() throws {
    if replica.restoreToken == kept { return }
    do { try checkWriter() } catch { throw StoreError(writing: error) }
    try StoredScope.keepToken(of: replica, by: keeper)
    kept = replica.restoreToken
  }

  private func checkWriter() throws {
    if try rows.writer() == writer { return }
    observers.end(.superseded)
    throw StoreError.superseded
  }

  private static func keepToken(
    of replica: Replica, by keeper: any TokenStorage
  ) throws(StoreError) {
    let token = replica.restoreToken
    do { try keeper.store(token.encoded()) } catch {
      throw .tokenNotStored("\(error)")
    }
    replica.confirmTokenStored(token)
  }

  /// Reverts the replica to the state in the scope.
  private func revert(to former: FormerReplica) throws(StoreError) {
    do {
      let isTakenBack = try connection.reading {
        try rows.revert(replica, to: former)
      }
      if isTakenBack { return }
      let stored: ReplicaState
      (rows, stored) = try connection.reading {
        guard let row = try ScopeRow.find(name, on: connection) else {
          throw StoreError.damaged("the scope is missing")
        }
        return try ScopeRows.read(
          row, patching: patching, on: connection)
      }
      replica.revert(to: stored, former)
      replica.markRecordsChanged()
      if let kept { replica.confirmTokenStored(kept) }
    } catch {
      let error = error as? SQLError ?? SQLError(.corrupted, "\(error)")
      failure = .outOfStep(error)
      observers.end(.outOfStep(error))
      throw .outOfStep(error)
    }
  }

  /// Reads the replica of a scope without opening the scope for writing.
  package static func read(
    _ name: String, on connection: any SQLConnection
  ) throws(StoreError) -> ReplicaState? {
    do {
      return try connection.reading {
        let row = try ScopeRow.find(Array(name.utf8), on: connection)
        return try row.map { try ScopeRows.read($0, on: connection).stored }
      }
    } catch { throw StoreError(opening: error) }
  }
}

extension StoreError {
  /// Creates the error for a scope that could not be read.
  init(opening error: any Error) {
    switch error {
    case let error as StoreError: self = error
    case let error as SQLError where error.code == .corrupted:
      self = .damaged("\(error)")
    case let error as SQLError where error.code == .busy: self = .busy(error)
    case let error as SQLError where error.code == .canceled: self = .canceled
    case let error as SQLError where error.code == .unavailable:
      self = .unavailable(error)
    case let error as SQLError where error.code == .readOnly:
      self = .readOnly(error)
    case let error as SQLError where error.code == .disconnected:
      self = .disconnected(error)
    case let error as SQLError: self = .cannotOpen(error)
    default: self = .damaged("\(error)")
    }
  }

  /// Creates the error for a change that could not be written.
  init(writing error: any Error) {
    guard let error = error as? SQLError else {
      self.init(opening: error)
      return
    }
    switch error.code {
    case .busy, .canceled, .unavailable, .readOnly, .disconnected:
      self.init(opening: error)
    default: self = .notDurable(error)
    }
  }
}
