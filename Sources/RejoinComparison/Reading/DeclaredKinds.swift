// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The kinds of fields in data that does not declare them.
package struct DeclaredKinds: Sendable {
  /// The kinds by field.
  package private(set) var byField: [String: FieldKind] = [:]

  /// Creates an empty declaration.
  ///
  /// Arrays of different texts are then sets, and all other fields are
  /// registers.
  package init() {}

  /// Parses a list such as `qty=counter,tags=set`.
  ///
  /// The result is `nil` if the text is not such a list.
  package init?(_ text: String) {
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let sign = part.lastIndex(of: "="), sign > part.startIndex,
        let kind = FieldKind(
          rawValue: String(part[part.index(after: sign)...])),
        [.register, .set, .counter].contains(kind),
        byField.updateValue(kind, forKey: String(part[..<sign])) == nil
      else { return nil }
    }
  }

  /// Reads a row's fields by their declared kinds.
  ///
  /// In CSV, all values are texts. A counter may be a text with an integer. A
  /// set may be a text with elements between semicolons or, without semicolons,
  /// between commas. An empty text is an absent counter or an empty set.
  ///
  /// - Throws: `RecordTable.Failure` if the content of a field does not fit its
  ///   kind.
  func read(
    _ row: JSONValue.Row, _ location: String
  ) throws(RecordTable.Failure) -> JSONValue.Row {
    var row = row
    for (field, kind) in byField {
      guard let value = row[field] else { continue }
      switch (kind, value) {
      case (.counter, .scalar(.int)), (.set, .array), (.register, _): break
      case (.counter, .scalar(.string(""))): row[field] = nil
      case (.counter, .scalar(.string(let text))):
        guard let number = Int64(text) else {
          throw RecordTable.Failure(
            "\(location), field \"\(field)\"", "found \"\(text)\"",
            "an integer, because --kinds declares a counter")
        }
        row[field] = .scalar(.int(number))
      case (.set, .scalar(.string(let text))):
        row[field] = .array(Self.elements(text).map { .scalar(.string($0)) })
      default:
        throw RecordTable.Failure(
          "\(location), field \"\(field)\"", "found \(value.typeName)",
          "a \(kind.rawValue), as --kinds declares")
      }
    }
    return row
  }

  private static func elements(_ text: String) -> [String] {
    let parts = text.split(separator: text.contains(";") ? ";" : ",")
    let elements = parts.map { part in
      String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
    return Set(elements.filter { !$0.isEmpty }).sorted()
  }
}
