// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension Episode {
  /// Returns the library's key for a field.
  ///
  /// The library does not allow an empty name, so it is replaced.
  func key(of field: String) -> FieldKey {
    FieldKey(field.isEmpty ? "\u{0}" : field, kind(of: field))
  }

  /// Returns the field of a key.
  static func field(of key: FieldKey) -> String {
    key.name == "\u{0}" ? "" : key.name
  }

  /// The library's keys for all fields.
  var keys: [FieldKey] { fields.map(key) }
}

extension Episode.Edit {
  /// Returns the library's field edits in the order of their application:
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
