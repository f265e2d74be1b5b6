// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import RejoinTesting
import Testing

@Suite struct SuggestionTests {
  private func field(
    _ base: Value?, _ mine: Value?, _ store: Value?, storeIsLater: Bool = false
  ) -> FieldDifference {
    FieldDifference(
      field: "f", base: base, mine: mine, store: store,
      storeIsLater: storeIsLater)
  }

  @Test func changesOfBothByWords() {
    #expect(
      field("Buy milk", "Buy oat milk", "Buy milk today").mergedByWords
        == "Buy oat milk today")
    #expect(field("a b", "a b", "a c").mergedByWords == "a c")
    #expect(field("a b", "x b", "x b").mergedByWords == "x b")
    // Changes that touch are a conflict.
    #expect(field("a b", "x b", "y b").mergedByWords == nil)
    #expect(field("a b c", "a c", "a b d c").mergedByWords == nil)
    #expect(field("a", nil, "b").mergedByWords == nil)
    #expect(field(1, 2, 3).mergedByWords == nil)
    let long = Value.string(String(repeating: "a ", count: 3000))
    #expect(field(long, long, long).mergedByWords == nil)
  }

  /// Each side replaces some words of a text of different words, never two that are
  /// neighbours of the other's: what comes out has all replacements.
  @Test func changesApartAreAllThere() {
    for seed in 1...200 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      var words = [(0..<12).map { "w\($0)" }]
      words += [words[0], words[0], words[0]]
      for i in stride(from: 0, to: 12, by: 2) {
        switch random.below(4) {
        case 0: (words[1][i], words[3][i]) = ("m\(i)", "m\(i)")
        case 1: (words[2][i], words[3][i]) = ("s\(i) t", "s\(i) t")
        case 2: (words[1][i], words[3][i]) = ("", "")
        default: break
        }
      }
      let texts = words.map { Value.string($0.joined(separator: "-")) }
      let merged = field(texts[0], texts[1], texts[2]).mergedByWords
      #expect(merged == texts[3], "seed \(seed)")
      #expect(
        field(texts[0], texts[2], texts[1]).mergedByWords == merged,
        "seed \(seed)")
    }
  }

  @Test func theFartherIsSuggested() {
    #expect(field("a b c", "x y c", "z b c").suggested == "x y c")
    #expect(field("a b c", "z b c", "x y c").suggested == "x y c")
    #expect(field("a", "b", "c", storeIsLater: true).suggested == "c")
    #expect(field("a", "b", "c").suggested == "b")
    #expect(field("a b", nil, "a c").suggested == nil)
    #expect(field(nil, 1, 1).suggested == 1)
  }

  @Test func whatIsShownDependsOnTheSiblingsAlone() {
    let numbers: [Value] = [3, 10.5, "x", 4, .double(.nan)]
    #expect(numbers.greatestNumber == 10.5)
    #expect(numbers.reversed().greatestNumber == 10.5)
    #expect(([] as [Value]).greatestNumber == nil)
    // Beyond 2^53 several integers are one number with a fraction; and one number
    // may be written in two ways.
    for (less, greater) in [
      (.int(1 << 53), .int(1 << 53 + 1)), (.double(0x1p53), .int(1 << 53 + 1)),
      (.int(.max), .double(0x1p63)), (.int(.max - 1), .int(.max)),
      (1, 1.0), (-0.0, 0.0), (.int(.min), .int(.min + 1)),
    ] as [(Value, Value)] {
      #expect([less, greater].greatestNumber == greater)
      #expect([greater, less].greatestNumber == greater)
    }
    let versions: [Value] = ["1.9", "1.10", 7, "1.9.9", "1.10-beta"]
    #expect(versions.greatestVersion == "1.10-beta")
    #expect(versions.reversed().greatestVersion == "1.10-beta")
    #expect((["2", "10"] as [Value]).greatestVersion == "10")
    // In every order of the siblings.
    let odd: [Value] =
      ["9", "10", "1a", "010", "10.0", "a", "", "a.10", "a.9"]
      + ["\u{e9} 1", "e\u{301} 2", "f 0"]
    for first in odd {
      for second in odd {
        for third in odd {
          #expect(
            [first, second, third].greatestVersion
              == [third, first, second].greatestVersion)
        }
      }
    }
  }

  /// A suggestion is written beside what the context had not shown.
  @Test func nothingIsDropped() throws {
    let schema = Schema(["E": .init(fields: [FieldKey("f", .register)])])
    let (id, key) = (RecordID("E", "1"), FieldKey("f", .register))
    func replica(_ device: UInt64) -> Replica {
      Replica(
        device: DeviceID(device), schema: schema,
        wallClock: ManualClock().wall, makeDeviceID: { DeviceID(9) })
    }
    let (mine, theirs) = (replica(1), replica(2))
    try mine.save { $0.apply(.write("Buy milk"), to: key, of: id) }
    theirs.merge(mine)
    let context = EditingContext(mine, mergePolicy: .suggesting)
    context.fetch(id)
    context.set("Buy oat milk", for: key, in: id)
    try theirs.save { $0.apply(.write("Buy milk today"), to: key, of: id) }
    mine.merge(theirs)
    let report = try context.save()
    #expect(report.dropped.isEmpty)
    #expect(mine.record(id)?.value(of: "f") == "Buy oat milk today")
    #expect(mine.record(id)?.conflicts(of: "f") == ["Buy milk today"])
  }
}
