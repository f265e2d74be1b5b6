// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// An error that describes why a draft was not committed.
///
/// If it is thrown, nothing is written.
public enum DraftError: Error, Sendable {
  /// Records are in conflict, and the policy is ``MergePolicy/error``.
  case conflict(MergeConflictError)
  /// The replica refused the save as a whole.
  case save(SaveError)
  /// The draft of this record was already committed.
  case committed(RecordID)
  /// The replica lacks saves that the draft of this record has seen.
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
