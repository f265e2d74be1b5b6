// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinComparison

extension JSONValue {
  /// The field value, or `nil` for an array or an object.
  var fieldValue: Value? {
    if case .scalar(let value) = self { value } else { nil }
  }

  /// Creates the JSON that a field's value is printed as.
  init(_ value: Value) {
    self =
      switch value {
      case .date(let number): .scalar(.int(number))
      case .bytes(let bytes): .array(bytes.map { .int($0) })
      case .reference(let id): .text("\(id)")
      default: .scalar(value)
      }
  }

  static func text(_ text: String) -> JSONValue { .scalar(.string(text)) }

  static func int(_ number: some BinaryInteger) -> JSONValue {
    .scalar(.int(Int64(clamping: number)))
  }
}
