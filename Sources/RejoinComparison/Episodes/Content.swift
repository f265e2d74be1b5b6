// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting

/// The content of one field of a plain record.
public enum Content: Hashable, Sendable {
  /// The value of a register.
  case value(Value)
  /// The number of a counter.
  case count(Int64)
  /// The elements of a set.
  case elements(Set<Value>)
}

/// A record of plain values, as a user reads it and a server without CRDTs
/// stores it.
///
/// An unset field has no key.
public typealias PlainRecord = [String: Content]

extension Content {
  /// Creates the content of a register whose value is `text`.
  public static func text(_ text: String) -> Content { .value(.string(text)) }

  /// Creates the content of a set whose elements are `texts`.
  public static func texts(_ texts: String...) -> Content {
    .elements(Set(texts.map(Value.string)))
  }

  /// The content, or `nil` if it reads like an unset field, as an empty set or
  /// a counter at zero does.
  var visible: Content? {
    switch self {
    case .count(0): nil
    case .elements(let elements) where elements.isEmpty: nil
    default: self
    }
  }

  /// The whole content as one value.
  ///
  /// A merge policy compares registers, so it needs one value to detect a
  /// change.
  var asOneValue: Value {
    switch self {
    case .value(let value): value
    case .count(let number): .int(number)
    case .elements: .string(description)
    }
  }
}

extension Content: CustomStringConvertible {
  /// The content in words.
  public var description: String {
    switch self {
    case .value(let value): value.description
    case .count(let number): number.grouped
    case .elements(let elements):
      "[" + elements.sorted().map(\.description).joined(separator: ", ") + "]"
    }
  }
}

extension Dictionary where Key == String, Value == Content {
  /// The fields that do not read like an unset field.
  var visible: PlainRecord { compactMapValues(\.visible) }
}
