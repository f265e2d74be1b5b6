// SPDX-License-Identifier: Apache-2.0

/// A rule that decides between a deletion and a concurrent edit of one record.
///
/// An entity declares its rule as a stored property with any name:
///
///     struct Guest: Entity {
///       let deletions = DeletionRule.deleteWins
///       let visits = counter("visits")
///     }
///
/// Without such a property, the rule is ``updateWins``. An entity has at most
/// one rule: a ``Schema`` traps if it finds two.
///
/// The rule applies when a record is read. The stored state is the same under
/// both rules, so an entity can change its rule without a migration.
public enum DeletionRule: String, Hashable, Sendable, CaseIterable {
  /// The edit wins, and the whole record comes back.
  ///
  /// A record exists if its deletions leave an edit uncovered.
  case updateWins
  /// The deletion wins, and the record stays deleted.
  ///
  /// A record exists if it was edited and has no deletion.
  case deleteWins
}
