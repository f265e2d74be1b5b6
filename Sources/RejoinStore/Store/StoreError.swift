// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// The reason why a store or a hub could not do what was asked.
public enum StoreError: Error, Hashable, Sendable {
  /// The file could not be opened or read.
  case cannotOpen(SQLError)
  /// The system denies access to the file now, because the phone is locked.
  case protected(SQLError)
  /// The file or the scope to read does not exist yet.
  case notCreated(path: String, scope: String)
  /// A part of the store is missing or contains unexpected data.
  case damaged(String)
  /// A token shows that the store existed, but the store is missing.
  ///
  /// The value is the token, or `nil` if the token is damaged.
  case missing(RestoreToken?)
  /// A later version of this library wrote the store.
  case newerFormat(Int)
  /// Another connection holds the lock of the database.
  ///
  /// The call changed no data.
  case busy(SQLError)
  /// A request exceeded a limit of the database server, such as the limit of
  /// its time or memory.
  ///
  /// The call changed no data.
  case limitExceeded(SQLError)
  /// The database server does not accept connections now.
  ///
  /// The call changed no data.
  case unavailable(SQLError)
  /// The task was canceled while the call waited, and the call changed no data.
  case canceled
  /// The database is read-only, and the call changed no data.
  case readOnly(SQLError)
  /// The change could not be written, and the store undid it.
  case notDurable(SQLError)
  /// The connection was lost, so the change may or may not be saved.
  case disconnected(SQLError)
  /// The path of the store names another file now, or none.
  ///
  /// The call changed no data.
  case fileReplaced(String)
  /// Another store opened the scope for writing.
  ///
  /// The call changed no data.
  case superseded
  /// The scope belongs to a hub, so a device cannot open it.
  case scopeBelongsToHub
  /// The scope belongs to a device, so a hub cannot use it.
  case scopeBelongsToDevice
  /// The scope of a hub was erased, so its name cannot be used.
  ///
  /// The call changed no data.
  case scopeErased
  /// The name of a scope has more than 1,024 bytes.
  ///
  /// The call changed no data.
  case scopeNameTooLong(byteCount: Int)
  /// A delta that was sent or requested has more records than a hub accepts.
  ///
  /// The call changed no data.
  case tooManyRecords(Int, limit: Int)
  /// A scope of a hub would have too many devices, and the call changed no data.
  case tooManyDevices(limit: Int)
  /// A record would be larger than a hub accepts, and the call changed no data.
  ///
  /// The later saves of the device wait until the record is smaller.
  case recordTooLarge(RecordID, byteCount: Int, limit: Int)
  /// The restore token could not be read.
  ///
  /// Without the token, a restored backup looks like the latest state.
  case tokenUnreadable(String)
  /// The restore token could not be stored, so the store sent no data.
  case tokenNotStored(String)
  /// The scope is deleted, but its restore token could not be removed.
  case tokenNotRemoved(String)
  /// The name or the columns of a ``RecordTable`` are not allowed.
  ///
  /// The store was not opened, and nothing has changed.
  case invalidTable(String, reason: String)
  /// An index or a trigger of the app, or its closure, prevented a change.
  ///
  /// The call changed no data.
  case tablesNotWritten(String)
  /// The file could not be copied.
  case notCopied(SQLError)
  /// The store is closed, and the call changed no data.
  case closed
  /// The store is suspended, and the call changed no data.
  case suspended
  /// A change could be neither written nor undone.
  case outOfStep(SQLError)
}

extension StoreError: CustomStringConvertible {
  /// The failure and its remedy.
  public var description: String {
    switch self {
    case .cannotOpen(let error):
      "The store could not be opened (\(error)). \(error.advice)"
    case .protected(let error):
      "The system denies access to the store now (\(error)). \(error.advice)"
    case .notCreated(let path, let scope):
      "The file \(path) has no scope \"\(scope)\". Open a `ReplicaStore` once "
        + "with this path and scope, and show a placeholder until then."
    case .damaged(let what):
      "The store is damaged (\(what)). Restore a backup, or create a new store "
        + "and sync the records from other devices."
    case .missing(let token):
      "The store is missing, but its token exists"
        + (token.map {
          " (save \($0.sequence) of device \($0.device) may have been sent)"
        } ?? " (and is damaged)")
        + ". Put the file and its log back, or open the store with "
        + "`recovering: .asNewDevice` and sync the records from other devices."
    case .newerFormat(let format):
      "The store has format \(format), but this version of Rejoin reads formats "
        + "up to \(Tables.format). Update the app."
    case .busy(let error):
      "The store is locked by another connection, and nothing has changed "
        + "(\(error)). \(error.advice)"
    case .limitExceeded(let error):
      "The request exceeded a limit of the database server, and nothing has "
        + "changed (\(error)). Send or request smaller parts, or raise the "
        + "limit, such as `statement_timeout`."
    case .unavailable(let error):
      "The database server could not be reached, and nothing has changed "
        + "(\(error)). \(error.advice)"
    case .canceled:
      "The task was canceled while the call waited, and nothing has changed. "
        + "Repeat the call if it is still needed."
    case .readOnly(let error):
      "The store cannot be written, and nothing has changed (\(error)). "
        + error.advice
    case .notDurable(let error):
      "The change could not be written and was undone (\(error)). \(error.advice)"
    case .disconnected(let error):
      "The connection was lost during a change, so the change may or may not "
        + "have been saved (\(error)). Connect again and repeat the request, "
        + "which is safe."
    case .fileReplaced(let path):
      "\(path) was replaced or removed while the store was open, and nothing has "
        + "changed. Close the store, and open it again."
    case .superseded:
      "Another store opened this scope for writing, and nothing has changed. "
        + "Use that store, or open the scope again."
    case .scopeBelongsToHub:
      "This scope belongs to a hub and cannot be opened as a replica. Open "
        + "another scope, and exchange deltas with the hub."
    case .scopeBelongsToDevice:
      "This scope belongs to a device and cannot be used by a hub. Give the hub "
        + "another scope."
    case .scopeErased:
      "This scope was erased on the hub, and nothing has changed. Delete the "
        + "scope on the device, or sync it under another name."
    case .scopeNameTooLong(let byteCount):
      "The name of the scope has \(byteCount) bytes, and the maximum is "
        + "\(Limits.keyBytes). Use a shorter name."
    case .tooManyRecords(let count, let limit):
      "The delta has \(count) records, but the hub accepts \(limit) per request, "
        + "and nothing has changed. Send or request parts with "
        + "`delta(since:byteLimit:)`, or parts of fewer bytes."
    case .tooManyDevices(let limit):
      "The scope would have more than \(limit) devices, and nothing has changed. "
        + "Raise `Hub.Limits.devicesPerScope`, unless an app makes a new device "
        + "ID at each launch."
    case .recordTooLarge(let id, let byteCount, let limit):
      "\(id) would have \(byteCount) bytes, but the hub accepts \(limit), and "
        + "nothing has changed. The later saves of the device wait until the "
        + "record is smaller. Request the saves that the hub has, and remove "
        + "content from the record, or divide it into several records."
    case .tokenUnreadable(let why):
      "The restore token could not be read (\(why)), so the store was not "
        + "opened. Try again later. Without the token, a restored backup looks "
        + "like the latest state."
    case .tokenNotStored(let why):
      "The restore token could not be stored (\(why)), so nothing was sent. Try "
        + "again."
    case .tokenNotRemoved(let why):
      "The scope is deleted, but its restore token could not be removed "
        + "(\(why)), so opening the scope reports it as missing. Call "
        + "`deleteScope()` again."
    case .invalidTable(let name, let reason):
      "The table \"\(name)\" could not be created because \(reason). Declare the "
        + "`RecordTable` with another name."
    case .tablesNotWritten(let why):
      "Tables next to the records could not be written, and nothing has changed "
        + "(\(why)). Drop the unique index or the trigger that fails, or change "
        + "the closure `writing`."
    case .notCopied(let error):
      "The store could not be copied (\(error)). \(error.advice)"
    case .closed: "The store is closed. Open it again."
    case .suspended:
      "The store is suspended, and nothing has changed. Call `resume()`, and "
        + "repeat the call."
    case .outOfStep(let error):
      "A change could be neither saved nor undone (\(error)). Open the store "
        + "again."
    }
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
    case let error as SQLError where error.code == .denied:
      self = .protected(error)
    case let error as SQLError where error.code == .limitExceeded:
      self = .limitExceeded(error)
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
    case .busy, .canceled, .limitExceeded, .unavailable, .readOnly,
      .disconnected:
      self.init(opening: error)
    default: self = .notDurable(error)
    }
  }

  /// The error for a change, if this one prevented opening the scope for
  /// writing.
  var ofWriting: StoreError {
    if case .cannotOpen(let error) = self {
      StoreError(writing: error)
    } else {
      self
    }
  }

  /// Whether a scope that could not be opened for this reason can perhaps be
  /// read.
  var mayBeReadable: Bool {
    switch self {
    case .readOnly, .tokenNotStored: true
    case .cannotOpen(let error), .notDurable(let error):
      [.full, .cannotOpen, .inputOutput].contains(error.code)
    default: false
    }
  }
}
