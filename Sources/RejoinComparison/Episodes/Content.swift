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

/// A record as plain values, as a user reads it and as a server without CRDTs
/// stores it.
///
/// An unset field has no key.
public typealias PlainRecord = [String: Content]

extension Content {
  /// The content of a register that holds `text`.
  public static func text(_ text: String) -> Content { .value(.string(text)) }

  /// The content of a set that holds `texts`.
  public static func texts(_ texts: String...) -> Content {
    .elements(Set(texts.map(Value.string)))
  }

  /// The content, or `nil` if it reads like an absent field: an empty set or a
  /// counter at zero.
  var visible: Content? {
    switch self {
    case .count(0): nil
    case .elements(let elements) where elements.isEmpty: nil
    default: self
    }
  }

  /// One value for the whole content, so that a merge policy, which compares
  /// registers, can tell whether it changed.
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
  /// The fields that do not read like an absent field.
  var visible: PlainRecord { compactMapValues(\.visible) }
}
