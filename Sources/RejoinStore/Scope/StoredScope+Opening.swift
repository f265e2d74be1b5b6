// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

extension StoredScope {
  /// Opens a scope for writing, or creates it.
  ///
  /// - Parameters:
  ///   - initial: The initial state of a new scope, or `nil` for an empty
  ///     replica.
  ///   - patching: The conditions for patches.
  package convenience init(
    _ name: String, on connection: any SQLConnection,
    from initial: ReplicaState? = nil, recovering: StoreRecovery? = nil,
    patching: Patching = Patching(), schema: Schema,
    tables: [RecordTable] = [],
    writing writer: TableWriter? = nil,
    wallClock: WallClock, token tokenStorage: any TokenStorage,
    makeDeviceID: @escaping () -> DeviceID
  ) throws(StoreError) {
    try self.init(
      ScopeParts(
        name: Array(name.utf8), patching: patching, schema: schema,
        tables: MirroredTables(tables, writing: writer, schema: schema),
        wallClock: wallClock, tokenStorage: tokenStorage,
        makeDeviceID: makeDeviceID),
      on: connection, in: nil, from: initial, recovering: recovering)
  }

  convenience init(
    _ parts: ScopeParts, on connection: any SQLConnection,
    in file: StoreFile?, from initial: ReplicaState? = nil,
    recovering: StoreRecovery?
  ) throws(StoreError) {
    do {
      let (opened, writer, rebuilt) = try MirroredTables.retrying { damaged in
        try connection.changing {
          try Tables.create(on: connection)
          try Tables.createUndo(on: connection)
          let opened =
            try parts.read(on: connection)
            ?? parts.create(
              from: initial, recovering: recovering, on: connection)
          if !opened.isNew {
            try opened.rows.repairIndexes()
            // Write the changes of opening: a new device ID and the token.
            _ = try parts.recognize(opened.replica, by: opened.found)
            try opened.rows.write(opened.replica)
          }
          let writer = try opened.rows.claim()
          let rebuilt = try parts.tables.open(
            opened.replica, in: opened.rows.scope,
            after: opened.rows.formerWriter, as: writer,
            settingAside: damaged, on: connection)
          return (opened, writer, rebuilt)
        }
      }
      if opened.isNew {
        // Store the token after the commit. Once it is stored, opening reports a
        // lost scope as missing.
        try connection.changing {
          // A later writer can store a later token.
          guard try opened.rows.writer() == writer else { return }
          try parts.keepToken(of: opened.replica)
        }
      }
      self.init(
        opened, parts, on: connection, in: file, as: writer, rebuilt: rebuilt,
        cannotWrite: nil)
    } catch { throw StoreError(opening: error) }
  }

  /// Opens a scope of a file, for reading if the file cannot be written.
  static func open(
    _ parts: ScopeParts, at path: String, recovering: StoreRecovery?
  ) throws(StoreError) -> StoredScope {
    let failure: StoreError
    do {
      let file = try StoreFile(opening: path)
      do throws(StoreError) {
        return try StoredScope(
          parts, on: file.connection, in: file, recovering: recovering)
      } catch { failure = file.explained(error) }
      // Release the locks before the file is opened again.
      file.connection.close()
    } catch { failure = StoreError(opening: error) }
    guard failure.mayBeReadable, let file = try? StoreFile(reading: path) else {
      throw failure
    }
    return try StoredScope(reading: parts, in: file, because: failure)
  }

  /// Opens an existing scope for reading.
  private convenience init(
    reading parts: ScopeParts, in file: StoreFile, because error: StoreError
  ) throws(StoreError) {
    let opened: OpenedScope
    do {
      opened = try file.connection.reading {
        guard try Tables.exist(on: file.connection),
          let opened = try parts.read(on: file.connection)
        else { throw error }
        return opened
      }
    } catch { throw StoreError(opening: error) }
    self.init(
      opened, parts, on: file.connection, in: file,
      as: opened.rows.formerWriter, cannotWrite: error.ofWriting)
  }

  /// Reads the replica of a scope without opening the scope for writing.
  package static func read(
    _ name: String, on connection: any SQLConnection
  ) throws(StoreError) -> ReplicaState? {
    do {
      return try connection.reading {
        let row = try ScopeRow.find(
          Array(name.utf8), mustExist: true, on: connection)
        return try row.map { try ScopeRows.read($0, on: connection).state }
      }
    } catch { throw StoreError(opening: error) }
  }
}

// Writing a scope that could not be written when it was opened.
extension StoredScope {
  /// Does what opening could not do, unless the scope was opened for writing.
  ///
  /// It supersedes the previous writer, and takes a new device for a restored
  /// backup.
  func claim() throws(StoreError) {
    if writeError == nil || failure != nil { return }
    try connectForWriting()
    do {
      try checkFile()
      let found: FoundToken
      let rebuilt: [String]
      (writer, found, rebuilt) = try MirroredTables.retrying { damaged in
        try connection.changing {
          try checkWriter()
          try Tables.createUndo(on: connection)
          // If the previous writer continues, it must stay the writer.
          let found = try checkUnchanged()
          try rows.repairIndexes()
          let claimed = try rows.claim(after: writer)
          let rebuilt = try parts.tables.open(
            replica, in: rows.scope, after: writer, as: claimed,
            settingAside: damaged, on: connection)
          return (claimed, found, rebuilt)
        }
      }
      recordRebuilt(rebuilt)
      try perform { kept = try parts.recognize($0, by: found) ?? kept }
    } catch { throw written(error) }
    writeError = nil
    file?.open(parts.name, by: observers, as: writer)
  }

  /// Connects again, because the file can be writable now.
  func connectForWriting() throws(StoreError) {
    guard let file else { return }
    // SQLite would create a file and delete a log without a file.
    try file.check()
    defer {
      connection = file.connection
      rows.connection = connection
    }
    do { try file.connectForWriting() } catch { throw written(error) }
  }

  /// Throws an error if the previous writer changed the scope after it was read
  /// here.
  ///
  /// - Returns: The token.
  private func checkUnchanged() throws -> FoundToken {
    guard let opened = try parts.read(on: connection),
      opened.replica.current.encoded() == replica.current.encoded()
    else {
      fail(.superseded)
      throw StoreError.superseded
    }
    undoRows = opened.undoRows
    setUndoHistory()
    return opened.found
  }
}
