// SPDX-License-Identifier: Apache-2.0

/// The result of applying a delta or a version: changes, conflicts and faults.
public struct MergeReport: Sendable {
  /// The level of detail of a report.
  public enum Detail: Sendable {
    /// Only faults: gaps, device IDs that are in use twice, and fields of
    /// another kind than the schema declares.
    case faults
    /// Faults, changes and conflicts.
    ///
    /// The replica compares every field before and after the join. For a delta
    /// of many records, ``faults`` takes much less memory: see
    /// <doc:WireFormat>.
    case changes
    /// Faults, changes and conflicts, with both states of every changed field.
    case changesWithValues
  }

  /// A field whose visible value changed.
  public struct FieldChange: Hashable, Sendable {
    /// The field.
    public let location: FieldLocation
    /// The state before the join.
    ///
    /// Read it with ``FieldState/value``, ``FieldState/count``,
    /// ``FieldState/elements`` or ``FieldState/total``, depending on its kind.
    public let old: FieldState
    /// The state after the join.
    public let new: FieldState
  }

  /// The reason why one of two concurrent writes wins.
  public enum Reason: Hashable, Sendable {
    /// The winner has the later timestamp.
    case time
    /// The timestamps are equal, and the winner has the greater device ID.
    case device
  }

  /// Two concurrent writes of different values to one register.
  ///
  /// One write was already in the replica, and the other one arrived.
  public struct WriteConflict: Hashable, Sendable {
    /// The field.
    public let location: FieldLocation
    /// The write that outranks the other, by timestamp and then by device ID.
    ///
    /// If a third write outranks both, the field shows neither.
    public let winner: RegisterWrite
    /// The other write, which the register keeps as a sibling.
    public let loser: RegisterWrite
    /// Whether the winner was already in the replica.
    public let localWon: Bool
    /// The reason why the winner outranks the loser.
    public let reason: Reason
  }

  /// A record that one side deleted and the other side concurrently edited.
  public struct DeletionConflict: Hashable, Sendable {
    /// A deletion or a purge.
    public struct Deletion: Hashable, Sendable {
      /// The save.
      public let dot: Dot
      /// The timestamp of the save.
      public let time: Timestamp
    }

    /// The record.
    public let record: RecordID
    /// The deletions that had not seen all of ``edits``, sorted by dot.
    public let deletions: [Deletion]
    /// The last edit of each device that some deletion had not seen, sorted by
    /// device.
    public let edits: [Dot]
    /// The rule of the record's entity.
    public let rule: DeletionRule
    /// Whether the record exists after the join, according to the rule.
    public let exists: Bool
  }

  /// Saves that a delta skipped because its sender assumed that this replica
  /// had them.
  ///
  /// The saves after the gap do not advance the replica's ``Replica/version``,
  /// and the replica refuses parts of large fields that continue the missing
  /// saves. To close the gap, request a delta since the current version from
  /// any replica.
  public struct Gap: Hashable, Sendable {
    /// The device whose saves are missing.
    public let device: DeviceID
    /// The number of the device's last save in this replica.
    public let lastHeldSave: UInt64
    /// The number of the device's last save that the sender assumed to be in
    /// this replica.
    public let lastAssumedSave: UInt64
    /// The field whose new part was refused, or `nil` if no part was refused.
    public var field: FieldLocation?
    /// The last record of the previous part, or `nil` if the delta is not a
    /// part.
    ///
    /// The parts of the transfer up to this record did not arrive. See
    /// ``Replica/delta(since:byteLimit:)``.
    public var through: RecordID?
  }

  /// The records with at least one updated field.
  public internal(set) var changedRecords: Set<RecordID> = []
  /// The records that now exist and did not before, a subset of
  /// ``changedRecords``.
  public internal(set) var createdRecords: Set<RecordID> = []
  /// The records that no longer exist, a subset of ``changedRecords``.
  public internal(set) var deletedRecords: Set<RecordID> = []
  /// The fields whose visible value changed, except existence.
  ///
  /// Their records are in ``changedRecords``.
  public internal(set) var changedFields: Set<FieldLocation> = []
  /// The old and the new states of ``changedFields``.
  ///
  /// The list is empty unless you request ``Detail/changesWithValues``.
  public internal(set) var fieldChanges: [FieldChange] = []
  /// The pairs of concurrent writes of different values to one register,
  /// including those that the local write won.
  ///
  /// Conflicts of a field that the schema declares as `lww` are not listed.
  ///
  /// If a field has more than 1,024 pairs, or the report already has 100,000,
  /// the list contains only the pairs with the visible write.
  public internal(set) var conflicts: [WriteConflict] = []
  /// The records that one side deleted and the other side concurrently edited,
  /// except the library's own records.
  ///
  /// The list contains one deletion and one edit of a record if the record has
  /// more than 1,024 pairs of them, if its deletions times its edits are more
  /// than 65,536, or if the report already has 100,000 pairs.
  public internal(set) var deletionConflicts: [DeletionConflict] = []
  /// The number of pairs of a deletion and an edit in ``deletionConflicts``.
  var deletionPairs = 0
  /// The intervals that could not be applied because earlier saves are missing.
  public internal(set) var gaps: [Gap] = []
  /// The dots that identify two different saves.
  public internal(set) var equivocations: Set<Dot> = []
  /// The devices that were found to be forked because they have two histories.
  ///
  /// If a part of a transfer shows the fork, the report of its last part lists
  /// the device.
  public internal(set) var forkedDevices: Set<DeviceID> = []
  /// The last local save before a peer showed later saves under this device's
  /// ID.
  ///
  /// This save and earlier ones may collide with saves of another incarnation.
  /// Later reports of the same rollback contain the same save.
  public internal(set) var lastSaveBeforeRollback: Dot?
  /// The retired devices that are back on the roster because later saves
  /// arrived from them.
  public internal(set) var reactivatedDevices: Set<DeviceID> = []
  /// The server's time that ``Replica/importRows(from:modifiedAt:_:)`` replaced
  /// by the current time, because it is later by more than the maximum skew, or
  /// `nil`.
  ///
  /// The clock of the server or that of the device is wrong.
  public internal(set) var correctedServerTime: Int64?
  /// The fields that arrived with another kind than the schema declares.
  ///
  /// The replica keeps them in addition to the declared fields, but does not
  /// read them. To read them, declare the older kind with `fallingBackTo`. The
  /// report then no longer lists them.
  public internal(set) var kindMismatches: Set<FieldLocation> = []

  /// Whether the delta changed a field, the version, or a prefix of the
  /// version.
  ///
  /// If `false`, the sender would send the same delta again.
  public package(set) var hasAdvanced = false

  package init() {}

  /// Adds the report of another step of the same exchange, or of another attempt
  /// of the same step.
  package mutating func add(_ other: MergeReport) {
    changedRecords.formUnion(other.changedRecords)
    changedFields.formUnion(other.changedFields)
    fieldChanges += other.fieldChanges
    createdRecords.formUnion(other.createdRecords)
    deletedRecords.formUnion(other.deletedRecords)
    conflicts += other.conflicts
    deletionConflicts += other.deletionConflicts
    let known = Set(gaps)
    gaps += other.gaps.filter { !known.contains($0) }
    equivocations.formUnion(other.equivocations)
    forkedDevices.formUnion(other.forkedDevices)
    lastSaveBeforeRollback =
      other.lastSaveBeforeRollback ?? lastSaveBeforeRollback
    reactivatedDevices.formUnion(other.reactivatedDevices)
    correctedServerTime = other.correctedServerTime ?? correctedServerTime
    kindMismatches.formUnion(other.kindMismatches)
    hasAdvanced = hasAdvanced || other.hasAdvanced
    _checkInvariants()
  }

  /// Whether the report lists a fault: a gap, a rollback, a device ID in use
  /// twice, a wrong time of a server, or a field of another kind than the schema
  /// declares.
  ///
  /// Conflicts and reactivated devices are not faults.
  public var hasFaults: Bool {
    !gaps.isEmpty || !equivocations.isEmpty || !forkedDevices.isEmpty
      || lastSaveBeforeRollback != nil || correctedServerTime != nil
      || !kindMismatches.isEmpty
  }
}

extension MergeReport {
  #if REJOIN_CHECK_INVARIANTS
    /// Checks that each change belongs to a listed record, and that the winner
    /// of each conflict outranks the loser.
    func _checkInvariants() {
      precondition(
        createdRecords.union(deletedRecords).isSubset(of: changedRecords),
        "`changedRecords` lacks a record that was created or deleted")
      precondition(
        changedRecords.isSuperset(of: changedFields.map(\.record))
          && changedFields.isSuperset(of: fieldChanges.map(\.location)),
        "`changedRecords` lacks the record of a field, or `changedFields` a field"
      )
      for conflict in conflicts {
        let (winner, loser) = (conflict.winner, conflict.loser)
        precondition(
          (loser.time, loser.dot) < (winner.time, winner.dot)
            && winner.value != loser.value,
          "no conflict in \(conflict.location): \(winner), \(loser)")
      }
    }
  #else
    func _checkInvariants() {}
  #endif
}
