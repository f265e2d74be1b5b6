// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RejoinComparison

@Suite struct PrintableTests {
  @Test func controlCharactersAreEscaped() {
    #expect("\u{1b}[2J\u{7}".printable == "\\u{1B}[2J\\u{07}")
    #expect("a\u{202e}b\r".printable == "a\\u{202E}b\\r")
    #expect("Ada – é\n".printable == "Ada – é\n")
  }

  @Test func cellsArePrintable() {
    let table = TextTable(
      header: ["name"], rows: [[.init(text: "\u{1b}c")]])
    #expect(table.aligned(colors: true).contains("\\u{1B}c"))
  }
}
