// SPDX-License-Identifier: Apache-2.0

import RejoinSQL

extension StoreError {
  /// Creates the error for a scope that could not be read.
  init(opening error: any Error) {
    switch error {
    case let error as StoreError: self = error
    case let error as SQLError where error.code == .corrupted:
      self = .damaged("\(error)")
    case let error as SQLError where error.code == .busy: self = .busy(error)
    case let error as SQLError where error.code == .canceled: self = .canceled
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
