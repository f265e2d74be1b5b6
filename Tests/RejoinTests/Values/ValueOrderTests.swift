// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

@Suite struct ValueOrderTests {
  /// Values of every kind, and texts that differ early, late, or in their length.
  private let values: [Value] = {
    let texts = [
      "", "\0", "a", "ab", "abcdefg", "abcdefgh", "abcdefgi", "abcdefghi", "e",
      "e\u{301}", "é", "z", "\u{10ffff}",
    ]
    let numbers: [Int64] = [.min, -1, 0, 1, .max]
    return texts.map { .string($0) } + numbers.map { .int($0) }
      + numbers.map { .date($0) }
      + [-1, 0, 1.5, .infinity, .nan].map { .double($0) }
      + [[], [0], [255]].map { .bytes($0) }
      + texts.map { .reference(RecordID("Item", $0)) }
      + [.null, .bool(true), .bool(false)]
  }()

  @Test func sortingByValueMatchesValueOrder() {
    let expected = values.sorted(by: <)
    #expect(values.reversed().sorted(byValue: \.self) == expected)
    #expect(
      values.map { (key: $0, 0) }.sorted(byValue: \.key).map(\.key) == expected)
  }
}
