// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A change by either side that a merge policy did not keep.
public struct DroppedChange: Hashable, Sendable {
  /// A value and its author.
  public struct Side: Hashable, Sendable {
    /// The value, or `nil` if the field is unset.
    public let value: Value?
    /// The device that wrote the value, or `nil` if the field has no write.
    public let device: DeviceID?
    /// The timestamp of the write, or `nil` for an unsaved edit in the context.
    public let time: Timestamp?
  }

  /// The content of a dropped change.
  public enum Content: Hashable, Sendable {
    /// A register's value, which was dropped in favor of another.
    case value(dropped: Side, kept: Side)
    /// The context's edit of a counter, a set or a ledger.
    case edit(FieldEdit)
    /// A state of the store that changed after the context fetched the record.
    ///
    /// It belongs to a counter or set that was overwritten, or to a record that
    /// the context deleted. In a deleted record, it is the state of a field or
    /// of the existence.
    case overwritten(FieldState)
    /// The context's deletion of the record.
    case deletion
    /// The context's `touch`, which creates the record or keeps it alive
    /// without editing a field.
    case creation
  }

  /// The record.
  public let record: RecordID
  /// The field, or `nil` for a deletion or creation of the record.
  public let field: FieldKey?
  /// The content of the change.
  public let content: Content
  /// The ``MergePolicy/name`` of the policy that decided.
  public let rule: String
}

extension DroppedChange {
  /// Reports a sibling at the maximum timestamp.
  ///
  /// No later timestamp exists, so even a concurrent write supersedes it.
  init(
    _ superseded: SaveReport.SupersededWrite, by value: Value?,
    of device: DeviceID, rule: String
  ) {
    self.init(
      record: superseded.record, field: superseded.field,
      content: .value(
        dropped: .init(superseded.write),
        kept: .init(value: value, device: device, time: nil)), rule: rule)
  }
}

extension DroppedChange.Side {
  init(_ write: RegisterWrite?) {
    self.init(
      value: write?.value, device: write?.dot.device,
      time: write?.time)
  }
}
