// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The action of a save on the deletion of a record.
public enum DeletionOutcome: Hashable, Sendable {
  /// Deletes the record and supersedes all changes.
  ///
  /// The changes that the context had not seen are reported.
  case delete
  /// Deletes the record as the context showed it.
  ///
  /// The deletion is concurrent with changes that the context had not seen, and
  /// the entity's `DeletionRule` decides whether the record exists.
  case deleteBeside
  /// Keeps the record.
  ///
  /// The deletion is dropped and reported, together with the context's other
  /// edits of the record.
  case keepRecord
  /// Keeps the record and adds the deletion to
  /// ``EditingContext/pendingConflicts``.
  case reportConflict
}

extension MergePolicy {
  /// Returns the action of a save on a deletion in conflict.
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
  /// Whether the save refuses the deletion.
  var isRefused: Bool { self == .keepRecord || self == .reportConflict }

  /// Returns the action of a save on a value that the context wrote after the
  /// deletion.
  func outcome(ofWriting value: Value?) -> FieldOutcome {
    switch self {
    case .delete: .write(value)
    case .deleteBeside: .writeConcurrently(value)
    case .keepRecord: .keepStore
    case .reportConflict: .reportConflict
    }
  }
}
