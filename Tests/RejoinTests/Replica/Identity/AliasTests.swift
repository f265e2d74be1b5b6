// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

@Suite(.encodes) struct AliasTests {
  private let a = Replica.empty(1)
  private let b = Replica.empty(2)
  private let eve = RecordID("Sailor", "eve")

  private func twoOfOne() throws {
    try a.edit {
      $0.name = "Ada"
      $0.miles.increment(by: 2)
      $0.tags.insert("x")
      $0.roles.insert("cook")
      $0.pay.append(3)
    }
    a.tell(b)
    try b.save { transaction in
      transaction[Sailor.self, "eve"].name = "Eve"
      transaction[Sailor.self, "eve"].miles.increment(by: 5)
      transaction[Sailor.self, "eve"].tags.insert("y")
      transaction[Sailor.self, "eve"].roles.insert("mate")
      transaction[Sailor.self, "eve"].pay.append(7)
    }
    try b.alias(Sailor.ada, eve)
    settle(a, b)
  }

  @Test func bothIDsReadAsOneRecord() throws {
    try twoOfOne()
    for key in ["ada", "eve"] {
      let record = try #require(a[Sailor.self, key])
      #expect(record.record.id == Sailor.ada)
      #expect(record.name == "Eve")
      #expect(record.conflicts(\.name) == ["Ada"])
      #expect(record.miles == 7)
      #expect(record.tags == ["x", "y"])
      #expect(record.roles == ["cook", "mate"])
      #expect(record.pay == 10)
      #expect(record.record.entries(of: "pay").count == 2)
    }
    #expect(a.recordIDs(of: "Sailor") == [Sailor.ada])
    #expect(a.allRecordIDs == [Sailor.ada])
    #expect(a.representative(of: eve) == Sailor.ada)
  }

  @Test func aliasesAreTransitive() throws {
    let zoe = RecordID("Sailor", "zoe")
    try a.save { $0[Sailor.self, "zoe"].name = "Zoe" }
    try a.alias(zoe, eve)
    try a.alias(eve, Sailor.ada)
    #expect(a.representative(of: zoe) == Sailor.ada)
    #expect(a.ada?.name == "Zoe")
  }

  @Test func ofTwoWritesAtOneTimeTheGreaterDeviceIsShown() throws {
    try a.edit { $0.name = "Ada" }
    try b.save { $0[Sailor.self, "eve"].name = "Eve" }
    settle(a, b)
    try a.alias(eve, Sailor.ada)
    #expect(a.ada?.name == "Eve")
  }

  @Test func theOrderOfTheIDsOfAnAliasDoesNotMatter() throws {
    try a.alias(eve, Sailor.ada)
    try b.alias(Sailor.ada, eve)
    settle(a, b)
    #expect(a.delta()?.changes.count == 1)
  }

  @Test func theRecordsStayAsTheyAre() throws {
    try twoOfOne()
    #expect(a.fetch(Sailor.ada)[Sailor().miles.key].count == 2)
    #expect(a.fetch(eve)[Sailor().miles.key].count == 5)
  }

  @Test func deletingOneDeletesAll() throws {
    try twoOfOne()
    try a.save { $0[Sailor.self, "eve"].delete() }
    #expect(a.ada == nil)
    #expect(a[Sailor.self, "eve"] == nil)
    #expect(a.recordIDs(of: "Sailor") == [])
  }

  @Test func idsOfTheSameConcatenationAreTwoPairs() throws {
    let (x, z) = (RecordID("Sailor", "x"), RecordID("Sailor", "z"))
    try a.alias(x, RecordID("Sailor", "y=Sailor/z"))
    try a.alias(RecordID("Sailor", "x=Sailor/y"), z)
    #expect(a.representative(of: z) != x)
    #expect(a.representative(of: x) == x)
  }
}
