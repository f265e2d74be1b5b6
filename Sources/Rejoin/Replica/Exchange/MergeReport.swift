// SPDX-License-Identifier: Apache-2.0

/// The result of applying a delta or a version: changes, conflicts and faults.
public struct MergeReport: Sendable {
  /// How much to report.
  public enum Detail: Sendable {
    /// Only faults: gaps, device IDs that are in use twice, and fields of
    /// another kind than the schema declares.
    case faults
    /// Also changes and conflicts, for which every field is compared before and
    /// after the join.
    ///
    /// For a delta of many records, ``faults`` takes much less memory, see
    /// <doc:WireFormat>.
    case changes
    /// Also the old and the new state of every changed field.
    case changesWithValues
  }

  /// A field whose visible value changed.
  public struct FieldChange: Hashable, Sendable {
    /// The field.
    public let location: FieldLocation
    /// The state before the join; read it with ``FieldState/value``,
    /// ``FieldState/count``, ``FieldState/elements`` or ``FieldState/total``,
    /// according to its kind.
    public let old: FieldState
    /// The state after the join.
    public let new: FieldState
  }

  /// What decided which of two concurrent writes wins.
  public enum Reason: Hashable, Sendable {
    /// The greater timestamp.
    case time
    /// The greater device ID; the timestamps are equal.
    case device
  }

  /// Two concurrent writes of different values to one register, one of them
  /// local and one unseen until now.
  public struct WriteConflict: Hashable, Sendable {
    /// The field.
    public let location: FieldLocation
    /// The write that outranks the other, by time, then device.
    ///
    /// If a third write outranks both, neither is shown.
    public let winner: RegisterWrite
    /// The other write.
    ///
    /// The register keeps it as a sibling.
    public let loser: RegisterWrite
    /// Whether the winner is the write that was here before.
    public let localWon: Bool
    /// What decided between them.
    public let reason: Reason
  }

  /// A deletion that met a concurrent edit of its record, one of them local and the
  /// other received.
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
    /// The deletions that had not seen some of ``edits``, sorted by dot.
    public let deletions: [Deletion]
    /// The last save of each device that edited the record and that some deletion
    /// had not seen, sorted by device.
    public let edits: [Dot]
    /// The rule of the record's entity.
    public let rule: DeletionRule
    /// Whether the record exists after the join, as the rule decided.
    public let exists: Bool
  }

  /// Saves that the sender left out because it assumed we had them.
  ///
  /// What follows them was not applied: the saves after them do not count as
  /// held, and a part of a large field that continues them was refused. Ask again
  /// for a delta since this replica's ``Replica/version``.
  public struct Gap: Hashable, Sendable {
    /// The device whose saves are missing.
    public let device: DeviceID
    /// The number of its last save that is held here.
    public let lastHeldSave: UInt64
    /// The number of its last save that the sender assumed to be held here.
    public let lastAssumedSave: UInt64
    /// The field of which a part was refused; `nil` if no part was.
    public var field: FieldLocation?
    /// The last record of the part before this one, or `nil` if the delta is not a
    /// part.
    ///
    /// The parts of a transfer up to this record did not arrive. See
    /// ``Replica/delta(since:byteLimit:)``.
    public var through: RecordID?
  }

  /// The records with at least one updated field.
  public internal(set) var changedRecords: Set<RecordID> = []
  /// The records that did not exist before and do now; all are in ``changedRecords``.
  public internal(set) var createdRecords: Set<RecordID> = []
  /// The records that existed before and do not now; all are in ``changedRecords``.
  public internal(set) var deletedRecords: Set<RecordID> = []
  /// The fields whose visible value changed, except existence; their records
  /// are in ``changedRecords``.
  public internal(set) var changedFields: Set<FieldLocation> = []
  /// The old and the new states of ``changedFields``, if ``Detail/changesWithValues`` were
  /// asked for.
  public internal(set) var fieldChanges: [FieldChange] = []
  /// The pairs of concurrent writes of different values to registers, including
  /// those that the local write won.
  ///
  /// Those of a field that the schema declares as `lww` are not listed.
  ///
  /// If there are more than 1,024 pairs of one field, or already 100,000 in the
  /// report, only the pairs with the shown write are listed.
  public internal(set) var conflicts: [WriteConflict] = []
  /// The records that one side deleted and the other edited, except the library's
  /// own.
  ///
  /// If a record has more than 1,024 pairs of a deletion and an edit, or the report
  /// already has 100,000 pairs, one deletion and one edit of the record are listed.
  public internal(set) var deletionConflicts: [DeletionConflict] = []
  /// The number of pairs of a deletion and an edit in ``deletionConflicts``.
  var deletionPairs = 0
  /// The intervals that could not be applied, because saves before them are
  /// missing.
  public internal(set) var gaps: [Gap] = []
  /// The dots under which two different saves exist.
  public internal(set) var equivocations: Set<Dot> = []
  /// The devices that turned out to be forked: two histories of them exist.
  public internal(set) var forkedDevices: Set<DeviceID> = []
  /// The last local save before a peer revealed later ones under our ID.
  ///
  /// It and those before it may collide with saves of another incarnation.
  /// Later reports of the same rollback name the same save.
  public internal(set) var lastSaveBeforeRollback: Dot?
  /// The retired devices of which later saves arrived, and which are back on
  /// the roster.
  public internal(set) var reactivatedDevices: Set<DeviceID> = []
  /// The fields that arrived with another kind than the schema declares.
  ///
  /// They are kept beside the declared ones and are not read. To read them,
  /// declare the older kind with `fallingBackTo`; they are then not listed here.
  public internal(set) var kindMismatches: Set<FieldLocation> = []

  /// Whether the delta changed the replica: a field, its version, or a prefix of the
  /// version.
  ///
  /// If it is false, the same sender would send the same delta again.
  public internal(set) var hasAdvanced = false

  init() {}

  /// Adds the report of another step of the same exchange.
  package mutating func add(_ other: MergeReport) {
    changedRecords.formUnion(other.changedRecords)
    changedFields.formUnion(other.changedFields)
    fieldChanges += other.fieldChanges
    createdRecords.formUnion(other.createdRecords)
    deletedRecords.formUnion(other.deletedRecords)
    conflicts += other.conflicts
    deletionConflicts += other.deletionConflicts
    gaps += other.gaps
    equivocations.formUnion(other.equivocations)
    forkedDevices.formUnion(other.forkedDevices)
    lastSaveBeforeRollback =
      other.lastSaveBeforeRollback ?? lastSaveBeforeRollback
    reactivatedDevices.formUnion(other.reactivatedDevices)
    kindMismatches.formUnion(other.kindMismatches)
    hasAdvanced = hasAdvanced || other.hasAdvanced
    _checkInvariants()
  }

  /// Whether the report lists a fault: a gap, a rollback, a device ID in use
  /// twice, or a field of another kind than the schema declares.
  ///
  /// Conflicts are not faults, and neither are reactivated devices.
  public var hasFaults: Bool {
    !gaps.isEmpty || !equivocations.isEmpty || !forkedDevices.isEmpty
      || lastSaveBeforeRollback != nil || !kindMismatches.isEmpty
  }
}

extension MergeReport {
  #if REJOIN_CHECK_INVARIANTS
    /// Checks that whatever changed is of a listed record, and that the winner
    /// of each conflict outranks the loser.
    func _checkInvariants() {
      precondition(
        created.union(deleted).isSubset(of: records),
        "`records` lacks a record that was created or deleted")
      precondition(
        records.isSuperset(of: changedFields.map(\.record))
          && changedFields.isSuperset(of: changes.map(\.location)),
        "`records` lacks a changed field's record, or `changedFields` a change")
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
