// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The token that a keeper has when a scope is opened.
enum FoundToken: Equatable {
  /// The keeper has no token, or the token is lost.
  case none
  /// The scope is being created, and has no save yet.
  case creating
  /// The token of a store that was open.
  case token(RestoreToken)
  /// The bytes are not a valid token.
  case damaged

  /// Bytes, other than a token, that are kept while a scope is created.
  private static let mark = Array("rejoin: creating".utf8)

  init(of keeper: any TokenStorage) throws(StoreError) {
    let bytes: [UInt8]?
    do { bytes = try keeper.load() } catch {
      throw .tokenUnreadable("\(error)")
    }
    self =
      switch bytes {
      case nil: .none
      case FoundToken.mark: .creating
      case let bytes?:
        (try? RestoreToken(decoding: bytes)).map { .token($0) } ?? .damaged
      }
  }

  /// Records that a scope is being created.
  ///
  /// If the process exits before the commit, the scope does not exist, and
  /// opening it does not report it as missing.
  static func keepCreating(by keeper: any TokenStorage) throws(StoreError) {
    do { try keeper.store(mark) } catch { throw .tokenNotStored("\(error)") }
  }

  /// Whether the token shows that a store existed.
  var tellsOfStore: Bool { self != .none && self != .creating }

  /// The token, or `nil` if the keeper has no valid one.
  var token: RestoreToken? {
    if case .token(let token) = self { token } else { nil }
  }

  /// Returns the token for opening a replica.
  func token(of stored: ReplicaState) -> RestoreToken? {
    let own = RestoreToken(stored)
    // The process exited between the commit and the token, before any save.
    let isCreated = self == .creating && own.sequence == 0 && own.pullCount == 0
    return isCreated ? own : token
  }
}
