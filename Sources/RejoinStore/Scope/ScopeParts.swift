// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// The name of a scope, and what opening it needs from the app.
struct ScopeParts {
  let name: [UInt8]
  let patching: Patching
  let schema: Schema
  let tables: MirroredTables
  let wallClock: WallClock
  let tokenStorage: any TokenStorage
  let makeDeviceID: () -> DeviceID
}

/// A scope as it was read or created.
struct OpenedScope {
  let replica: Replica
  let rows: ScopeRows
  let undoRows: UndoRows
  /// The token when the scope was opened.
  let found: FoundToken
  var isNew = false

  /// The token that is stored, or one that need not be.
  ///
  /// A replica that takes a new device before its next save never uses the
  /// numbers of the current device again.
  var keptToken: RestoreToken {
    if let token = found.token, token.isContained(in: replica.current) {
      return token
    }
    return replica.restoreToken
  }
}

extension ScopeParts {
  /// Reads the scope, whose replica keeps its device.
  ///
  /// - Returns: The scope, or `nil` if it does not exist.
  func read(on connection: any SQLConnection) throws -> OpenedScope? {
    // Read the token under the lock, because another process may be creating
    // the scope.
    let found = try FoundToken(of: tokenStorage)
    guard
      let row = try ScopeRow.find(
        name, mustExist: found.impliesStore, on: connection)
    else { return nil }
    if row.isOfHub { throw StoreError.scopeBelongsToHub }
    let (rows, state) = try ScopeRows.read(
      row, patching: patching, on: connection)
    let replica = Replica(
      resuming: state, schema: schema, wallClock: wallClock,
      makeDeviceID: makeDeviceID)
    let hasUndo = try Tables.undoExists(on: connection)
    let undo =
      hasUndo
      ? try UndoRows(scope: rows.scope, on: connection)
      : UndoRows(scope: rows.scope)
    return OpenedScope(
      replica: replica, rows: rows, undoRows: undo, found: found)
  }

  /// Creates the scope.
  ///
  /// - Parameter initial: The initial state, or `nil` for an empty replica.
  func create(
    from initial: ReplicaState?, recovering: StoreRecovery?,
    on connection: any SQLConnection
  ) throws -> OpenedScope {
    let found = try FoundToken(of: tokenStorage)
    // If the token shows a store, the store was lost.
    if initial == nil, recovering == nil, found.impliesStore {
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
    if initial == nil, let token = found.token { replica.recordLoss(of: token) }
    let rows = ScopeRows.new(
      name, for: replica.current, patching: patching, on: connection)
    // Keep the token of a lost store until the new store is durable.
    if !found.impliesStore { try FoundToken.storeCreating(by: tokenStorage) }
    replica.markAllRecordsChanged()
    replica.confirmTokenStored(replica.restoreToken)
    try rows.write(replica)
    return OpenedScope(
      replica: replica, rows: rows, undoRows: UndoRows(scope: rows.scope),
      found: found, isNew: true)
  }

  /// Takes a new device if the replica of an existing scope is a restored
  /// backup.
  ///
  /// - Parameter found: The token when the scope was read.
  /// - Returns: The token, if it had to be stored.
  func recognize(
    _ replica: Replica, by found: FoundToken
  ) throws -> RestoreToken? {
    replica.recognize(found.token(of: replica.current))
    // The process can exit after it created the scope and before it stored the
    // token.
    if replica.deviceChange == nil, found != .creating { return nil }
    // Store the token before the commit. In the reverse order, a crash in
    // between would cost another device ID.
    return try keepToken(of: replica)
  }

  /// Stores the current token of a replica.
  @discardableResult
  func keepToken(of replica: Replica) throws(StoreError) -> RestoreToken {
    let token = replica.restoreToken
    try store(token)
    replica.confirmTokenStored(token)
    return token
  }

  func store(_ token: RestoreToken) throws(StoreError) {
    do { try tokenStorage.store(token.encoded()) } catch {
      throw .tokenNotStored("\(error)")
    }
  }
}
