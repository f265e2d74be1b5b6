// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

@Suite(.encodes) struct ImportTests {
  private let a = Replica.empty(1)
  private let b = Replica.empty(2)

  private func rows(_ transaction: Transaction) {
    for key in ["ada", "bob"] {
      transaction[Sailor.self, key].name = key
      transaction[Sailor.self, key].miles.increment(by: 5)
      transaction[Sailor.self, key].tags.insert("old")
      transaction[Sailor.self, key].pay.append(3)
    }
  }

  @Test func importOfSameRowsOnTwoDevicesCountsOnce() throws {
    let report = try a.importRows(rows)
    #expect(!report.hasFaults && report.changedRecords.count == 2)
    try b.importRows(rows)
    #expect(areEqual(a, b))
    settle(a, b)
    #expect(areEqual(a, b))
    #expect(a.recordIDs(of: "Sailor").map(\.key) == ["ada", "bob"])
    #expect(a.ada?.miles == 5)
    #expect(a.ada?.pay == 3)
    #expect(a.ada?.conflictingValues(of: \.name) == [])
  }

  @Test func repeatedImportChangesNothing() throws {
    try a.importRows(rows)
    let state = a.delta()
    #expect(try a.importRows(rows).changedRecords.isEmpty)
    #expect(a.delta() == state)
  }

  @Test func importTakesNoOwnDot() throws {
    try a.importRows(rows)
    #expect(a.version[a.device].sequence == 0)
    #expect(a.version.vectorClock.entries.map(\.count) == [1])
    #expect(a.roster.isEmpty)
  }

  @Test func editWinsOverImportedValue() throws {
    try b.edit { $0.name = "real" }
    try a.importRows(rows)
    settle(a, b)
    #expect(a.ada?.name == "real")
    #expect(a.ada?.conflictingValues(of: \.name) == ["ada"])
    #expect(a.ada?.miles == 5)
  }

  @Test func importOfOtherRowsCountsSeparately() throws {
    try a.importRows(rows)
    try b.importRows { $0[Sailor.self, "ada"].miles.increment(by: 7) }
    settle(a, b)
    #expect(areEqual(a, b))
    #expect(a.ada?.miles == 12)
  }

  @Test func importsOfDifferentValuesConflict() throws {
    try a.importRows { $0[Sailor.self, "ada"].name = "Ada" }
    try a.importRows { $0[Sailor.self, "ada"].name = "Eve" }
    let shown = [a.ada?.name].compactMap { $0 }
    let other = a.ada?.conflictingValues(of: \.name) ?? []
    #expect(Set(shown + other) == ["Ada", "Eve"])
  }

  /// A newer version reads the field in another way.
  @Test func importOfOtherFieldVariantCountsSeparately() throws {
    for (replica, variant) in [(a, nil), (b, "newer")] as [(Replica, String?)] {
      try replica.importRows {
        $0.apply(
          .write(1), to: FieldKey("f", .register, variant: variant),
          of: RecordID("Value", "k"))
      }
    }
    settle(a, b)
    #expect(a.version.vectorClock.entries.count == 2)
    #expect(areEqual(a, b))
  }

  @Test func overflowingImportChangesNothing() throws {
    #expect(throws: SaveError.self) {
      try a.importRows { transaction in
        for _ in 0..<3 {
          transaction[Sailor.self, "ada"].miles.increment(by: .max)
        }
      }
    }
    #expect(a.delta() == nil)
    #expect(try a.importRows { _ in }.changedRecords.isEmpty)
    #expect(a.delta() == nil)
  }

  @Test func importOfDeletedRowCountsSeparately() throws {
    try a.importRows { $0[Sailor.self, "ada"].ensureExists() }
    try a.importRows {
      $0[Sailor.self, "ada"].ensureExists()
      $0[Sailor.self, "ada"].delete()
    }
    #expect(a.version.vectorClock.entries.count == 2)
  }
}
