// SPDX-License-Identifier: Apache-2.0

/// The location of a field: its record and its key.
public struct FieldLocation: Hashable, Sendable {
  /// The record.
  public let record: RecordID
  /// The field.
  public let field: FieldKey

  /// Creates the location of a field.
  public init(record: RecordID, field: FieldKey) {
    (self.record, self.field) = (record, field)
  }
}
