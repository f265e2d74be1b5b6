// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension JSONParser {
  mutating func number() throws(JSONError) -> Value {
    let start = index
    var isInteger = true
    while let byte = next {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): break
      case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"),
        UInt8(ascii: "+"):
        isInteger = false
      default: return try number(start, isInteger)
      }
      index += 1
    }
    return try number(start, isInteger)
  }

  private func number(
    _ start: Int, _ isInteger: Bool
  ) throws(JSONError) -> Value {
    let text = String(decoding: bytes[start..<index], as: UTF8.self)
    guard Self.isNumber(text), let number = Double(text), number.isFinite
    else { throw error("expected a value") }
    guard isInteger else { return .double(number) }
    guard let integer = Int64(text) else {
      throw error("the integer \(text) does not fit 64 bits")
    }
    return .int(integer)
  }

  /// Returns whether a text that `Double` accepts is also a number in JSON.
  ///
  /// JSON allows no leading zero and needs digits on both sides of a point.
  private static func isNumber(_ text: String) -> Bool {
    let unsigned = text.hasPrefix("-") ? text.dropFirst() : text[...]
    let digits = unsigned.prefix { $0.isNumber }
    guard !digits.isEmpty, digits == "0" || !digits.hasPrefix("0") else {
      return false
    }
    let rest = unsigned.dropFirst(digits.count)
    return !rest.hasPrefix(".") || rest.dropFirst().first?.isNumber == true
  }
}
