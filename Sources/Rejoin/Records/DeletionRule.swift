// SPDX-License-Identifier: Apache-2.0

/// What becomes of a record that one device deletes while another edits it.
///
/// The rule is applied on reading; what the replicas hold is the same under both.
public enum DeletionRule: String, Hashable, Sendable, CaseIterable {
  /// The edit wins and brings the whole record back.
  case updateWins
  /// The deletion wins.
  case deleteWins
}
