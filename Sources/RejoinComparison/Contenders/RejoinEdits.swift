// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension Episode {
  /// The library's key for a field.
  ///
  /// The empty name is not allowed there, and is replaced.
  func key(of field: String) -> FieldKey {
    FieldKey(field.isEmpty ? "\u{0}" : field, kind(of: field))
  }

  /// The field of a key.
  static func field(of key: FieldKey) -> String {
    key.name == "\u{0}" ? "" : key.name
  }

  /// The library's keys for all fields.
  var keys: [FieldKey] {
    Set((base ?? [:]).keys).union(changedFields).map(key)
  }
}

extension Episode.Edit {
  /// The edit as the library's field edits, in the order in which they apply:
  /// `clear`, `set`, `remove`, `insert`, `increment`.
  func fieldEdits(
    of kinds: [String: FieldKind]
  ) -> [(String, FieldEdit)] {
    let cleared = clear.map { field -> (String, FieldEdit) in
      switch kinds[field] {
      case .counter: (field, .count(CounterEdit(by: 0, isReset: true)))
      case .set: (field, .members(.clearing))
      default: (field, .write(nil))
      }
    }
    let written = set.map { field, value -> (String, FieldEdit) in
      guard kinds[field] == .counter, case .int(let number) = value else {
        return (field, .write(value))
      }
      return (field, .count(CounterEdit(by: number, isReset: true)))
    }
    return cleared + written
      + remove.map { ($0, .members(SetEdit(inserting: [], removing: $1))) }
      + insert.map { ($0, .members(SetEdit(inserting: $1))) }
      + increment.map { ($0, .count(CounterEdit(by: $1))) }
  }
}
