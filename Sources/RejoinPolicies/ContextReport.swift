// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A report of the changes that a context's save wrote, dropped or queued.
public struct ContextReport: Sendable {
  /// The dot of the save, or `nil` if nothing was written.
  public internal(set) var dot: Dot?
  /// The registers that were written in each record.
  public internal(set) var writtenFields: [RecordID: Set<SchemaName>] = [:]
  /// The records that the save deleted, even if it created them again.
  public internal(set) var deletedRecords: Set<RecordID> = []
  /// The deleted records that still exist.
  ///
  /// Each has the last concurrent save of every device that edited it.
  public internal(set) var survivingRecords: [RecordID: [Dot]] = [:]
  /// The records that stay deleted although the save edited them.
  ///
  /// The entity declares `deleteWins`, and the context had not seen a deletion
  /// of the record. The edits are saved but not shown. They appear if the
  /// deletion is undone, or after `Transaction.undelete(_:)`:
  ///
  ///     let report = try context.commit(&draft)
  ///     for id in report.hiddenRecords {
  ///       try replica.save { $0.undelete(id) }
  ///     }
  public internal(set) var hiddenRecords: Set<RecordID> = []
  /// The changes by either side that the policy did not keep.
  public internal(set) var dropped: [DroppedChange] = []
  /// The records in conflict, including those that the policy resolved.
  public internal(set) var conflicts: [EditConflict] = []
  /// The records that could not be saved, each with its error.
  ///
  /// The edits of these records stay in the context. The other records were
  /// saved.
  public internal(set) var failedRecords: [RecordID: SaveError] = [:]
}
