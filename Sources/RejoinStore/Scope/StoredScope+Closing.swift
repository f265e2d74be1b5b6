// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

// Closing, suspending, copying and deleting a scope.
extension StoredScope {
  /// Prevents further changes.
  ///
  /// The log is written into the file, unless another file replaced it or it
  /// cannot be written.
  package func close() throws(StoreError) {
    if failure == .closed { return }
    do {
      if failure == nil, writeError == nil {
        try checkFile()
        try file?.writeLog()
      }
    } catch { throw written(error) }
    file?.connection.close()
    fail(.closed)
  }

  /// Closes the connection, which ``resume()`` opens again unless the scope failed.
  func suspend() throws(StoreError) {
    guard let file, file.path != nil else { return }
    defer { file.connection.close() }
    if failure != nil { return }
    do { try checkFile() } catch { throw written(error) }
    failure = .suspended
  }

  /// Connects again after ``suspend()``.
  func resume() throws(StoreError) {
    guard failure == .suspended, let file else { return }
    do { try checkFile() } catch { throw written(error) }
    var content = ScopeRows.Content.same
    do {
      try file.connectAgain(forWriting: writeError == nil)
      rows.connection = file.connection
      // Until it is written, a scope that was opened for reading shows what was read.
      if writeError == nil {
        content = try file.connection.reading { try rows.content(by: writer) }
      }
    } catch {
      file.connection.close()
      throw file.explained(StoreError(opening: error))
    }
    (connection, failure) = (file.connection, nil)
    switch content {
    case .same: break
    case .ofOtherWriter:
      observers.end(.superseded)
      throw .superseded
    case .other:
      // Another content in the same file, such as that of a backup.
      file.connection.close()
      let error = StoreError.fileReplaced(file.path ?? "")
      fail(error)
      throw error
    }
  }

  /// Deletes the rows of the scope and then its token, and closes the scope.
  package func delete() throws(StoreError) {
    if deletion == .none { try deleteRows() }
    if deletion == .rows { try removeToken() }
  }

  private func deleteRows() throws(StoreError) {
    if failure == nil, writeError != nil { try connectForWriting() }
    do {
      try MirroredTables.retrying { damaged in
        try begin()
        do {
          // Overwrite the content instead of leaving it in free pages.
          try connection.run("PRAGMA secure_delete = 1")
          try Tables.createUndo(on: connection)
          try rows.delete(except: damaged)
          // A damaged table of notes must not keep the scope.
          try? ScopeNotes(of: rows.scope, on: connection).deleteAll()
          try checkFile()
          try connection.run("COMMIT")
        } catch {
          try? connection.run("ROLLBACK")
          throw error
        }
      }
    } catch { throw written(error) }
    deletion = .rows
    fail(.closed)
  }

  private func removeToken() throws(StoreError) {
    do {
      if let file, file.connection.isClosed {
        try file.connectAgain(forWriting: true)
        connection = file.connection
      }
      try connection.changing {
        // Another store may exist for a scope that was created again.
        let row = try ScopeRow.find(
          parts.name, mustExist: false, on: connection)
        if row != nil { return }
        do { try parts.tokenStorage.remove() } catch {
          throw StoreError.tokenNotRemoved("\(error)")
        }
      }
    } catch { throw written(error) }
    deletion = .all
    // Another connection can still read the log.
    try? file?.writeLog()
    file?.connection.close()
  }

  /// Writes a complete copy of the database into a new file.
  package func copy(to path: String) throws(StoreError) {
    if let failure, failure == .closed || failure == .suspended {
      throw failure
    }
    let copy = DurableFile(path: path)
    do { try DurableFile.check(path) } catch { throw .notCopied(error) }
    // SQLite would read an existing log or journal into the copy.
    let isTaken = ["", "-wal", "-journal"].contains {
      DurableFile(path: copy.path + $0).exists
    }
    if path.isEmpty || isTaken {
      throw .notCopied(
        SQLError(
          .cannotOpen, "\"\(path)\" or its log exists, or is not a file path"))
    }
    // A copy that is interrupted must not look like a store.
    let number = String(UInt64.random(in: 0 ... .max), radix: 16)
    let new = DurableFile(path: "\(copy.path).\(number).new")
    do {
      try connection.run("VACUUM INTO $1", .text(new.path))
      try new.syncContent()
      try new.rename(to: copy)
    } catch {
      new.remove()
      let cause = error as? SQLError ?? SQLError(.cannotOpen, "\(error)")
      throw .notCopied(copy.explained(cause))
    }
  }
}
