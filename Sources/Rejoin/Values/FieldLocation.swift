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

extension FieldLocation: CustomStringConvertible {
  /// The record and the name of the field, for example `Item/milk.amount`, or
  /// the record alone for its existence.
  public var description: String {
    field == .existence ? "\(record)" : "\(record).\(SchemaName(field.name))"
  }
}

extension [FieldLocation] {
  /// The fields as a list in a text.
  var text: String { map(\.description).joined(separator: ", ") }
}
