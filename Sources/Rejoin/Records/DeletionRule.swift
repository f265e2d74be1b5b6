// SPDX-License-Identifier: Apache-2.0

/// Whether a deletion or a concurrent edit of the same record wins.
///
/// The rule is applied on reading: the stored state is the same under both.
public enum DeletionRule: String, Hashable, Sendable, CaseIterable {
  /// The edit wins and restores the whole record.
  case updateWins
  /// The deletion wins.
  case deleteWins
}
