//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

import Rejoin

/// Reads one JSON value from bytes (RFC 8259), refusing doubled keys.
struct JSONParser {
  private let bytes: ArraySlice<UInt8>
  private var index: Int
  private static let maximumDepth = 32

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    index = bytes.startIndex
  }

  /// The value that `bytes` hold, and nothing else.
  static func value(of bytes: ArraySlice<UInt8>) throws(JSONError) -> JSONValue
  {
    var parser = JSONParser(bytes)
    let value = try parser.value(depth: 0)
    parser.skipSpace()
    guard parser.next == nil else {
      throw parser.error("something follows the value")
    }
    return value
  }

  private var next: UInt8? {
    index < bytes.endIndex ? bytes[index] : nil
  }

  private func error(_ problem: String) -> JSONError {
    JSONError(offset: index - bytes.startIndex + 1, problem: problem)
  }

  private mutating func skipSpace() {
    while let byte = next, [0x20, 0x09, 0x0a, 0x0d].contains(byte) {
      index += 1
    }
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    skipSpace()
    guard next == UInt8(ascii: character) else { return false }
    index += 1
    return true
  }

  private mutating func expect(
    _ character: Unicode.Scalar
  ) throws(JSONError) {
    guard take(character) else { throw error("expected '\(character)'") }
  }

  private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
    guard depth < Self.maximumDepth else { throw error("nested too deeply") }
    skipSpace()
    switch next {
    case UInt8(ascii: "{"): return .object(try object(depth: depth))
    case UInt8(ascii: "["): return .array(try array(depth: depth))
    case UInt8(ascii: "\""): return .scalar(.string(try string()))
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case nil: throw error("the line ends early")
    default: return .scalar(try number())
    }
  }

  private mutating func object(
    depth: Int
  ) throws(JSONError) -> [String: JSONValue] {
    var object: [String: JSONValue] = [:]
    try expect("{")
    if take("}") { return object }
    repeat {
      skipSpace()
      let key = try string()
      try expect(":")
      let value = try value(depth: depth + 1)
      guard object.updateValue(value, forKey: key) == nil else {
        throw error("the key \"\(key)\" stands twice")
      }
    } while take(",")
    try expect("}")
    return object
  }

  private mutating func array(depth: Int) throws(JSONError) -> [JSONValue] {
    var array: [JSONValue] = []
    try expect("[")
    if take("]") { return array }
    repeat { array.append(try value(depth: depth + 1)) } while take(",")
    try expect("]")
    return array
  }

  private mutating func word(
    _ text: String, _ value: Value
  ) throws(JSONError) -> JSONValue {
    guard bytes[index...].starts(with: text.utf8) else {
      throw error("expected a value")
    }
    index += text.utf8.count
    return .scalar(value)
  }
}

extension JSONParser {
  private mutating func number() throws(JSONError) -> Value {
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
      throw error("the integer \(text) needs more than 64 bits")
    }
    return .int(integer)
  }

  /// Whether `text` is a number as JSON writes it.
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

extension JSONParser {
  private mutating func string() throws(JSONError) -> String {
    guard next == UInt8(ascii: "\"") else { throw error("expected '\"'") }
    index += 1
    var text: [UInt8] = []
    while let byte = next {
      index += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard let string = String(validating: text, as: UTF8.self) else {
          throw error("the string is not UTF-8")
        }
        return string
      case UInt8(ascii: "\\"):
        text += Array(String(Character(try escape())).utf8)
      case 0..<0x20:
        throw error("a control character in a string")
      default:
        text.append(byte)
      }
    }
    throw error("a string that does not end")
  }

  private mutating func escape() throws(JSONError) -> Unicode.Scalar {
    guard let byte = next else { throw error("a string that does not end") }
    index += 1
    switch byte {
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{c}"
    case UInt8(ascii: "u"): return try escapedScalar()
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"):
      return Unicode.Scalar(byte)
    default: throw error("an unknown escape")
    }
  }

  private mutating func escapedScalar() throws(JSONError) -> Unicode.Scalar {
    let high = try fourDigits()
    if let scalar = Unicode.Scalar(high) { return scalar }
    guard high < 0xdc00, bytes[index...].starts(with: [0x5c, 0x75]) else {
      throw error("half a surrogate pair")
    }
    index += 2
    let low = try fourDigits()
    guard (0xdc00..<0xe000).contains(low),
      let scalar = Unicode.Scalar(
        0x10000 + (high - 0xd800) << 10 + (low - 0xdc00))
    else { throw error("half a surrogate pair") }
    return scalar
  }

  private mutating func fourDigits() throws(JSONError) -> UInt32 {
    let digits = bytes[index...].prefix(4)
    let text = String(decoding: digits, as: UTF8.self)
    guard digits.count == 4, text.allSatisfy(\.isHexDigit),
      let number = UInt32(text, radix: 16)
    else { throw error("\\u needs four hexadecimal digits") }
    index += 4
    return number
  }
}
