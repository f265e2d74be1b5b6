// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The reason a draft was not committed.
///
/// Nothing was written.
public enum DraftError: Error, Sendable {
  /// There are conflicts, and the policy is ``MergePolicy/error``.
  case conflict(MergeConflictError)
  /// The replica refused the save as a whole.
  case save(SaveError)
  /// The draft of this record was committed before.
  case committed(RecordID)
  /// The replica lacks these saves, which the draft of this record has seen.
  case missingSaves(RecordID, VectorClock)
}

extension DraftError {
  init(_ error: ContextSaveError) {
    self =
      switch error {
      case .conflict(let conflict): .conflict(conflict)
      case .save(let error): .save(error)
      }
  }
}

extension DraftError: CustomStringConvertible {
  /// The failure and its remedy.
  public var description: String {
    switch self {
    case .conflict(let conflict): conflict.description
    case .save(let error): error.description
    case .committed(let id):
      "The draft of \(id) was already committed. Create a new draft for further "
        + "edits."
    case .missingSaves(let id, let saves):
      "The draft of \(id) shows saves that this replica lacks (\(saves)). Commit "
        + "it to the replica that it was created from, or apply a delta of that "
        + "replica first."
    }
  }
}
