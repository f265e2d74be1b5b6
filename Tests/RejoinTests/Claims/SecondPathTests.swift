// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import RejoinTesting
import Testing

@Suite(
  "claim 15: a second synchronization path does not duplicate changes",
  .encodes
)
struct SecondPathTests {
  private static let saves: Int64 = 12

  /// Returns all deltas of two devices that save in turns.
  private func history() throws -> [Delta] {
    let authors = [Replica.empty(1), Replica.empty(2)]
    var deltas: [Delta] = []
    for i in 1...Self.saves {
      let author = authors[Int(i) % 2]
      let before = author.version
      try author.edit {
        $0.name = "\(i)"
        $0.miles.increment(by: i)
        $0.pay.append(i)
        $0.tags.insert("\(i)")
        $0.tags.remove("\(i - 2)")
      }
      deltas.append(try #require(author.delta(since: before)))
      deltas.append(try #require(author.delta()))
    }
    return deltas
  }

  /// Returns the deltas of both paths in random order, some of them in parts.
  private func deliveries(
    _ deltas: [Delta], _ random: inout SeededRandom
  ) throws -> [Delta] {
    var all: [(UInt64, Delta)] = []
    for delta in deltas + deltas {
      let parts =
        random.number(below: 4) == 0 ? delta.split(into: 3) + [delta] : [delta]
      for part in parts {
        all.append(
          (
            UInt64(random.number(below: 1 << 20)),
            try Delta(decoding: part.encoded())
          ))
      }
    }
    return all.sorted { $0.0 < $1.0 }.map(\.1)
  }

  /// Each author knows only its own saves, so only its own removals count.
  @Test(arguments: 0..<40 as Range<UInt64>)
  func duplicatesInAnyOrderCountOnce(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let deltas = try history()
    let (orderly, receiver) = (Replica.empty(3), Replica.empty(4))
    for delta in deltas { orderly.apply(delta) }
    for delta in try deliveries(deltas, &random) { receiver.apply(delta) }
    // Missing saves are requested again, as after any gap.
    orderly.tell(receiver)
    let sum = Self.saves * (Self.saves + 1) / 2
    let record = try #require(receiver.ada)
    #expect(record.miles == sum && record.pay == sum)
    #expect(record.tags == ["11", "12"])
    #expect(receiver.delta() == orderly.delta())
    #expect(receiver.version == orderly.version)
  }

  @Test func secondPathReportsNoChanges() throws {
    let receiver = Replica.empty(3)
    let deltas = try history()
    for delta in deltas { receiver.apply(delta) }
    for delta in deltas {
      let report = receiver.apply(delta)
      #expect(!report.hasFaults && report.changedRecords.isEmpty)
      #expect(report.conflicts.isEmpty && report.changedFields.isEmpty)
    }
  }
}
