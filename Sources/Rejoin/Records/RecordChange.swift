// SPDX-License-Identifier: Apache-2.0

/// Fields of one record, as a delta brings them.
public struct RecordChange: Hashable, Sendable {
  /// The record.
  public let id: RecordID
  /// Its fields, sorted by name and kind.
  public internal(set) var fields: [FieldKey: FieldState]
  /// Of other fields, which are large, what is new of them.
  package internal(set) var fragments: [FieldKey: Fragment] = [:]

  init(
    id: RecordID, fields: [FieldKey: FieldState] = [:],
    fragments: [FieldKey: Fragment] = [:]
  ) {
    (self.id, self.fields, self.fragments) = (id, fields, fragments)
  }

  /// The changes of one field each, sorted by field.
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
