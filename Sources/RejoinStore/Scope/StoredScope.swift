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
  /// The reason why the scope could not be written when it was opened, or at the
  /// last change, or `nil` if this instance is its writer.
  ///
  /// Until then, the scope is as it was read.
  var writeError: StoreError?
  /// The names of the derived tables that were built again since the scope was
  /// opened.
  var rebuiltTables: [String]
  /// The version of the file's schema with which the definitions of the derived
  /// tables were last checked, or `nil`.
  private var checkedSchema: Int64?
  /// The references of the observed records, or `nil` without observers.
  var referrers: ReferrerIndex?
  var connection: any SQLConnection
  let file: StoreFile?
  let parts: ScopeParts
  /// The writer number of this instance, or of the writer before it until this
  /// instance can write.
  var writer: Int64
  var rows: ScopeRows
  var undoRows: UndoRows
  /// The error that prevented reading the undo history, or `nil`.
  private var undoFailure: StoreError?
  /// The error that prevents further changes, or `nil`.
  var failure: StoreError?
  var deletion = Deletion.none
  /// The token in the token storage, or a later one that need not be stored.
  var kept: RestoreToken?

  /// Creates a scope that was read or created in a database.
  ///
  /// - Parameters:
  ///   - writer: The number of the scope's writer.
  ///   - writeError: The reason why the scope cannot be written, or `nil`.
  init(
    _ opened: OpenedScope, _ parts: ScopeParts,
    on connection: any SQLConnection,
    in file: StoreFile?, as writer: Int64, rebuilt: [String] = [],
    cannotWrite writeError: StoreError?
  ) {
    rebuiltTables = rebuilt
    (replica, rows) = (opened.replica, opened.rows)
    (undoRows, deviceChange) = (opened.undoRows, replica.deviceChange)
    (self.parts, self.connection, self.file) = (parts, connection, file)
    (self.writer, self.writeError) = (writer, writeError)
    kept = opened.keptToken
    setUndoHistory()
    replica.readUndoSteps = { [weak self] in self?.readUndoSteps() }
    replica.markRecordsChanged()
    if writeError == nil {
      file?.open(parts.name, by: observers, as: writer)
    }
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
    try claim()
    return try perform(body)
  }

  /// Builds all derived tables again.
  func rebuildTables() throws {
    try claim()
    try perform(rebuilding: true) { _ in }
  }

  func perform<Value>(
    rebuilding rebuilds: Bool = false, _ body: (Replica) throws -> Value
  ) throws -> Value {
    try begin()
    let before = Before(
      replica: replica.former, version: replica.current.version,
      head: StoredHead(replica.current), undoRows: undoRows)
    replica.hasExported = false
    let value: Value
    var isIndexed = false
    rows.begin()
    let checkpoint = observers.checkpoint
    observers.update(
      &referrers, of: replica, observingAll: !parts.tables.isEmpty)
    if referrers != nil { replica.keepFormerRecords(of: referrers) }
    do {
      undoFailure = nil
      value = try body(replica)
      if let undoFailure { throw undoFailure }
      isIndexed = true
      let (changed, referring) = replica.takeDifferences(&referrers)
      let changes = RecordChanges(
        changed.merging(referring) { $1 }, replica.schema)
      let rebuilt = try write(changes, rebuilding: rebuilds)
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
        try checkFile()
        try connection.run("COMMIT")
      } catch { throw written(error) }
      replica.hasChangedUndoHistory = false
      if let change = replica.deviceChange { deviceChange = change }
      recordRebuilt(rebuilt)
      observers.send(changes, upTo: checkpoint)
      if observers.hasEngine, before.version != replica.current.version {
        observers.sendVersionChange()
      }
    } catch {
      if isIndexed { (referrers, checkedSchema) = (nil, nil) }
      try takeBack(to: before, after: error)
      throw error
    }
    if replica.hasExported {
      // The change is durable, so report every failure as `tokenNotStored`.
      do { try keepToken() } catch let error as StoreError {
        if case .tokenNotStored = error { throw error }
        throw StoreError.tokenNotStored("\(error)")
      }
    } else if kept?.device != replica.device {
      // Without its token, opening would take another new device.
      try? keepToken()
    }
    return value
  }

  /// Writes the changes into the derived tables and those of the app.
  ///
  /// - Returns: The names of the derived tables that were built again.
  private func write(
    _ changes: RecordChanges, rebuilding rebuilds: Bool
  ) throws -> [String] {
    let tables = parts.tables
    if tables.isEmpty || changes.isEmpty && !rebuilds { return [] }
    let rebuilt: [String]
    do {
      rebuilt = try MirroredTables.retrying { damaged in
        // No row of a record is written yet.
        if !damaged.isEmpty {
          try connection.run("ROLLBACK")
          try connection.run("BEGIN IMMEDIATE")
          try checkWriter()
        }
        let schema = try connection.integer("PRAGMA schema_version")
        var stale = Set(rebuilds ? tables.tables.map(\.name) : [])
        if schema != checkedSchema {
          stale.formUnion(
            try tables.changedTables(in: rows.scope, on: connection))
        }
        checkedSchema = nil
        try tables.writeTables(
          changes, of: replica, in: rows.scope, rebuilding: stale,
          settingAside: damaged, on: connection)
        return tables.tables.map(\.name)
          .filter { stale.contains($0) || damaged.contains($0) }
      }
    } catch { throw written(error) }
    let isRebuild = rebuilds || !rebuilt.isEmpty
    try tables.callWriter(
      isRebuild ? RecordChanges(rebuildingFrom: replica) : changes,
      on: connection)
    do {
      checkedSchema = try connection.integer("PRAGMA schema_version")
    } catch { throw written(error) }
    return rebuilt
  }

  /// Records that derived tables were built again.
  func recordRebuilt(_ names: [String]) {
    rebuiltTables += names.filter { !rebuiltTables.contains($0) }
  }

  /// The part of the scope that is deleted.
  enum Deletion {
    case none, rows, all
  }

  /// The scope before a change.
  private struct Before {
    let replica: FormerReplica
    let version: ReplicaVersion
    let head: StoredHead
    let undoRows: UndoRows
  }

  /// Reverts a change that threw an error.
  private func takeBack(to before: Before, after error: any Error) throws {
    // The change can send a delta before it throws.
    let hasExported = replica.hasExported
    let lost = hasExported ? replica.ownSaves(since: before.replica) : nil
    // No later save must use the numbers of these saves. Store the token before
    // the lock is released, so the next store of the scope takes a new device.
    if let lost, (try? parts.store(lost.token)) != nil { kept = lost.token }
    // Ignore the error if the connection already rolled back.
    try? connection.run("ROLLBACK")
    undoRows = before.undoRows
    if replica.hasChangedUndoHistory { setUndoHistory() }
    let isChanged =
      replica.hasChangedRecords || before.head != StoredHead(replica.current)
      || before.version != replica.current.version
    if isChanged || error is StoreError { try revert(to: before.replica) }
    if let lost {
      do { try perform { try $0.takeDevice(after: lost) } } catch {
        // The next change writes the device. Until then, the token shows the
        // next opening that this one must not be used.
        if (try? replica.takeDevice(after: lost)) == nil {
          replica.requireNewDevice()
        }
      }
    } else if hasExported {
      try? keepToken()
    }
  }

  /// Sets the undo history of the replica to the stored one, without its steps.
  func setUndoHistory() {
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
  func begin() throws(StoreError) {
    if let failure { throw failure }
    do {
      try checkFile()
      try connection.run("BEGIN IMMEDIATE")
      do { try checkWriter() } catch {
        try? connection.run("ROLLBACK")
        throw error
      }
    } catch { throw written(error) }
  }

  /// Returns the error of a change that could not be written, and records what
  /// follows from it.
  func written(_ error: any Error) -> StoreError {
    let error = StoreError(writing: error)
    let explained = file?.explained(error) ?? error
    if case .fileReplaced = explained { fail(explained) }
    if writeError != nil, explained.mayBeReadable { writeError = explained }
    return explained
  }

  /// Prevents further changes.
  func fail(_ error: StoreError) {
    failure = error
    observers.end(error)
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
    let version = replica.current.version
    defer {
      demand(
        !replica.hasChangedRecords && !replica.hasChangedUndoHistory
          && version == replica.current.version,
        "`export` must not change the replica. Use `save` or `withReplica`.")
    }
    undoFailure = nil
    let value = try body(replica)
    if let undoFailure { throw undoFailure }
    return value
  }

  /// Reads from the replica.
  package func read<Value>(
    _ body: (ReplicaView) throws -> Value
  ) rethrows -> Value {
    try body(ReplicaView(replica))
  }

  /// Stores the current token, unless it or a later one is stored already.
  func keepToken() throws {
    if let kept, kept.covers(replica.restoreToken) { return }
    try claim()
    do {
      // Hold the lock, because a later writer could store a later token.
      kept = try connection.changing {
        try checkWriter()
        try checkFile()
        return try parts.keepToken(of: replica)
      }
    } catch { throw written(error) }
  }

  /// Throws an error if the file was replaced while it was open.
  func checkFile() throws { try file?.check() }

  func checkWriter() throws {
    if try rows.writer() == writer { return }
    observers.end(.superseded)
    throw StoreError.superseded
  }

  /// Reverts the replica to the state in the scope.
  private func revert(to former: FormerReplica) throws(StoreError) {
    do {
      let isReverted = try connection.reading {
        try rows.revert(replica, to: former)
      }
      if isReverted { return }
      let state: ReplicaState
      (rows, state) = try connection.reading {
        guard
          let row = try ScopeRow.find(
            parts.name, mustExist: true, on: connection)
        else {
          throw StoreError.damaged("the scope is missing")
        }
        return try ScopeRows.read(
          row, patching: parts.patching, on: connection)
      }
      replica.revert(to: state, former)
      replica.markRecordsChanged()
      if let kept { replica.confirmTokenStored(kept) }
    } catch {
      let error = error as? SQLError ?? SQLError(.corrupted, "\(error)")
      fail(.outOfStep(error))
      throw .outOfStep(error)
    }
  }
}
