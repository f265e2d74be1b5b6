// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A JSON value that distinguishes integers from numbers with a fraction.
///
/// `1`, `1.0` and `true` are three different values of a field.
package enum JSONValue: Hashable, Sendable {
  case scalar(Value)
  case array([JSONValue])
  case object([SchemaName: JSONValue])

  /// The name of the type, for error messages.
  package var typeName: String {
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

/// An error that describes why text is not valid JSON.
package struct JSONError: Error, Hashable {
  /// The position of the byte, starting at one.
  package let offset: Int
  package let problem: String
}
