// SPDX-License-Identifier: Apache-2.0

/// An error that describes why a save failed.
///
/// If an error is thrown, the replica is unchanged.
public enum SaveError: Error, Hashable, Sendable {
  /// The hybrid clock is at its maximum.
  case clockExhausted
  /// The device's last save has the number `UInt64.max`, so another save is
  /// impossible.
  case numbersExhausted(DeviceID)
  /// A counter's increments or decrements by one device would exceed
  /// `UInt64.max`.
  case counterOverflow(RecordID, field: String)
  /// The key of a record of this entity is empty.
  case emptyKey(entity: String)
  /// The key of the record has more than ``RecordID/keyByteLimit`` bytes.
  case keyTooLong(RecordID, limit: Int)
  /// The name of the server leaves no byte for the keys of its rows.
  ///
  /// See ``Replica/importRows(from:modifiedAt:_:)``.
  case serverNameTooLong(String)
  /// The encoded record would have more than ``Record/byteLimit`` bytes.
  ///
  /// A save that only removes content does not throw this error, even if a
  /// merge made the record larger than the limit.
  case recordTooLarge(RecordID, byteCount: Int)
  /// A position would have more than ``Position/byteLimit`` bytes.
  ///
  /// This takes hundreds of moves to the exact center of a list. Give all items new
  /// positions in one save.
  case positionTooLong
  /// The record cannot be restored, or edited as it was shown before its
  /// deletion, because the deletion was purged.
  ///
  /// A purge drops the contents after it announced this. See
  /// ``Replica/purgeDeletedRecords()``.
  case purged(RecordID)
  /// An edit observed a state of another kind than its field.
  case observedKind(RecordID, field: String)
  /// A new device ID is needed, but `makeDeviceID` returned this ID, which was
  /// used before.
  case identityInUse(DeviceID)
}

extension SaveError: CustomStringConvertible {
  /// A description of the failure and its remedy.
  public var description: String {
    switch self {
    case .clockExhausted:
      HybridClock.Exhausted().description
    case .numbersExhausted(let device):
      "Device \(device) cannot save again because it has used all sequence "
        + "numbers. Fork the replica under a new device ID."
    case .counterOverflow(let id, let field):
      "The counter \"\(field)\" of \(id) cannot be changed because this device's "
        + "changes would exceed the maximum. Use smaller amounts, or fork the "
        + "replica under a new device ID."
    case .emptyKey(let entity):
      "A record of \(entity) cannot be saved because its key is empty. Use a key "
        + "with at least one character."
    case .keyTooLong(let id, let limit):
      "A record of \(id.entity) cannot be saved because its key has "
        + "\(id.key.utf8.count) bytes, and the maximum is \(limit). Use a shorter "
        + "key."
    case .serverNameTooLong(let name):
      "The rows cannot be imported because the name of the server has "
        + "\(name.utf8.count) bytes, which leaves none for the keys of the rows. Use "
        + "a shorter name of the server."
    case .recordTooLarge(let id, let byteCount):
      "\(id) cannot be saved because it would have \(byteCount) bytes, and the "
        + "maximum is \(Limits.recordBytes). If concurrent writes made it large, "
        + "resolve its conflicts or remove content. Otherwise, split the content "
        + "among several records, or store large content in files."
    case .positionTooLong:
      "The item cannot be placed there because its position would have more than "
        + "\(Position.byteLimit) bytes. Give all items of the list new positions, with "
        + "`rebalance`."
    case .purged(let id):
      "\(id) cannot be restored or edited as it was shown because its deletion "
        + "was purged. Write to the record in a save to create it again."
    case .observedKind(let id, let field):
      "The state observed of "
        + (field.isEmpty ? "the existence" : "the field \"\(field)\"")
        + " of \(id) is of another kind. Pass the state of that field, as a record "
        + "shows it."
    case .identityInUse(let device):
      "The replica needs a new device ID, but `makeDeviceID` returned "
        + "\(device), which was used before. Return a new ID from each call."
    }
  }
}

extension SaveError {
  /// Creates the error of a save that would create a record with this ID, or
  /// `nil` if the key is valid.
  @inline(__always)
  package init?(refusing id: RecordID) {
    switch id.key.utf8.count {
    case 0: self = .emptyKey(entity: id.entity)
    case ...Limits.keyBytes: return nil
    default: self = .keyTooLong(id, limit: Limits.keyBytes)
    }
  }
}

/// The result of a save.
public struct SaveReport: Hashable, Sendable {
  /// The dot of the save, or `nil` if it had no edits.
  public internal(set) var dot: Dot?

  /// Creates the report of a save without edits.
  public init() {}

  init(dot: Dot) { self.dot = dot }

  /// A write that a save superseded although the author was not shown the
  /// write.
  ///
  /// The write has the greatest timestamp, so no new write can outrank it.
  public struct SupersededWrite: Hashable, Sendable {
    /// The record.
    public let record: RecordID
    /// The field.
    public let field: FieldKey
    /// The write.
    public let write: RegisterWrite
  }

  /// The superseded writes that the author was not shown.
  public internal(set) var unseenSupersededWrites: [SupersededWrite] = []

  /// The step that undoes the save, or `nil` if the save was not undoable.
  public internal(set) var undo: UndoStep?

  /// The fields that ``Replica/undo(_:)`` could not fully revert.
  ///
  /// If the creation or deletion of a record could not be reverted, the list
  /// contains ``FieldKey/existence``.
  public internal(set) var unrevertedFields: [FieldLocation] = []
}

extension SaveReport: CustomStringConvertible {
  /// The dot, the writes that were superseded unseen, and the fields that an
  /// undo left.
  public var description: String {
    let unseen = unseenSupersededWrites.map {
      FieldLocation(record: $0.record, field: $0.field)
    }
    return (dot.map { "saved as \($0)" } ?? "nothing to save")
      + (unseen.isEmpty ? "" : ", superseded unseen writes of \(unseen.text)")
      + (unrevertedFields.isEmpty
        ? "" : ", did not revert \(unrevertedFields.text)")
  }
}
