// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// What an editing context does at save, when what it edits has changed in the
/// replica meanwhile.
///
/// The names are Core Data's. Of a record that a context deletes, everything counts
/// as edited, and anything that moved since counts as changed: ``DeletionOutcome``
/// says what becomes of the deletion.
///
/// A policy decides once per save, between a context and its own replica, and
/// turns the edit into ordinary writes. It is never consulted when a delta is
/// received: a rule such as "mine wins" is not commutative, and devices that
/// applied it to each other's state would differ for ever.
public enum MergePolicy: Sendable {
  /// Writes nothing and throws the conflict. The edits stay in the context.
  case error
  /// Writes the fields that only I changed; where both did, the store's stays.
  case mergeByPropertyStoreTrump
  /// Writes every field that I changed.
  case mergeByPropertyObjectTrump
  /// Writes every field whose value differs from the store's, also those that I
  /// did not touch.
  case overwrite
  /// Writes nothing; the context takes the store's values.
  case rollback
  /// As object trump; and where a context inserts a record that exists, writes
  /// the fields that hold a value.
  case mergeNonNil
  /// Writes what I changed if nothing changed in the store, else nothing.
  case serverWins
  /// Writes every field that I changed; where both did, the later write wins, by
  /// timestamp and then by device, and the other is dropped.
  ///
  /// A save has heard of what it conflicts with, and its timestamp comes after:
  /// the store's write is the later one only where it was made by a clock that is
  /// further ahead than others follow.
  case lastWriteWins
  /// Writes every field that I changed; where both did, the store's value stays
  /// a sibling.
  case merge
  /// Writes the fields that only I changed; where both did, queues a conflict.
  case manual
  /// Writes what a rule returns for every field that anyone changed.
  case custom(@Sendable (FieldDifference) -> FieldOutcome)
}

extension MergePolicy {
  /// The name of the policy.
  public var name: String {
    switch self {
    case .error: "error"
    case .mergeByPropertyStoreTrump: "mergeByPropertyStoreTrump"
    case .mergeByPropertyObjectTrump: "mergeByPropertyObjectTrump"
    case .overwrite: "overwrite"
    case .rollback: "rollback"
    case .mergeNonNil: "mergeNonNil"
    case .serverWins: "serverWins"
    case .lastWriteWins: "lastWriteWins"
    case .merge: "merge"
    case .manual: "manual"
    case .custom: "custom"
    }
  }

  /// Every policy that needs no rule of the app's.
  public static let named: [MergePolicy] = [
    .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump,
    .overwrite, .rollback, .mergeNonNil, .serverWins, .lastWriteWins, .merge,
    .manual,
  ]

  /// The policy with a name.
  ///
  /// - Returns: `nil` if no policy is named so.
  public init?(named name: String) {
    guard let policy = MergePolicy.named.first(where: { $0.name == name })
    else { return nil }
    self = policy
  }
}
