// SPDX-License-Identifier: Apache-2.0

/// A reader of comma-separated values, which may be quoted.
struct CSVReader {
  private let bytes: [UInt8]
  private let name: String
  private var index = 0
  private var line = 1

  init(_ bytes: [UInt8], _ name: String) throws(RecordTable.Failure) {
    (self.bytes, self.name) = (bytes, name)
    // Decoding another encoding would replace letters, which could make texts
    // equal.
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw .init(name, "the text is not UTF-8", "a file saved as UTF-8")
    }
    // Skip the byte-order mark, which spreadsheets write.
    if bytes.starts(with: [0xef, 0xbb, 0xbf]) { index = 3 }
  }

  private var byte: UInt8? { index < bytes.count ? bytes[index] : nil }

  /// Reads the next line that is not empty, or returns `nil` at the end.
  mutating func next() throws(RecordTable.Failure) -> (
    number: Int, fields: [String]
  )? {
    while byte == 0x0a || byte == 0x0d {
      if byte == 0x0a { line += 1 }
      index += 1
    }
    guard byte != nil else { return nil }
    let number = line
    var fields = [try field()]
    while byte == UInt8(ascii: ",") {
      index += 1
      fields.append(try field())
    }
    return (number, fields)
  }

  private mutating func field() throws(RecordTable.Failure) -> String {
    var text: [UInt8] = []
    guard byte == UInt8(ascii: "\"") else {
      while let next = byte, next != UInt8(ascii: ","), next != 0x0a {
        text.append(next)
        index += 1
      }
      if text.last == 0x0d, byte != UInt8(ascii: ",") { text.removeLast() }
      if text.contains(0x0d) {
        throw .init(
          "\(name):\(line)", "a carriage return within a line",
          "lines that end with line feeds")
      }
      return String(decoding: text, as: UTF8.self)
    }
    let first = line
    index += 1
    while let next = byte {
      index += 1
      if next == 0x0a { line += 1 }
      guard next == UInt8(ascii: "\"") else {
        text.append(next)
        continue
      }
      if byte == UInt8(ascii: "\"") {
        text.append(next)
        index += 1
        continue
      }
      if byte == 0x0d { index += 1 }
      guard byte == nil || byte == UInt8(ascii: ",") || byte == 0x0a else {
        throw .init(
          "\(name):\(line)", "text after a quoted field", "a comma")
      }
      return String(decoding: text, as: UTF8.self)
    }
    throw .init("\(name):\(first)", "a quoted field does not end", "a quote")
  }
}
