// SPDX-License-Identifier: Apache-2.0

/// Why a save was refused.
///
/// Nothing has changed then.
public enum SaveError: Error, Hashable, Sendable {
  /// The hybrid clock is at its maximum.
  case clockExhausted
  /// The device has used up its numbers.
  case numbersExhausted(DeviceID)
  /// A counter's sum would exceed `UInt64.max`.
  case counterOverflow(RecordID, field: String)
  /// An `lww` field holds a write with the greatest timestamp.
  case registerExhausted(RecordID, field: String)
  /// What the record held when it was deleted has been purged.
  case purged(RecordID)
  /// Another incarnation saves under our ID, and `makeDeviceID` gave one that has
  /// been used, too.
  case identityInUse(DeviceID)
}

extension SaveError: CustomStringConvertible {
  /// What happened, and how to mend it.
  public var description: String {
    switch self {
    case .clockExhausted:
      HybridClock.Exhausted().description
    case .numbersExhausted(let device):
      "\(device) has used up its numbers: fork the replica as a new device"
    case .counterOverflow(let id, let field):
      "the counter \(field) of \(id) would overflow: count in smaller steps, "
        + "or fork the replica as a new device"
    case .registerExhausted(let id, let field):
      "\(field) of \(id) holds a write with the greatest timestamp: use a field "
        + "of the kind `register`, which is not bound by it"
    case .purged(let id):
      "\(id) was deleted, and what it held has been purged: write to it to "
        + "create it anew"
    case .identityInUse(let device):
      "a new device ID is needed, and \(device) has been used: `makeDeviceID` "
        + "must give an ID that is new each time"
    }
  }
}

/// What a save did.
public struct SaveReport: Hashable, Sendable {
  /// The save's name; `nil` if there was nothing to save.
  public internal(set) var dot: Dot?

  /// Creates the report of a save that had nothing to do.
  public init() {}

  init(dot: Dot) { self.dot = dot }

  /// A write that had to go although the author had not been shown it, because
  /// nothing can be stamped above it.
  public struct Superseded: Hashable, Sendable {
    /// The record.
    public let record: RecordID
    /// The field.
    public let field: FieldKey
    /// The write.
    public let write: Siblings<Stamped>.Element
  }

  /// The writes that were superseded without having been shown.
  public internal(set) var superseded: [Superseded] = []

  /// The `lww` fields at the greatest timestamp that a re-creation or a purge had
  /// to leave as they are.
  public internal(set) var retained: [MergeReport.Location] = []
}
