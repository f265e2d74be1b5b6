// SPDX-License-Identifier: Apache-2.0

/// Fields of one record, as a delta brings them.
public struct RecordChange: Hashable, Sendable {
  /// The record.
  public let id: RecordID
  /// Its fields, sorted by name and kind.
  public internal(set) var fields: [FieldKey: FieldState]

  init(id: RecordID, fields: [FieldKey: FieldState]) {
    self.id = id
    self.fields = fields
  }
}
