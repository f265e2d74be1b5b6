// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// What one field of a plain record holds.
public enum Content: Hashable, Sendable {
  /// The value of a register.
  case value(Value)
  /// The number of a counter.
  case count(Int64)
  /// The elements of a set.
  case elements(Set<Value>)
}

/// A record as plain values, as a person reads it and as a server without
/// conflict-free types stores it.
///
/// A field that is unset has no key.
public typealias PlainRecord = [String: Content]

extension Content {
  /// The content of a register that holds `text`.
  public static func text(_ text: String) -> Content { .value(.string(text)) }

  /// The content of a set that holds `texts`.
  public static func texts(_ texts: String...) -> Content {
    .elements(Set(texts.map(Value.string)))
  }

  /// The content, unless it reads the same as a field that is absent: a set
  /// without elements, a counter at zero.
  var visible: Content? {
    switch self {
    case .count(0): nil
    case .elements(let elements) where elements.isEmpty: nil
    default: self
    }
  }

  /// One value for the whole content, so that a policy made for registers can
  /// tell whether it changed.
  var asOneValue: Value {
    switch self {
    case .value(let value): value
    case .count(let number): .int(number)
    case .elements: .string(description)
    }
  }
}

extension Content: CustomStringConvertible {
  /// The content as it would be written in an episode.
  public var description: String {
    switch self {
    case .value(let value): value.description
    case .count(let number): number.grouped
    case .elements(let elements):
      "[" + elements.sorted().map(\.description).joined(separator: ", ") + "]"
    }
  }
}

extension Int64 {
  /// The number with a comma between thousands.
  var grouped: String {
    let digits = Array(String(magnitude))
    var text = self < 0 ? "-" : ""
    for (place, digit) in digits.enumerated() {
      if place > 0, (digits.count - place).isMultiple(of: 3) { text += "," }
      text.append(digit)
    }
    return text
  }
}

extension Dictionary where Key == String, Value == Content {
  /// The fields that read otherwise than an absent field.
  var visible: PlainRecord { compactMapValues(\.visible) }
}
