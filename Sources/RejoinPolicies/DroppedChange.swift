// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A change that a policy did not keep.
public struct DroppedChange: Hashable, Sendable {
  /// One side of the choice.
  public struct Side: Hashable, Sendable {
    /// The value; `nil` is an unset field.
    public let value: Value?
    /// The device that wrote it.
    public let device: DeviceID?
    /// When it was written; `nil` for an edit that was not saved yet.
    public let time: Timestamp?
  }

  /// What was dropped.
  public enum Content: Hashable, Sendable {
    /// A value in favour of another.
    case value(dropped: Side, kept: Side)
    /// An edit of a counter, a set or a ledger.
    case edit(FieldEdit)
    /// What a counter, a set or a ledger held, or a field of a record that the
    /// context deleted, its existence included: somebody had changed it since it
    /// was fetched.
    case overwritten(FieldState)
    /// The deletion of the record.
    case deletion
    /// That the record is created or kept alive, without a field.
    case creation
  }

  /// The record.
  public let record: RecordID
  /// The field; `nil` for the deletion or creation of the record.
  public let field: FieldKey?
  /// What was dropped.
  public let content: Content
  /// The name of the policy that decided.
  public let rule: String
}

extension DroppedChange.Side {
  init(_ write: Siblings<Stamped>.Element?) {
    self.init(
      value: write?.payload.value, device: write?.dot.device,
      time: write?.payload.time)
  }
}
