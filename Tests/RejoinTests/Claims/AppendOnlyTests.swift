// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import RejoinTesting
import Testing

@Suite(
  "claim 9: appended entries do not conflict, totals are derived, storage grows until entries are folded, and an audit trail remains",
  .encodes
)
struct AppendOnlyTests {
  private let clock = ManualClock(1_000)

  /// Returns two tills that append concurrently and then exchange deltas.
  private func tills(
    entries: Int64 = 1
  ) throws -> (Replica, Replica, [MergeReport]) {
    let (one, two) = (
      Replica.empty(1, wallClock: clock), Replica.empty(2, wallClock: clock)
    )
    for i in 1...entries {
      clock.now += 1_000
      try one.edit { $0.pay.append(i, memo: .string("sale \(i)")) }
      try two.edit { $0.pay.append(-i, memo: .string("refund \(i)")) }
    }
    return (one, two, [one.tell(two), two.tell(one), one.tell(two)])
  }

  @Test func mergeKeepsConcurrentEntriesWithoutConflicts() throws {
    let (one, two, reports) = try tills(entries: 3)
    for replica in [one, two] {
      #expect(
        replica.record(Sailor.ada)?.entries(of: FieldKey("pay", .ledger)).map(
          \.amount
        ).sorted()
          == [-3, -2, -1, 1, 2, 3])
      #expect(replica.ada?.pay == 0)
    }
    for report in reports {
      #expect(!report.hasFaults && report.conflicts.isEmpty)
    }
  }

  @Test func entriesKeepTimeAndMemo() throws {
    let (one, _, _) = try tills()
    let entries =
      one.record(Sailor.ada)?.entries(of: FieldKey("pay", .ledger)) ?? []
    #expect(
      Set(entries.map(\.memo)) == [.string("sale 1"), .string("refund 1")])
    #expect(
      entries.map(\.time)
        == Array(
          repeating: Timestamp(milliseconds: 2_000), count: 2))
  }

  @Test func storageGrowsUntilEntriesAreFolded() throws {
    let (one, two, _) = try tills(entries: 200)
    let (total, grown) = (one.ada?.pay, one.state.encoded().count)
    #expect(grown > 400 * 8)
    one.recordVersion(two.version, of: two.device)
    #expect(one.foldLedgers() == 400)
    #expect(one.ada?.pay == total)
    // Only the sums and the digests of the saves remain.
    let kept = one.state.encoded().count
    #expect(kept < grown - 400 * 8)
  }
}
