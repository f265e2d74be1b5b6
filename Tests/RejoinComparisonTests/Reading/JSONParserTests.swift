// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@testable import RejoinComparison

@Suite struct JSONParserTests {
  private func value(_ text: String) throws(JSONError) -> JSONValue {
    try JSONParser.value(of: Array(text.utf8)[...])
  }

  @Test func numbersKeepTheirType() throws {
    #expect(try value("1") == .scalar(.int(1)))
    #expect(try value("-0.5e1") == .scalar(.double(-5)))
    #expect(try value("1.0") == .scalar(.double(1)))
    #expect(
      try value("9223372036854775807") == .scalar(.int(.max)))
  }

  @Test func escapesAreRead() throws {
    #expect(
      try value(#""\u00e9\ud83d\ude00\"\/\n""#) == .scalar("é😀\"/\n"))
  }

  @Test(arguments: [
    "", "{", "[1,]", "01", "1.", ".5", "-", "+1", "1e", "tru", "nul", "\"a",
    #""\ud800""#, #""\udc00x""#, #""\x""#, #""\u12g4""#, "{\"a\":1,\"a\":2}",
    "{\"a\" 1}", "1 2", "\"\u{1}\"", "9223372036854775808", "1e999", "NaN",
    String(repeating: "[", count: 40),
  ])
  func parserRefusesMalformedText(text: String) {
    #expect(throws: JSONError.self) { try value(text) }
  }

  @Test func parserRefusesInvalidUTF8() {
    #expect(throws: JSONError.self) {
      try JSONParser.value(of: [0x22, 0xff, 0x22])
    }
  }
}
