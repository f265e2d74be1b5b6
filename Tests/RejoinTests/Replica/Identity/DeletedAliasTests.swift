// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Rejoin

/// Aliases, some deleted before they were declared.
@Suite(.encodes) struct DeletedAliasTests {
  private let a = Replica.empty(1)
  private let b = Replica.empty(2)
  private let eve = RecordID("Sailor", "eve")

  private func oneDeletedOfTwo() throws {
    try a.edit {
      $0.name = "Ada"
      $0.miles.increment(by: 2)
    }
    try b.save { transaction in
      transaction[Sailor.self, "eve"].name = "Eve"
      transaction[Sailor.self, "eve"].miles.increment(by: 5)
    }
    try b.save { $0.delete(eve) }
    try a.alias(Sailor.ada, eve)
    settle(a, b)
  }

  @Test func aDeletedAliasStaysHidden() throws {
    try oneDeletedOfTwo()
    for key in ["ada", "eve"] {
      #expect(a[Sailor.self, key]?.name == "Ada")
      #expect(a[Sailor.self, key]?.conflicts(\.name) == [])
      #expect(a[Sailor.self, key]?.miles == 2)
    }
  }

  @Test func restoringItShowsBoth() throws {
    try oneDeletedOfTwo()
    try b.save { $0.restore(eve) }
    #expect(b.ada?.name == "Eve")
    #expect(b.ada?.miles == 7)
  }

  @Test func whereAllAreDeletedAllCanBeRead() throws {
    try oneDeletedOfTwo()
    try a.save { $0.delete(Sailor.ada) }
    let record = try #require(a.record(Sailor.ada))
    #expect(!record.exists)
    #expect(record.writes(of: "name").map(\.value) == ["Eve", "Ada"])
  }
}
