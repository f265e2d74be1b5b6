// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A change that a merge policy did not keep, by either side.
public struct DroppedChange: Hashable, Sendable {
  /// A value and its author.
  public struct Side: Hashable, Sendable {
    /// The value; `nil` if the field is unset.
    public let value: Value?
    /// The device that wrote it; `nil` if nobody has written the field.
    public let device: DeviceID?
    /// The timestamp of the write; `nil` for an edit in the context, which has
    /// not been saved.
    public let time: Timestamp?
  }

  /// What was dropped.
  public enum Content: Hashable, Sendable {
    /// A register's value, in favour of another.
    case value(dropped: Side, kept: Side)
    /// The context's edit of a counter, a set or a ledger.
    case edit(FieldEdit)
    /// A state of the store that had changed since the record was fetched: of a
    /// counter or a set that was overwritten, or of a field, or the existence,
    /// of a record that the context deleted.
    case overwritten(FieldState)
    /// The context's deletion of the record.
    case deletion
    /// The context's `touch`, which creates the record or keeps it alive
    /// without editing a field.
    case creation
  }

  /// The record.
  public let record: RecordID
  /// The field; `nil` for a deletion or a creation of the record.
  public let field: FieldKey?
  /// What was dropped.
  public let content: Content
  /// The ``MergePolicy/name`` of the policy that decided.
  public let rule: String
}

extension DroppedChange.Side {
  init(_ write: RegisterWrite?) {
    self.init(
      value: write?.value, device: write?.dot.device,
      time: write?.time)
  }
}
