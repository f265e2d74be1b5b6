// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A parser of one JSON value (RFC 8259).
///
/// It refuses duplicate keys and distinguishes `1` from `1.0`.
package struct JSONParser {
  let bytes: ArraySlice<UInt8>
  /// The index of the next byte to read.
  var index: Int
  /// The maximum nesting, since parsing is recursive and must not overflow the
  /// stack.
  private static let maximumDepth = 32

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    index = bytes.startIndex
  }

  /// Parses bytes that contain exactly one value.
  package static func value(of bytes: ArraySlice<UInt8>) throws(JSONError)
    -> JSONValue
  {
    var parser = JSONParser(bytes)
    let value = try parser.value(depth: 0)
    parser.skipSpace()
    guard parser.next == nil else {
      throw parser.error("expected nothing after the value")
    }
    return value
  }

  var next: UInt8? {
    index < bytes.endIndex ? bytes[index] : nil
  }

  func error(_ problem: String) -> JSONError {
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
    guard depth < Self.maximumDepth else {
      throw error("nested too deeply, more than \(Self.maximumDepth) levels")
    }
    skipSpace()
    switch next {
    case UInt8(ascii: "{"): return .object(try object(depth: depth))
    case UInt8(ascii: "["): return .array(try array(depth: depth))
    case UInt8(ascii: "\""): return .scalar(.string(try string()))
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case nil: throw error("expected a value before the end of the line")
    default: return .scalar(try number())
    }
  }

  private mutating func object(
    depth: Int
  ) throws(JSONError) -> [SchemaName: JSONValue] {
    var object: [SchemaName: JSONValue] = [:]
    try expect("{")
    if take("}") { return object }
    repeat {
      skipSpace()
      let key = SchemaName(try string())
      try expect(":")
      let value = try value(depth: depth + 1)
      guard object.updateValue(value, forKey: key) == nil else {
        throw error("duplicate key \"\(key)\"")
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
