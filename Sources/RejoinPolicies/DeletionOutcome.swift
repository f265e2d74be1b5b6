// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// What becomes of the deletion of a record at save.
public enum DeletionOutcome: Hashable, Sendable {
  /// The record is deleted, with all that has changed since it was fetched, which
  /// is reported.
  case delete
  /// The record is deleted as it was shown; an edit that was not shown stays beside
  /// the deletion, and wins or loses by the rule of the entity.
  case deleteBeside
  /// The record stays; the deletion is dropped and reported, and so are the edits
  /// of the record that came with it.
  case keepRecord
  /// The record stays; the deletion is queued for somebody to decide.
  case reportConflict
}

extension MergePolicy {
  /// What becomes of a deletion in a conflict.
  func deletion(storeIsLater: Bool) -> DeletionOutcome {
    switch self {
    case .mergeByPropertyObjectTrump, .overwrite, .mergeNonNil: .delete
    case .lastWriteWins: storeIsLater ? .keepRecord : .delete
    case .merge: .deleteBeside
    case .manual: .reportConflict
    case .error, .mergeByPropertyStoreTrump, .rollback, .serverWins, .custom:
      .keepRecord
    }
  }
}

extension DeletionOutcome {
  /// Whether the record stays as the store has it.
  var isRefused: Bool { self == .keepRecord || self == .reportConflict }

  /// What becomes of a value that the context wrote after the deletion.
  func outcome(ofWriting value: Value?) -> FieldOutcome {
    switch self {
    case .delete: .write(value)
    case .deleteBeside: .writeConcurrently(value)
    case .keepRecord: .keepStore
    case .reportConflict: .reportConflict
    }
  }
}
