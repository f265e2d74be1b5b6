// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

@Suite(.encodes) struct FoldTests {
  private let a = Replica.empty(1)
  private let b = Replica.empty(2)

  private var entries: [LedgerEntry] {
    a.record(Sailor.ada)?.entries(of: FieldKey("pay", .ledger)) ?? []
  }

  @Test func foldChangesNeitherTotalNorVersion() throws {
    try a.edit { $0.pay.append(5, memo: .string("five")) }
    try a.edit { $0.pay.append(-2) }
    let (version, state) = (a.version, a.foldedBytes)
    #expect(entries.count == 2)
    #expect(a.foldLedgers() == 2)
    #expect(entries.isEmpty)
    #expect(a.ada?.pay == 3)
    #expect(a.version.vectorClock == version.vectorClock)
    #expect(a.foldedBytes == state)
    #expect(a.foldLedgers() == 0)
  }

  @Test func recordVersionIgnoresOlderVersion() throws {
    try a.edit { $0.pay.append(1) }
    a.tell(b)
    let older = b.version
    try b.edit { $0.pay.append(2) }
    b.tell(a)
    a.recordVersion(b.version, of: b.device)
    a.recordVersion(older, of: b.device)
    #expect(a.stabilityCut == a.version.vectorClock)
  }

  @Test func foldLedgersFoldsOnlyStableEntries() throws {
    try b.edit { $0.pay.append(1) }
    try a.edit { $0.pay.append(5) }
    settle(a, b)
    try a.edit { $0.pay.append(7, memo: .string("seven")) }
    #expect(a.foldLedgers() == 2)
    #expect(entries.map(\.amount) == [7])
    a.tell(b)
    #expect(b.ada?.pay == 13)
    #expect(
      b.record(Sailor.ada)?.entries(of: FieldKey("pay", .ledger)).count == 1)
    #expect(areEqual(a, b))
  }

  @Test func foldedEntriesDoNotCountTwice() throws {
    try a.edit { $0.pay.append(5) }
    a.tell(b)
    let late = try #require(a.delta())
    a.recordVersion(b.version, of: b.device)
    #expect(a.foldLedgers() == 1)
    try a.edit { $0.pay.append(6) }
    a.tell(b)
    b.apply(late)
    a.apply(late)
    #expect(a.ada?.pay == 11)
    #expect(b.ada?.pay == 11)
  }
}
