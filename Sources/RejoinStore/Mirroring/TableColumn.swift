// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// A column of a table with records.
struct TableColumn: Sendable {
  let name: String
  /// The declared type, or `nil` if the values can have several types.
  let type: String?
  /// Returns the value of an existing record.
  let read: @Sendable (Record, Schema) -> SQLValue
}

extension TableColumn {
  /// Returns the SQLite type of a Swift type's values, or `nil` for a type that is
  /// not known or has values of several types.
  ///
  /// SQLite would convert other values to the declared type of the column.
  static func type(of values: any FieldValue.Type) -> String? {
    switch values {
    case is String.Type, is URL.Type, is Decimal.Type, is any IsReference.Type:
      "TEXT"
    case is any FixedWidthInteger.Type, is Bool.Type, is Date.Type: "INTEGER"
    case is Double.Type, is Float.Type: "REAL"
    case is [UInt8].Type, is Data.Type, is UUID.Type: "BLOB"
    default: nil
    }
  }
}

/// A reference to a record of any entity.
private protocol IsReference {}
extension Reference: IsReference {}

extension SQLValue {
  /// Creates the value of a column from the visible value of a register.
  init(_ value: Value?) {
    self =
      switch value {
      case nil, .null: .null
      case .bool(let flag): .integer(flag ? 1 : 0)
      case .int(let number), .date(let number): .integer(number)
      // SQLite stores NaN as NULL.
      case .double(let number): number.isNaN ? .null : .double(number)
      case .string(let text): .text(text)
      case .bytes(let bytes): .bytes(bytes)
      case .reference(let id): .text(id.key)
      }
  }

  /// Returns the value of a column with the elements of a set.
  static func json(_ elements: [Value]) -> SQLValue {
    if elements.isEmpty { return .text("[]") }
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    // Every element can be encoded: see `JSONElement`.
    let json = (try? encoder.encode(elements.map(JSONElement.init))) ?? Data()
    return .text(String(decoding: json, as: UTF8.self))
  }
}

/// An element of a set in a JSON array.
private struct JSONElement: Encodable {
  let value: Value

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch value {
    case .null: try container.encodeNil()
    case .bool(let flag): try container.encode(flag)
    case .int(let number), .date(let number): try container.encode(number)
    case .double(let number) where number.isFinite:
      try container.encode(number)
    case .double(let number) where number.isNaN: try container.encodeNil()
    case .double(let number): try container.encode("\(number)")
    case .string(let text): try container.encode(text)
    case .bytes(let bytes):
      try container.encode(
        bytes.map { byte in
          let digits = String(byte, radix: 16, uppercase: true)
          return byte < 16 ? "0\(digits)" : digits
        }.joined())
    case .reference(let id): try container.encode(id.key)
    }
  }
}
