// SPDX-License-Identifier: Apache-2.0

/// The fields of one record in a delta.
public struct RecordChange: Hashable, Sendable {
  /// The record.
  public let id: RecordID
  /// The fields that the change contains in full.
  public internal(set) var fields: [FieldKey: FieldState]
  /// The new parts of large fields, which are not in ``fields``.
  package internal(set) var fragments: [FieldKey: Fragment] = [:]

  /// The large fields that the change contains only in part.
  public var partialFields: Set<FieldKey> { Set(fragments.keys) }

  init(
    id: RecordID, fields: [FieldKey: FieldState] = [:],
    fragments: [FieldKey: Fragment] = [:]
  ) {
    (self.id, self.fields, self.fragments) = (id, fields, fragments)
  }

  /// The change split into changes of one field each, sorted by field.
  var single: [RecordChange] {
    let keys = (Array(fields.keys) + fragments.keys).sorted()
    return keys.map { key in
      var change = RecordChange(id: id)
      change.fields[key] = fields[key]
      change.fragments[key] = fragments[key]
      return change
    }
  }

  /// Adds the fields of another change.
  mutating func add(_ other: RecordChange) {
    fields.merge(other.fields) { mine, _ in mine }
    fragments.merge(other.fragments) { mine, _ in mine }
  }
}
