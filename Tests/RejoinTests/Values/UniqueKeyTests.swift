// SPDX-License-Identifier: Apache-2.0

import RejoinTesting

@testable import Rejoin
import Testing

@Suite struct UniqueKeyTests {
  @Test func keyContainsTypeLengthAndText() {
    #expect(
      RecordID("Contact", key: "ada@example.com")
        == RecordID("Contact", "s15:ada@example.com"))
    #expect(RecordID("Seat", key: 12, "A").key == "i2:12s1:A")
    #expect(RecordID("Seat", key: "12A").key == "s3:12A")
    // Lengths are in bytes.
    #expect(RecordID("Word", key: "é").key == "s2:é")
  }

  /// If app versions made different keys, they would create two records.
  @Test(
    arguments: [
      (.null, "n0:"), (.bool(false), "b1:0"), (-7, "i2:-7"),
      (.double(1.5), "d16:3ff8000000000000"), ("a:b", "s3:a:b"),
      (.bytes([0x0a, 0xff]), "x4:0aff"), (.date(-1_000_000), "t8:-1000000"),
      (.reference(RecordID("Team", "é")), "r8:4:Teamé"),
    ] as [(Value, String)])
  func keyFormatIsFixed(value: Value, key: String) {
    #expect(RecordID("E", key: value).key == key)
  }

  @Test func swiftTypesShareKeysWithTheirValues() {
    enum Row: String, FieldValue { case front }
    #expect(RecordID("Seat", key: Row.front, true).key == "s5:frontb1:1")
    #expect(RecordID("Seat", key: UInt8(7)) == RecordID("Seat", key: 7))
    #expect(
      RecordID("Price", key: -0.0, Double.nan)
        == RecordID("Price", key: 0.0, -Double.nan))
  }

  /// Values that look alike, or contain separators or other values.
  @Test func differentValuesGiveDifferentKeys() {
    let values: [Value] = [
      .null, "", "1", "s1:1", "1s1:", "n0:", 1, 11, .bool(true), .bool(false),
      .double(1), .double(0), .date(1), .bytes([]), .bytes([1]), .bytes([16]),
      .reference(RecordID("a", "b")), .reference(RecordID("ab", "")),
      .reference(RecordID("", "ab")), "é", "e\u{301}",
    ]
    var keys: [String] = values.map { RecordID("E", key: $0).key }
    for a in values {
      for b in values {
        keys.append(RecordID("E", key: a, b).key)
        for c in values { keys.append(RecordID("E", key: a, b, c).key) }
      }
    }
    let different = Set(keys.map { Array($0.utf8) })
    #expect(different.count == keys.count)
  }

  /// Different lists of parts have different keys, because a key can be read back.
  @Test func partsCanBeReadBack() throws {
    var random = SeededRandom(seed: 3)
    for _ in 0..<500 {
      let texts = (0..<1 + random.number(below: 4)).map { _ in
        String(
          (0..<random.number(below: 6)).map { _ in
            random.pick(["s", "1", ":", "é"])
          }
          .joined())
      }
      let key =
        switch texts.count {
        case 1: RecordID("E", key: texts[0]).key
        case 2: RecordID("E", key: texts[0], texts[1]).key
        case 3: RecordID("E", key: texts[0], texts[1], texts[2]).key
        default:
          RecordID("E", key: texts[0], texts[1], texts[2], texts[3]).key
        }
      var (rest, read) = (Array(key.utf8)[...], [String]())
      while !rest.isEmpty {
        #expect(rest.removeFirst() == UInt8(ascii: "s"))
        let colon = try #require(rest.firstIndex(of: UInt8(ascii: ":")))
        let count = try #require(
          Int(String(decoding: rest[..<colon], as: UTF8.self)))
        let part = rest[(colon + 1)...].prefix(count)
        read.append(String(decoding: part, as: UTF8.self))
        rest = rest[part.endIndex...]
      }
      #expect(read == texts)
    }
  }

  @Test func creationsWithEqualKeysMerge() throws {
    let (a, b) = (Replica.empty(1), Replica.empty(2))
    let key = RecordID("Sailor", key: "ada@example.com").key
    try a.save { $0[Sailor.self, key].miles.increment(by: 2) }
    try b.save { $0[Sailor.self, key].miles.increment(by: 3) }
    settle(a, b)
    #expect(a.recordIDs(of: "Sailor").count == 1)
    #expect(a[Sailor.self, key]?.miles == 5)
  }
}
