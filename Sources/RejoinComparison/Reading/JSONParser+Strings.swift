// SPDX-License-Identifier: Apache-2.0

extension JSONParser {
  mutating func string() throws(JSONError) -> String {
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
        throw error("unescaped control character in a string")
      default:
        text.append(byte)
      }
    }
    throw error("expected '\"' at the end of the string")
  }

  private mutating func escape() throws(JSONError) -> Unicode.Scalar {
    guard let byte = next else {
      throw error("expected an escape after '\\'")
    }
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
    default: throw error("expected an escape of JSON after '\\'")
    }
  }

  private mutating func escapedScalar() throws(JSONError) -> Unicode.Scalar {
    let high = try fourDigits()
    if let scalar = Unicode.Scalar(high) { return scalar }
    guard high < 0xdc00, bytes[index...].starts(with: [0x5c, 0x75]) else {
      throw error("expected a second \\u escape, of a low surrogate")
    }
    index += 2
    let low = try fourDigits()
    guard (0xdc00..<0xe000).contains(low),
      let scalar = Unicode.Scalar(
        0x10000 + (high - 0xd800) << 10 + (low - 0xdc00))
    else { throw error("expected the \\u escape of a low surrogate") }
    return scalar
  }

  private mutating func fourDigits() throws(JSONError) -> UInt32 {
    let digits = bytes[index...].prefix(4)
    let text = String(decoding: digits, as: UTF8.self)
    guard digits.count == 4, text.allSatisfy(\.isHexDigit),
      let number = UInt32(text, radix: 16)
    else { throw error("expected four hexadecimal digits after \\u") }
    index += 4
    return number
  }
}
