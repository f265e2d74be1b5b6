// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

@Suite struct NameTests {
  private static let words = [
    "", "A", "a", "aa", "e\u{301}", "z", "\u{e9}", "\u{ffff}", "\u{10000}",
  ]

  @Test func namesCompareByBytes() {
    for a in NameTests.words {
      for b in NameTests.words {
        let (x, y) = (Array(a.utf8), Array(b.utf8))
        #expect((SchemaName(a) == SchemaName(b)) == (x == y))
        #expect(
          (SchemaName(a) < SchemaName(b)) == x.lexicographicallyPrecedes(y))
      }
    }
    #expect(
      Set(NameTests.words.map { SchemaName($0) }).count == NameTests.words.count
    )
  }

  @Test func literalKeepsText() {
    let name: SchemaName = "steps"
    #expect(name == SchemaName("steps"))
    #expect(name.text == "steps")
    #expect("\(name)" == "steps")
  }

  @Test func fieldKeysCompareByNameAndKind() {
    let keys = [
      FieldKey("a", .register), FieldKey("a", .counter), FieldKey("a", .set),
      FieldKey("a", .ledger), FieldKey("e\u{301}", .register),
      FieldKey("\u{e9}", .register),
    ]
    for (i, a) in keys.enumerated() {
      for (j, b) in keys.enumerated() {
        #expect((a < b) == (i < j))
        #expect((a == b) == (i == j))
      }
      #expect(FieldKey.existence < a)
    }
    #expect(Set(keys).count == keys.count)
  }
}
