// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// What a save of a context wrote, dropped and left to resolve.
public struct ContextReport: Sendable {
  /// The dot of the save; `nil` if nothing was written.
  public internal(set) var dot: Dot?
  /// The registers that were written, by record.
  public internal(set) var writtenFields: [RecordID: Set<SchemaName>] = [:]
  /// The records whose deletion was carried out, even if the same save created
  /// them again.
  public internal(set) var deletedRecords: Set<RecordID> = []
  /// The records that were deleted and still exist, each with the last concurrent
  /// save of every device that edited it.
  public internal(set) var survivingRecords: [RecordID: [Dot]] = [:]
  /// The changes, by either side, that the policy did not keep.
  public internal(set) var dropped: [DroppedChange] = []
  /// The records that were in conflict, including those that the policy
  /// resolved.
  public internal(set) var conflicts: [EditConflict] = []
  /// The records that could not be saved, each with the error.
  ///
  /// Their edits stay in the context. The other records were saved.
  public internal(set) var failedRecords: [RecordID: SaveError] = [:]
}
