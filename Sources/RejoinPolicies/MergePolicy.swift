// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// How an editing context saves a record that has changed in the replica since
/// it was fetched.
///
/// The names are Core Data's, and so is the granularity: a record is in
/// conflict if the context edited any of its fields and any of its fields has
/// changed in the store, even if these are different fields. Without a
/// conflict, every policy writes what the context edited. Counters, sets,
/// ledgers, and registers declared with `lww` cause no conflict, unless the
/// record is deleted by one side.
///
/// A policy decides once per save, between a context and its own replica, and
/// turns the edits into ordinary writes. It is never consulted when a delta is
/// received: a rule such as "mine wins" is not commutative, and replicas that
/// applied it to each other's state would never converge.
///
/// Below, *mine* is a value in the context, and *the store's* the replica's
/// value.
public enum MergePolicy: Sendable {
  /// Writes nothing and throws ``ContextSaveError/conflict(_:)``. The edits
  /// stay in the context.
  case error
  /// Writes the fields that only the context changed. Where both sides changed
  /// a field, the store's value stays.
  case mergeByPropertyStoreTrump
  /// Writes every field that the context changed, superseding also siblings
  /// that the context had not shown.
  case mergeByPropertyObjectTrump
  /// Writes every field whose value in the context differs from the store's,
  /// even those that the context did not edit. This includes counters, sets, and
  /// registers declared with `lww`.
  case overwrite
  /// Writes nothing. All edits are dropped, and the context takes the store's
  /// values.
  case rollback
  /// Writes every field that the context changed; where both sides changed a
  /// field, the store's value stays as a sibling. If the context inserts a
  /// record that turns out to exist, fields that are unset or null in the
  /// context are not written.
  ///
  /// Derive a record's ID from its unique key, and two insertions under one key
  /// become one record, with the values of both.
  case mergeNonNil
  /// Writes nothing if any register of the record has changed in the store,
  /// except those declared with `lww`. All edits of the record are then dropped.
  case serverWins
  /// Writes every field that the context changed. If both sides changed a field,
  /// the later write wins, by timestamp and then by device. The other is dropped
  /// and reported. If the context's write wins, it supersedes every sibling, also
  /// those that the context had not shown.
  ///
  /// A hybrid logical clock runs ahead of every timestamp it has seen, so the
  /// save is nearly always the later write. The store's is later only if its
  /// author's clock is ahead by more than the maximum clock skew.
  case lastWriteWins
  /// Writes every field that the context changed. Where both sides changed a
  /// field, the store's value stays as a sibling.
  case merge
  /// Writes the fields that only the context changed. Where both sides changed
  /// a field, the three values are added to ``EditingContext/pendingConflicts``.
  case manual
  /// Applies a rule of the app's to every field that either side changed.
  ///
  /// The rule is called only if there is a conflict.
  case custom(@Sendable (FieldDifference) -> FieldOutcome)
}

extension MergePolicy {
  /// The name of the policy, the same as the case's.
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

  /// Every policy except ``custom(_:)``, in the order of declaration.
  public static let named: [MergePolicy] = [
    .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump,
    .overwrite, .rollback, .mergeNonNil, .serverWins, .lastWriteWins, .merge,
    .manual,
  ]

  /// Creates the policy with the given name.
  ///
  /// - Returns: `nil` if ``named`` has no policy of that name.
  public init?(named name: String) {
    guard let policy = MergePolicy.named.first(where: { $0.name == name })
    else { return nil }
    self = policy
  }
}
