//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

import Rejoin

/// A JSON value that keeps integers, other numbers and truth values apart.
enum JSON: Sendable {
  case null
  case bool(Bool)
  case int(Int64)
  case double(Double)
  case string(String)
  case array([JSON])
  case object([(key: Name, value: JSON)])
}

extension JSON {
  /// The value of a field that this spells, unless it is an array or an object.
  var fieldValue: Value? {
    switch self {
    case .null: .null
    case .bool(let flag): .bool(flag)
    case .int(let number): .int(number)
    case .double(let number): .double(number)
    case .string(let text): .string(text)
    case .array, .object: nil
    }
  }

  /// How a field's value is printed.
  init(_ value: Value) {
    self =
      switch value {
      case .null: .null
      case .bool(let flag): .bool(flag)
      case .int(let number), .date(let number): .int(number)
      case .double(let number): .double(number)
      case .string(let text): .string(text)
      case .bytes(let bytes): .array(bytes.map { .int(Int64($0)) })
      case .reference(let id): .string("\(id)")
      }
  }
}

extension JSON: CustomStringConvertible {
  /// The value on one line, the keys sorted by their bytes, nothing escaped that
  /// need not be.
  var description: String {
    switch self {
    case .null: "null"
    case .bool(let flag): "\(flag)"
    case .int(let number): "\(number)"
    case .double(let number): "\(number)"
    case .string(let text): JSON.quoted(text)
    case .array(let elements):
      "[" + elements.map(\.description).joined(separator: ",") + "]"
    case .object(let members):
      "{"
        + members.sorted { $0.key < $1.key }
        .map { JSON.quoted($0.key.text) + ":" + $0.value.description }
        .joined(separator: ",") + "}"
    }
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count)
        result += digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
