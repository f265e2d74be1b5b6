// SPDX-License-Identifier: Apache-2.0

/// What receiving did: what changed, what met, and what went wrong.
public struct MergeReport: Sendable {
  /// How much a report tells.
  public enum Detail: Sendable {
    /// Only faults: gaps, device IDs used twice, and fields of another kind than
    /// the schema's.
    case faults
    /// Also what changed and which concurrent writes met. It compares every field
    /// before and after.
    case full
    /// Also the old and the new state of every field that changed.
    case values
  }

  /// A field of a record.
  public struct Location: Hashable, Sendable {
    /// The record.
    public let record: RecordID
    /// The field.
    public let field: FieldKey
  }

  /// A field whose visible value changed.
  public struct Change: Hashable, Sendable {
    /// The field.
    public let location: Location
    /// The field as it was, to be read by its kind: ``FieldState/value``,
    /// ``FieldState/count``, ``FieldState/elements`` or ``FieldState/total``.
    public let old: FieldState
    /// The field as it is.
    public let new: FieldState
  }

  /// What decided which of two concurrent writes is shown.
  public enum Reason: Hashable, Sendable {
    /// The greater timestamp.
    case time
    /// The greater device, the timestamps being equal.
    case device
  }

  /// Two concurrent writes of different values in one register that met here.
  ///
  /// A deletion and an update that met are two writes of ``FieldKey/existence``.
  public struct WriteConflict: Hashable, Sendable {
    /// The field.
    public let location: Location
    /// The write that outranks the other.
    ///
    /// Where there are more than two, neither need be the one shown.
    public let winner: Write
    /// The other write.
    ///
    /// A register keeps it as a sibling, an `lww` field loses it.
    public let loser: Write
    /// Whether the winner was here before.
    public let localWon: Bool
    /// What decided.
    public let reason: Reason
  }

  /// Saves that the sender left out because it took us to have them: ask again
  /// from this replica's clock.
  public struct Gap: Hashable, Sendable {
    /// The device whose saves are missing.
    public let device: DeviceID
    /// The last of its saves that is here.
    public let held: UInt64
    /// The last of its saves that the sender took to be here.
    public let assumed: UInt64
  }

  /// The records of which any field was in the message and was news.
  public internal(set) var records: Set<RecordID> = []
  /// The records that did not exist before and do now.
  public internal(set) var created: Set<RecordID> = []
  /// The records that existed before and do not any more.
  public internal(set) var deleted: Set<RecordID> = []
  /// The fields whose visible value changed, existence aside.
  public internal(set) var changedFields: Set<Location> = []
  /// The old and the new states of these fields, where ``Detail/values`` are asked
  /// for.
  public internal(set) var changes: [Change] = []
  /// The concurrent writes of different values that met in registers and `lww`
  /// fields, also where the local one won.
  ///
  /// Where more than a thousand pairs met in one field, or a hundred thousand in
  /// the message, only those with the write that is shown are here.
  public internal(set) var conflicts: [WriteConflict] = []
  /// The saves that are missing.
  public internal(set) var gaps: [Gap] = []
  /// The devices and numbers that name two different saves.
  public internal(set) var equivocations: Set<Dot> = []
  /// The devices that are now known to have two histories.
  public internal(set) var forkedDevices: Set<DeviceID> = []
  /// Our last save before somebody first showed us later ones of our own.
  ///
  /// It and those before it may collide with saves of another incarnation.
  public internal(set) var rollbackDetected: Dot?
  /// Retired devices of which later saves arrived: they are on the roster again.
  public internal(set) var returned: Set<DeviceID> = []
  /// Fields that are declared with another kind than the message has them.
  ///
  /// They are kept beside the declared ones, and nothing here reads them: declare
  /// how with `readingAlso`, which takes them off this list.
  public internal(set) var kindMismatches: Set<Location> = []

  init() {}

  /// Adds what another step of the same exchange did.
  mutating func add(_ other: MergeReport) {
    records.formUnion(other.records)
    changedFields.formUnion(other.changedFields)
    changes += other.changes
    created.formUnion(other.created)
    deleted.formUnion(other.deleted)
    conflicts += other.conflicts
    gaps += other.gaps
    equivocations.formUnion(other.equivocations)
    forkedDevices.formUnion(other.forkedDevices)
    rollbackDetected = other.rollbackDetected ?? rollbackDetected
    returned.formUnion(other.returned)
    kindMismatches.formUnion(other.kindMismatches)
  }

  /// Whether nothing went wrong: no save is missing, no save of ours is doubtful,
  /// no device ID was used twice, and no field came with another kind than the
  /// schema declares.
  ///
  /// Conflicts are no fault.
  public var isClean: Bool {
    gaps.isEmpty && equivocations.isEmpty && forkedDevices.isEmpty
      && rollbackDetected == nil && kindMismatches.isEmpty
  }
}
