// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// The reason why a store could not be opened, read or written.
public enum StoreError: Error, Hashable, Sendable {
  /// The file could not be opened or read.
  case cannotOpen(SQLError)
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
  /// Another store opened the scope for writing.
  ///
  /// The call changed no data.
  case superseded
  /// The scope belongs to a hub, so a device cannot open it.
  case scopeBelongsToHub
  /// The scope belongs to a device, so a hub cannot use it.
  case scopeBelongsToDevice
  /// The restore token could not be read.
  ///
  /// Without the token, a restored backup looks like the latest state.
  case tokenUnreadable(String)
  /// The restore token could not be stored, so the store sent no data.
  case tokenNotStored(String)
  /// The file could not be copied.
  case notCopied(SQLError)
  /// The store is closed, and the call changed no data.
  case closed
  /// A change could be neither written nor undone.
  case outOfStep(SQLError)
}

extension StoreError: CustomStringConvertible {
  /// The failure and its remedy.
  public var description: String {
    switch self {
    case .cannotOpen(let error): "the store cannot be opened: \(error)"
    case .damaged(let what):
      "the store is damaged, \(what): restore it from a backup, or create "
        + "another and receive the records from the other devices"
    case .missing(let token):
      "the store is missing, and "
        + (token.map {
          "save \($0.sequence) of device \($0.device) may have been sent"
        } ?? "its token is damaged")
        + ": put the file back, with its log, or open the store with "
        + "`recovering: .asNewDevice` and receive the records from the other "
        + "devices"
    case .newerFormat(let format):
      "the store has format \(format), and this version of the library knows "
        + "\(Tables.format): update the app"
    case .busy(let error): "the store is busy: \(error)"
    case .unavailable(let error): "the store cannot be reached: \(error)"
    case .canceled:
      "the call was canceled while it waited, and nothing has changed: repeat "
        + "the call if it is still needed"
    case .readOnly(let error): "the store cannot be written: \(error)"
    case .notDurable(let error):
      "the change could not be made durable and is undone: \(error)"
    case .disconnected(let error):
      "it is not known whether the change was made, since the connection was "
        + "lost: \(error), and make the request again"
    case .superseded:
      "the scope has been opened for writing elsewhere: open the store again"
    case .scopeBelongsToHub:
      "the scope is a hub's: open another as a replica, and exchange deltas"
    case .scopeBelongsToDevice:
      "the scope is the replica of a device: give the hub another"
    case .tokenUnreadable(let why):
      "the restore token cannot be read: \(why): try again, since without it a "
        + "backup cannot be told from the latest state"
    case .tokenNotStored(let why):
      "the restore token cannot be stored, and nothing was handed out: \(why): "
        + "try again"
    case .notCopied(let error): "the store could not be copied: \(error)"
    case .closed: "the store was closed: open it again"
    case .outOfStep(let error):
      "a change could be neither made durable nor undone: \(error); open the "
        + "store again"
    }
  }
}
