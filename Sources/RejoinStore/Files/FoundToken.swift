// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The content of the token storage when a scope is opened.
enum FoundToken: Equatable {
  /// The token storage is empty.
  case none
  /// The scope is being created, so it has no saves.
  case creating
  /// The token of an existing store.
  case token(RestoreToken)
  /// The bytes are not a valid token.
  case damaged

  /// The bytes that replace the token while a scope is created.
  private static let creatingText = Array("rejoin: creating".utf8)

  init(of tokenStorage: any TokenStorage) throws(StoreError) {
    let bytes: [UInt8]?
    do { bytes = try tokenStorage.load() } catch {
      throw .tokenUnreadable("\(error)")
    }
    self =
      switch bytes {
      case nil, []: .none
      case FoundToken.creatingText: .creating
      case let bytes?:
        (try? RestoreToken(decoding: bytes)).map { .token($0) } ?? .damaged
      }
  }

  /// Records that a scope is being created.
  ///
  /// If the process exits before the commit, the scope does not exist. Opening
  /// then must not report it as missing.
  static func storeCreating(by tokenStorage: any TokenStorage)
    throws(StoreError)
  {
    do { try tokenStorage.store(creatingText) } catch {
      throw .tokenNotStored("\(error)")
    }
  }

  /// Whether the token shows that a store existed.
  var impliesStore: Bool { self != .none && self != .creating }

  /// The token, or `nil` if the token storage has no valid token.
  var token: RestoreToken? {
    if case .token(let token) = self { token } else { nil }
  }

  /// Returns the token to open a stored replica with.
  func token(of state: ReplicaState) -> RestoreToken? {
    let own = RestoreToken(state)
    // The process exited after the commit and before it stored the token.
    let isCreated = self == .creating && own.sequence == 0 && own.pullCount == 0
    return isCreated ? own : token
  }
}
