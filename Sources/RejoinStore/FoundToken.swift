// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// What a keeper has when a scope is opened.
enum FoundToken: Equatable {
  /// Nothing was kept, or it is lost.
  case none
  /// A scope is being created, and nothing has been saved in it.
  case creating
  /// The token of a store that was open.
  case token(RestoreToken)
  /// Something that is no token.
  case damaged

  /// What is kept while a scope is being created: no part of a token.
  private static let mark = Array("rejoin: creating".utf8)

  init(of keeper: any TokenKeeper) throws(StoreError) {
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

  /// Keeps that a scope is being created.
  ///
  /// If the process ends before the commit, there is no scope, and none is missing.
  static func keepCreating(by keeper: any TokenKeeper) throws(StoreError) {
    do { try keeper.keep(mark) } catch { throw .tokenNotStored("\(error)") }
  }

  /// Whether there was a store.
  var tellsOfStore: Bool { self != .none && self != .creating }

  /// The token, if there is one.
  var token: RestoreToken? {
    if case .token(let token) = self { token } else { nil }
  }

  /// The token with which a replica is opened.
  func token(of stored: StoredReplica) -> RestoreToken? {
    let own = RestoreToken(stored)
    // The process ended between the commit and the token: no save was made yet.
    let isCreated = self == .creating && own.sequence == 0 && own.pulls == 0
    return isCreated ? own : token
  }
}
