// SPDX-License-Identifier: Apache-2.0

import Rejoin

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
      writer = try connection.changing {
        try checkWriter()
        try Tables.createUndo(on: connection)
        return try rows.claim(after: writer)
      }
      // No other writer can change the scope now.
      let found = try checkUnchanged()
      try perform({ kept = try parts.recognize($0, by: found) ?? kept }) { _ in
      }
    } catch { throw written(error) }
    writeError = nil
    file?.open(parts.name, by: observers, as: writer)
  }

  /// Connects again, because the file can be writable now.
  func connectForWriting() throws(StoreError) {
    guard let file else { return }
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
    let opened = try connection.reading { try parts.read(on: connection) }
    guard let opened,
      opened.replica.stored.encoded() == replica.stored.encoded()
    else {
      fail(.superseded)
      throw StoreError.superseded
    }
    undoRows = opened.undoRows
    setUndoHistory()
    return opened.found
  }
}
