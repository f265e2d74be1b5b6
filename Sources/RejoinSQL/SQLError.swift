// SPDX-License-Identifier: Apache-2.0

/// An error that a database or its connection reports.
public struct SQLError: Error, Hashable, Sendable {
  /// The kind of a failure.
  public enum Code: Hashable, Sendable {
    /// The database's library is not installed.
    case libraryMissing
    /// Another connection holds a lock.
    ///
    /// The statement changed no data and can succeed a moment later.
    case busy
    /// The statement exceeded a limit of the server, such as the limit of its
    /// time or memory.
    ///
    /// The statement changed no data, and would exceed the limit again.
    case limitExceeded
    /// The task was canceled before the statement had any effect.
    case canceled
    /// The server does not accept connections now.
    ///
    /// It is down, it is starting, or it has too many connections.
    case unavailable
    /// The disk or the space for the database is full.
    case full
    /// The file or its folder cannot be written.
    case readOnly
    /// The file cannot be opened or created, or the server refuses access.
    case cannotOpen
    /// The system denies access to the file now.
    ///
    /// A phone that is locked denies access to protected files.
    case denied
    /// The file is damaged or is not a database.
    case corrupted
    /// Reading or writing failed.
    case inputOutput
    /// The connection was lost.
    ///
    /// If it was lost during a commit, the transaction may or may not be
    /// committed.
    case disconnected
    /// The statement cannot run as it was passed.
    ///
    /// The number of values is wrong, the text contains more than one
    /// statement, or the context does not allow the statement.
    case misused
    /// Another failure, with the code of the database.
    case other(String)
  }

  /// The kind of the failure.
  public let code: Code
  /// The message of the database.
  public let message: String
  /// The dialect of the database, which determines the remedy.
  public let dialect: SQLDialect

  /// Creates an error.
  public init(_ code: Code, _ message: String, dialect: SQLDialect = .sqlite) {
    (self.code, self.message, self.dialect) = (code, message, dialect)
  }
}

extension SQLError: CustomStringConvertible {
  /// The message of the database.
  public var description: String { message }
}

extension SQLError {
  /// The remedy, as a sentence.
  package var advice: String {
    switch dialect {
    case .sqlite: adviceForFile
    case .postgresql: adviceForServer ?? adviceForFile
    }
  }

  private var adviceForFile: String {
    switch code {
    case .libraryMissing:
      "Install the package with the library, or name the file of SQLite with "
        + "`SQLiteConnection.useLibrary(at:)`."
    case .busy: "Try again, or close the other connection."
    case .limitExceeded:
      "Divide the statement, or raise the limit, such as `statement_timeout`."
    case .canceled: "Repeat the call if it is still needed."
    case .unavailable: "Check that the server runs, and try again."
    case .full: "Free space on the disk."
    case .readOnly: "Make the file and its folder writable."
    case .cannotOpen: "Check the path and its permissions."
    case .denied:
      "Try again when the phone is unlocked, or give the file the protection "
        + "`completeUntilFirstUserAuthentication`."
    case .corrupted: "Restore the file from a backup."
    case .inputOutput: "Check the disk."
    case .disconnected: "Connect again."
    case .misused: "Change the statement."
    case .other(let code): "See code \(code) in the database's manual."
    }
  }

  /// The remedy for a database on a server, or `nil` if it is the same as for a
  /// file.
  private var adviceForServer: String? {
    switch code {
    case .libraryMissing: "Install the package with the library."
    case .busy: "Try again."
    case .unavailable:
      "Check that the server runs and has a free connection, and try again."
    case .full: "Free space on the server's disk."
    case .readOnly: "Connect to a server that accepts writes."
    case .cannotOpen:
      "Check the server, database, role and password of the connection string."
    case .corrupted: "Restore the database from a backup."
    case .inputOutput: "Check the server's disk."
    case .other("42501"): "Grant the role the missing right."
    default: nil
    }
  }

  /// Throws an error if a text contains NUL.
  ///
  /// The database would read only the part before the NUL.
  static func check(_ sql: String) throws(SQLError) {
    if sql.utf8.contains(0) {
      throw SQLError(.misused, "a statement contains a NUL (\(sql))")
    }
  }
}

/// Whether the current task is canceled.
///
/// Waiting code in this module has no suspension points, so it checks this
/// property repeatedly.
var isCanceled: Bool { withUnsafeCurrentTask { $0?.isCancelled ?? false } }
