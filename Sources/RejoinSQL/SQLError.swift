// SPDX-License-Identifier: Apache-2.0

/// What a database answered in place of a result.
public struct SQLError: Error, Hashable, Sendable {
  /// What kind of failure it is.
  public enum Code: Hashable, Sendable {
    /// The database's library is not installed.
    case libraryMissing
    /// Another connection holds a lock, for longer than is waited for.
    case busy
    /// The disk, or the room given to the database, is full.
    case full
    /// The file or its folder cannot be written.
    case readOnly
    /// The file cannot be opened or created.
    case cannotOpen
    /// The file is damaged, or no database.
    case corrupted
    /// Reading or writing failed.
    case inputOutput
    /// The connection is gone.
    ///
    /// If that happened while a transaction was committed, it may have been.
    case disconnected
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
  /// What happened, and what to do about it.
  public var description: String { "\(message): \(advice)" }

  private var advice: String {
    switch code {
    case .libraryMissing: "install the package that has it"
    case .busy: "try again, or close the other connection"
    case .full: "make room on the disk"
    case .readOnly: "open the file where it can be written"
    case .cannotOpen: "check that its folder exists and may be entered"
    case .corrupted: "restore the file from a backup"
    case .inputOutput: "check the disk"
    case .disconnected: "connect again"
    case .other(let code): "see code \(code) in the database's manual"
    }
  }
}
