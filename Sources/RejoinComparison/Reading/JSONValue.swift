// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A JSON value that remembers how its numbers were written.
///
/// `1`, `1.0` and `true` are three different values of a field.
package enum JSONValue: Hashable, Sendable {
  case scalar(Value)
  case array([JSONValue])
  case object([Name: JSONValue])

  /// The type's name in a message.
  var typeName: String {
    switch self {
    case .scalar(.null): "null"
    case .scalar(.bool): "a boolean"
    case .scalar(.int): "an integer"
    case .scalar(.double): "a number with a fraction"
    case .scalar: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

/// Text that is not JSON.
package struct JSONError: Error, Hashable {
  package let offset: Int
  package let problem: String
}
