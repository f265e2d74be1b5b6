// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A rule for saving a record that changed in the replica after an editing
/// context fetched it.
///
/// The first five cases are named after Core Data's policies. Every case
/// decides per record, as Core Data does: a record is in conflict if the
/// context edited one of its fields and one of its fields changed in the store,
/// even if these are different fields. Without a conflict, every policy writes
/// the context's edits. Counters, sets, ledgers, and registers declared with
/// `lww` cause no conflict, unless one side deletes the record.
///
/// If the store deleted the record and its entity declares
/// `DeletionRule.deleteWins`, the record stays deleted under every policy, and
/// what the context wrote is not shown. ``ContextReport/hiddenRecords`` lists
/// the record. Resolving a queued conflict that displayed the deletion brings
/// the record back.
///
/// A policy decides once per save, between a context and its own replica, and
/// turns the edits into ordinary writes. It is never consulted when a delta is
/// received. A rule such as "mine wins" is not commutative, so replicas that
/// applied it to each other's state would never converge.
///
/// In the following descriptions, the *store* is the replica.
public enum MergePolicy: Sendable {
  /// Writes nothing and throws ``ContextSaveError/conflict(_:)``.
  ///
  /// The edits stay in the context.
  case error
  /// Writes the fields that only the context changed.
  ///
  /// If both sides changed a field, the store's value stays.
  case mergeByPropertyStoreTrump
  /// Writes every field that the context changed.
  ///
  /// A write also supersedes siblings that the context had not seen.
  case mergeByPropertyObjectTrump
  /// Writes every field whose value in the context differs from the store's,
  /// including fields that the context did not edit.
  ///
  /// The fields include counters, sets, and registers declared with `lww`.
  case overwrite
  /// Writes nothing.
  ///
  /// All edits of the record are dropped, and the context takes the store's
  /// values.
  case rollback
  /// Writes every field that the context changed, and keeps the store's value
  /// as a sibling if both sides changed a field.
  ///
  /// If the context inserts a record that turns out to exist, the fields that
  /// are unset or null in the context are not written. To let two insertions
  /// under one unique key become one record with the values of both, derive the
  /// record's ID from the key.
  case mergeNonNil
  /// Writes nothing, like `rollback`.
  ///
  /// All edits of a record in conflict are dropped. Without a conflict, for
  /// example if only registers declared with `lww` changed, the edits are
  /// written.
  case serverWins
  /// Writes every field that the context changed, and keeps the later write if
  /// both sides changed a field.
  ///
  /// The timestamp decides, then the device. The other write is dropped and
  /// reported. If the context's write wins, it supersedes every sibling,
  /// including those that the context had not seen.
  ///
  /// A hybrid logical clock runs ahead of every timestamp that it receives, so
  /// the save is nearly always the later write. The store's write is later only
  /// if its author's clock is ahead by more than the maximum clock skew.
  case lastWriteWins
  /// Writes every field that the context changed, and keeps the store's value
  /// as a sibling if both sides changed a field.
  case merge
  /// Writes the fields that only the context changed.
  ///
  /// If both sides changed a field, its three values are added to
  /// ``EditingContext/pendingConflicts``.
  case manual
  /// Applies a custom rule to every field that either side changed.
  ///
  /// The rule is called only if there is a conflict.
  case custom(@Sendable (FieldDifference) -> FieldOutcome)
}

extension MergePolicy {
  /// The name of the policy, which is the name of the case.
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
  /// The result is `nil` if no policy in ``named`` has this name.
  public init?(named name: String) {
    guard let policy = MergePolicy.named.first(where: { $0.name == name })
    else { return nil }
    self = policy
  }
}
