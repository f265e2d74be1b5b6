// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// What a context's save did.
public struct ContextReport: Sendable {
  /// The save; `nil` if nothing was written.
  public internal(set) var dot: Dot?
  /// The register and `lww` fields that were written, by record.
  public internal(set) var written: [RecordID: Set<Name>] = [:]
  /// The records whose deletion was carried out, those that were created again in
  /// the same save included.
  public internal(set) var deleted: Set<RecordID> = []
  /// The records that were deleted and exist all the same, with what keeps each:
  /// edits that the context had not shown, or an alias.
  public internal(set) var survivors: [RecordID: [DroppedChange.Side]] = [:]
  /// What the policy did not keep.
  public internal(set) var dropped: [DroppedChange] = []
  /// The `lww` fields at the greatest timestamp that a re-creation had to leave as
  /// they are.
  public internal(set) var retained: [MergeReport.Location] = []
  /// The records that were in conflict, whatever became of it.
  public internal(set) var conflicts: [Conflict] = []
  /// The records that could not be saved, and why.
  ///
  /// Their edits stay in the context; the other records were saved.
  public internal(set) var failures: [RecordID: SaveError] = [:]
}
