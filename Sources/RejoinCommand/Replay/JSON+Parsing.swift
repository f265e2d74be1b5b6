//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

import Rejoin

/// What is not JSON in a text, and where.
struct JSONError: Error, CustomStringConvertible {
  let offset: Int
  let expected: String

  var description: String {
    "not JSON: expected \(expected) at byte \(offset)"
  }
}

extension JSON {
  /// Reads a text.
  ///
  /// Foundation's decoders take keys that differ only in their Unicode form for
  /// one, and pass over a key that stands twice. Names of fields are bytes here.
  init(parsing text: String) throws(JSONError) {
    var parser = JSONParser(bytes: Array(text.utf8))
    self = try parser.value(depth: 0)
    parser.skipSpace()
    guard parser.isAtEnd else { throw parser.expected("nothing more") }
  }
}

/// Reads JSON from bytes, one value after the other.
private struct JSONParser {
  let bytes: [UInt8]
  var offset = 0

  var isAtEnd: Bool { offset == bytes.count }

  func expected(_ what: String) -> JSONError {
    JSONError(offset: offset, expected: what)
  }

  private var next: UInt8? { isAtEnd ? nil : bytes[offset] }

  mutating func skipSpace() {
    while let byte = next, [0x20, 0x09, 0x0a, 0x0d].contains(byte) {
      offset += 1
    }
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    offset += 1
    return true
  }

  mutating func value(depth: Int) throws(JSONError) -> JSON {
    guard depth < 32 else { throw expected("no deeper nesting") }
    skipSpace()
    switch next {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return try number()
    }
  }

  private mutating func word(
    _ word: String, _ value: JSON
  ) throws(JSONError) -> JSON {
    guard bytes[offset...].starts(with: word.utf8) else {
      throw expected("a value")
    }
    offset += word.utf8.count
    return value
  }

  private mutating func array(depth: Int) throws(JSONError) -> JSON {
    var elements: [JSON] = []
    offset += 1
    skipSpace()
    if take("]") { return .array([]) }
    while true {
      elements.append(try value(depth: depth + 1))
      skipSpace()
      if take("]") { return .array(elements) }
      guard take(",") else { throw expected("\",\" or \"]\"") }
    }
  }

  private mutating func object(depth: Int) throws(JSONError) -> JSON {
    var members: [(key: Name, value: JSON)] = []
    var keys: Set<Name> = []
    offset += 1
    skipSpace()
    if take("}") { return .object([]) }
    while true {
      skipSpace()
      guard next == UInt8(ascii: "\"") else { throw expected("a key") }
      let key = Name(try string())
      guard keys.insert(key).inserted else {
        throw expected("\"\(key)\" only once")
      }
      skipSpace()
      guard take(":") else { throw expected("\":\"") }
      members.append((key, try value(depth: depth + 1)))
      skipSpace()
      if take("}") { return .object(members) }
      guard take(",") else { throw expected("\",\" or \"}\"") }
    }
  }

  private mutating func number() throws(JSONError) -> JSON {
    let start = offset
    while let byte = next, "+-.eE0123456789".utf8.contains(byte) {
      offset += 1
    }
    let text = String(decoding: bytes[start..<offset], as: UTF8.self)
    if let first = text.utf8.first, first != UInt8(ascii: "+"),
      first != UInt8(ascii: ".")
    {
      if let number = Int64(text) { return .int(number) }
      if let number = Double(text), number.isFinite { return .double(number) }
    }
    offset = start
    throw expected("a value")
  }

  private mutating func string() throws(JSONError) -> String {
    offset += 1
    var text: [UInt8] = []
    while let byte = next {
      offset += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard let text = String(validating: text, as: UTF8.self) else {
          throw expected("UTF-8")
        }
        return text
      case UInt8(ascii: "\\"):
        try escape(into: &text)
      case ..<0x20:
        throw expected("an escape for a control character")
      default:
        text.append(byte)
      }
    }
    throw expected("\"\\\"\"")
  }

  private mutating func escape(into text: inout [UInt8]) throws(JSONError) {
    guard let byte = next else { throw expected("an escape") }
    offset += 1
    switch byte {
    case UInt8(ascii: "n"): text.append(0x0a)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "r"): text.append(0x0d)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0c)
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"):
      text.append(byte)
    case UInt8(ascii: "u"):
      text += Array(String(Character(try scalar())).utf8)
    default:
      throw expected("an escape")
    }
  }

  /// A scalar after `\u`, of which one beyond 16 bits takes two.
  private mutating func scalar() throws(JSONError) -> Unicode.Scalar {
    let high = try codeUnit()
    if let scalar = Unicode.Scalar(high) { return scalar }
    guard UTF16.isLeadSurrogate(high), take("\\"), take("u") else {
      throw expected("a pair of surrogates")
    }
    let low = try codeUnit()
    guard UTF16.isTrailSurrogate(low) else {
      throw expected("a pair of surrogates")
    }
    let value = 0x10000 + (UInt32(high & 0x3ff) << 10) + UInt32(low & 0x3ff)
    guard let scalar = Unicode.Scalar(value) else {
      throw expected("a pair of surrogates")
    }
    return scalar
  }

  private mutating func codeUnit() throws(JSONError) -> UInt16 {
    guard offset + 4 <= bytes.count,
      let unit = UInt16(
        String(decoding: bytes[offset..<offset + 4], as: UTF8.self), radix: 16)
    else { throw expected("four hexadecimal digits") }
    offset += 4
    return unit
  }
}
