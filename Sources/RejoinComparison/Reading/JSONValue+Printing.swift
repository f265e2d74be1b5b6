// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension JSONValue: CustomStringConvertible {
  /// The value on one line, such that equal values print equally.
  ///
  /// Keys are sorted by their bytes, and only mandatory escapes are used.
  package var description: String {
    switch self {
    case .scalar(.string(let text)): JSONValue.quoted(text)
    case .scalar(let value): value.description
    case .array(let elements):
      "[" + elements.map(\.description).joined(separator: ",") + "]"
    case .object(let members):
      "{"
        + members.sorted { $0.key < $1.key }
        .map { JSONValue.quoted($0.key.text) + ":" + $0.value.description }
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
