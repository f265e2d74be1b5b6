// SPDX-License-Identifier: Apache-2.0

/// What a database answered in place of a result.
public struct SQLError: Error, Hashable, Sendable {
  /// What kind of failure it is.
  public enum Code: Hashable, Sendable {
    /// The database's library is not installed.
    case libraryMissing
    /// Another connection holds a lock, or a statement exceeded its time limit.
    ///
    /// The statement changed no data and may succeed a moment later.
    case busy
    /// The task was canceled before the statement had any effect.
    case canceled
    /// The server does not accept connections now.
    ///
    /// It is down, is starting, or has reached its limit of connections.
    case unavailable
    /// The disk, or the room given to the database, is full.
    case full
    /// The file or its folder cannot be written.
    case readOnly
    /// The file cannot be opened or created, or the server refuses access.
    case cannotOpen
    /// The file is damaged, or no database.
    case corrupted
    /// Reading or writing failed.
    case inputOutput
    /// The connection is gone.
    ///
    /// If that happened while a transaction was committed, it may have been.
    case disconnected
    /// The statement cannot run as it was passed.
    ///
    /// It has the wrong number of values, it is more than one statement, or it
    /// is not allowed in this context.
    case misused
    /// Any other, by the database's own code.
    case other(String)
  }

  /// What kind of failure it is.
  public let code: Code
  /// What the database says about it.
  public let message: String

  /// Creates an error.
  public init(_ code: Code, _ message: String) {
    (self.code, self.message) = (code, message)
  }
}

extension SQLError: CustomStringConvertible {
  /// The message of the database.
  public var description: String { message }
}

extension SQLError {
  /// The remedy, as a sentence.
  package var advice: String {
    switch code {
    case .libraryMissing: "Install the package with the library."
    case .busy: "Try again, or close the other connection."
    case .canceled: "Repeat the call if it is still needed."
    case .unavailable: "Check that the server runs, and try again."
    case .full: "Free space on the disk."
    case .readOnly: "Move the file to a folder that can be written."
    case .cannotOpen: "Check the path and its permissions."
    case .corrupted: "Restore the file from a backup."
    case .inputOutput: "Check the disk."
    case .disconnected: "Connect again."
    case .misused: "Change the statement."
    case .other(let code): "See code \(code) in the database's manual."
    }
  }

  /// Throws an error if a text contains a NUL.
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
/// Code that waits in this module has no suspension points, so it checks this
/// property repeatedly.
var isCanceled: Bool { withUnsafeCurrentTask { $0?.isCancelled ?? false } }
