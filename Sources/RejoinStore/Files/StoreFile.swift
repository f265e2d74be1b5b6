// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// The file of a store, and the connection to it.
final class StoreFile {
  /// The current connection.
  private(set) var connection: SQLiteConnection
  private let file: DurableFile?
  private let identity: DurableFile.Identity?
  /// The version of a file that is read without locks, or `nil`.
  private var unlocked: DurableFile.Version?

  /// Opens a file for writing, and creates it if it does not exist.
  convenience init(opening path: String) throws(SQLError) {
    let file = DurableFile(path: path)
    let before = file.identity
    do {
      try self.init(StoreFile.connect(file), to: file, after: before)
    } catch { throw file.explained(error) }
  }

  /// Opens a file that cannot be written.
  ///
  /// Without a log, SQLite may have to read the file without locks, because the
  /// locks of its log are a file as well.
  convenience init(reading path: String) throws(SQLError) {
    let file = DurableFile(path: path)
    let (before, version) = (file.identity, file.version)
    let (connection, hasLocks) = try StoreFile.read(file)
    try self.init(connection, to: file, after: before)
    if !hasLocks { unlocked = version }
  }

  /// - Parameter before: The file that the path named before it was opened, or
  ///   `nil` if none existed.
  private init(
    _ connection: SQLiteConnection, to file: DurableFile,
    after before: DurableFile.Identity?
  ) throws(SQLError) {
    (self.connection, self.file, identity) = (connection, file, file.identity)
    if identity == nil || before != nil && before != identity {
      throw SQLError(.cannotOpen, "\(file.path) was replaced at that moment")
    }
  }

  /// Creates a database in memory.
  init() throws(SQLError) {
    connection = try SQLiteConnection(opening: ":memory:")
    (file, identity) = (nil, nil)
  }

  /// Sync every commit, detect damage, and limit the size of the log.
  private static let settings = [
    "PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL",
    "PRAGMA fullfsync = 1", "PRAGMA checkpoint_fullfsync = 1",
    "PRAGMA cell_size_check = 1", "PRAGMA trusted_schema = 0",
    "PRAGMA journal_size_limit = 16777216",
  ]

  private static func connect(
    _ file: DurableFile
  ) throws(SQLError) -> SQLiteConnection {
    do {
      let connection = try SQLiteConnection(opening: file.path)
      for setting in settings { try connection.run(setting) }
      return connection
    } catch { throw SQLError(error) }
  }

  private static func read(
    _ file: DurableFile
  ) throws(SQLError) -> (connection: SQLiteConnection, hasLocks: Bool) {
    do throws(SQLError) { return (try read(file, .reading), true) } catch {
      // A busy database changes, and a log or a journal belongs to its content.
      if error.code == .busy || error.code == .canceled || file.hasLog {
        throw error
      }
      return (try read(file, .unchanging), false)
    }
  }

  private static func read(
    _ file: DurableFile, _ mode: SQLiteConnection.Mode
  ) throws(SQLError) -> SQLiteConnection {
    do {
      let connection = try SQLiteConnection(opening: file.path, mode)
      try connection.run("PRAGMA cell_size_check = 1")
      try connection.run("PRAGMA trusted_schema = 0")
      // Opening reads nothing, so find out whether reading succeeds.
      _ = try connection.integer("SELECT count(*) FROM sqlite_master")
      return connection
    } catch { throw SQLError(error) }
  }

  /// The path of the file, or `nil` for a database in memory.
  var path: String? { file?.path }

  /// Whether everything that was read belongs to one state of the file.
  ///
  /// A file that is read without locks must still have its version and no log.
  var isUnchanged: Bool {
    guard let file, let unlocked else { return true }
    return file.version == unlocked && !file.hasLog
  }

  /// Connects for writing after the file was opened for reading.
  func connectForWriting() throws(SQLError) {
    if file == nil { return }
    // SQLite releases the locks of all connections of a process when one
    // without locks is closed, so close it first.
    connection.close()
    do throws(SQLError) { try connectAgain(forWriting: true) } catch {
      try connectAgain(forWriting: false)
      throw error
    }
  }

  /// Connects after the connection was closed.
  func connectAgain(forWriting writes: Bool) throws(SQLError) {
    guard let file else { return }
    if writes {
      connection = try StoreFile.connect(file)
    } else {
      let version = file.version
      let (connection, hasLocks) = try StoreFile.read(file)
      (self.connection, unlocked) = (connection, hasLocks ? nil : version)
    }
  }

  /// Writes the log into the file, and empties it.
  ///
  /// While another connection reads, a part or all of the log stays.
  func writeLog() throws {
    try connection.withoutWaiting {
      try connection.run("PRAGMA wal_checkpoint(TRUNCATE)")
    }
  }

  /// Throws an error if the path no longer names the file that was opened.
  ///
  /// SQLite would write into a file without a name, or next to another
  /// database.
  func check() throws(StoreError) {
    guard let file, let identity, file.isReplaced(identity) else { return }
    throw .fileReplaced(file.path)
  }

  /// Returns an error that names the reason why the file cannot be written.
  func explained(_ error: StoreError) -> StoreError {
    guard let file else { return error }
    switch error {
    case .readOnly(let cause): return StoreError(writing: file.explained(cause))
    case .notDurable(let cause):
      return StoreError(writing: file.explained(cause))
    case .cannotOpen(let cause):
      return StoreError(opening: file.explained(cause))
    default: return error
    }
  }

  /// Records the writer of a scope, and ends the observers of the previous
  /// writer in this process.
  func open(_ scope: [UInt8], by observers: ChangeObservers, as writer: Int64) {
    guard let identity else { return }
    OpenScopes.shared.open(
      OpenScopes.Key(file: identity, scope: scope), by: observers, as: writer)
  }
}

extension SQLError {
  /// Creates the error for a failure of the database or of the file system.
  init(_ error: any Error) {
    self = error as? SQLError ?? SQLError(.inputOutput, "\(error)")
  }
}

extension DurableFile {
  /// Whether the database has a log or a journal, without which the content of
  /// the file is not that of the database.
  ///
  /// They are next to the file that a symbolic link names, not next to the link.
  var hasLog: Bool {
    hasJournal || !DurableFile(path: target + "-wal").isEmpty
  }

  /// Whether the database has a journal, as before it has a log.
  var hasJournal: Bool { !DurableFile(path: target + "-journal").isEmpty }

  /// Returns an error with the reason why the file cannot be read.
  func explainedForReading(_ error: SQLError) -> SQLError {
    guard [.cannotOpen, .inputOutput].contains(error.code) else { return error }
    if isProtected { return SQLError(.denied, error.message) }
    return isFolder ? SQLError(.cannotOpen, "\(path) is a folder") : error
  }

  /// Returns an error with the reason why the file cannot be written.
  ///
  /// SQLite reports some of these reasons as failures to open or to read.
  func explained(_ error: SQLError) -> SQLError {
    switch error.code {
    case .readOnly, .full, .cannotOpen, .inputOutput:
      guard let obstacle else { return error }
      return SQLError(obstacle.code, "\(error.message): \(obstacle.text)")
    default: return error
    }
  }
}

/// The way to continue after ``StoreError/missing(_:)``.
public enum StoreRecovery: Hashable, Sendable {
  /// Starts again as a new device.
  ///
  /// The records return when other devices send them. Saves that were never
  /// sent are lost.
  case asNewDevice
}
