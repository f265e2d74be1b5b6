// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

@Suite(.encodes) struct LedgerLineTests {
  private func line(
    _ amounts: [Int64], folded: UInt64 = 0
  ) -> DeviceEntries {
    var line = DeviceEntries()
    for (i, amount) in amounts.enumerated() {
      line.append(entry(UInt64(i) + 1, amount))
    }
    line.fold(upTo: folded)
    return line
  }

  private func entry(
    _ sequence: UInt64, _ amount: Int64, memo: Value? = nil, at time: UInt64 = 1
  ) -> DeviceEntries.Entry {
    DeviceEntries.Entry(
      sequence: sequence, time: Timestamp(rawValue: time), amount: amount,
      memo: memo)
  }

  /// Checks every pair of prefixes and folds of one device's entries.
  @Test func joinKeepsLongerPrefixAndGreaterFold() {
    let amounts: [Int64] = [1, 20, 300, 4000]
    for (a, b) in pairs(of: amounts) {
      var join = a
      join.merge(b)
      let whole = line(Array(amounts.prefix(Int(max(a.count, b.count)))))
      #expect(join == whole)
      #expect(join.folded == max(a.folded, b.folded))
      #expect(join.tail == Array(whole.tail.dropFirst(Int(join.folded))))
    }
  }

  private func pairs(of amounts: [Int64]) -> [(DeviceEntries, DeviceEntries)] {
    let parts = (0...amounts.count).flatMap { count in
      (0...count).map { fold in
        line(Array(amounts.prefix(count)), folded: UInt64(fold))
      }
    }
    return parts.flatMap { a in parts.map { (a, $0) } }
  }

  @Test func foldStopsAtLastEntry() {
    var part = line([1, 20])
    for count in [1, 9, .max, 0] as [UInt64] {
      part.fold(upTo: count)
      #expect(part.count == 2)
      #expect(part.total == 21)
    }
    #expect(part.folded == 2)
    #expect(part.tail.isEmpty)
  }

  @Test func foldingContinuesAfterLastFold() {
    var part = line([1, 20, 300, 4000], folded: 2)
    part.fold(upTo: 3)
    #expect(part == line([1, 20, 300, 4000]))
    #expect(part.folded == 3)
    #expect(part.tail.map(\.amount) == [4000])
  }

  @Test func cancelingFoldsAndSubtracts() {
    var part = line([1, 20, 300])
    part.cancel(line([1, 20]))
    #expect(part.total == 300)
    #expect(part.cancellation.canceled == 2)
    #expect(part.folded == 2)
    #expect(part.count == 3)
  }

  @Test func cancelingForkedDeviceCancelsStoredEntries() {
    var (one, other) = (line([5], folded: 1), line([3], folded: 1))
    other.cancel(other)
    one.merge(other)
    #expect((one.sum, one.cancellation.sum) == (5, 3))
    one.cancel(one)
    #expect(one.total == 0)
    // The observed entry is from another history.
    var loser = line([3])
    loser.cancel(line([9]))
    #expect(loser.total == 0)
  }

  /// A fragment omits the sum of the entries before it, and two histories of
  /// one device ID can differ in that sum.
  @Test func fragmentOfAnotherHistoryChangesOnlyDecision() {
    var part = line([1])
    let other = DeviceEntries(
      folded: 1, sum: 0, cancellation: Cancellation(upTo: 1, sum: 9), tail: [])
    part.merge(other, isContinuation: true)
    #expect((part.folded, part.foldedSum) == (1, 1))
    #expect((part.cancellation.canceled, part.cancellation.sum) == (1, 9))
    part.cancel(part)
    #expect(part.total == 0)
  }

  @Test func cancelingFewerEntriesChangesNothing() {
    var part = line([1, 20, 300])
    part.cancel(line([1, 20]))
    let before = part
    part.cancel(line([1]))
    #expect(part == before)
  }

  @Test func mergeKeepsGreaterCancellation() {
    var (a, b) = (line([1, 20, 300]), line([1, 20, 300]))
    a.cancel(line([1]))
    b.cancel(line([1, 20]))
    for (x, y) in [(a, b), (b, a)] {
      var join = x
      join.merge(y)
      #expect(join.total == 300)
      #expect(join.cancellation.canceled == 2)
    }
  }

  /// The ledger was folded beyond the observed entries.
  @Test func cancelingKeepsUnobservedFoldedEntries() {
    var lines = Ledger()
    let device = DeviceID(1)
    lines.append(5, memo: nil, at: Dot(device, 1), time: .zero)
    let observed = lines
    lines.append(70, memo: nil, at: Dot(device, 2), time: .zero)
    #expect(lines.fold(below: [device: 2]) == 2)
    lines.cancel(observed: observed)
    #expect(lines.total == 70)
    #expect(lines.hasContent)
    lines.cancel()
    #expect(lines.total == 0)
    #expect(!lines.hasContent)
  }

  @Test func saveAppendsSeveralEntries() {
    var lines = Ledger()
    let device = DeviceID(1)
    for (n, amount) in [(2, 1), (2, 20), (5, 300)] as [(UInt64, Int64)] {
      lines.append(amount, memo: nil, at: Dot(device, n), time: .zero)
    }
    #expect(lines.fold(below: [device: 1]) == 0)
    #expect(lines.fold(below: [device: 4]) == 2)
    #expect(lines.fold(below: [device: 4]) == 0)
    #expect(lines.entries.map(\.amount) == [300])
    #expect(lines.dots == [device: 5])
  }

  /// Only a forked device has two entries at one index.
  @Test func mergeKeepsGreaterEntryAtOneIndex() {
    let rising = [
      entry(1, 1), entry(1, 2), entry(1, 2, memo: .int(1)),
      entry(1, 0, at: 2), entry(2, -9),
    ]
    for (i, a) in rising.enumerated() {
      for b in rising[i...] {
        var (x, y) = (DeviceEntries(), DeviceEntries())
        x.append(a)
        y.append(b)
        let (before, other) = (x, y)
        x.merge(other)
        y.merge(before)
        #expect(x.tail == [b])
        #expect(y.tail == [b])
      }
    }
  }

  @Test func mergeKeepsGreaterSumOfEqualFolds() {
    let (a, b) = (line([1], folded: 1), line([2], folded: 1))
    for (x, y) in [(a, b), (b, a)] {
      var join = x
      join.merge(y)
      #expect(join.total == 2)
    }
  }

  /// Two histories of one device cancel equally many entries.
  @Test func mergeKeepsGreaterSumOfEqualCancellations() {
    var (a, b) = (line([1], folded: 1), line([2], folded: 1))
    for part in [1, 2] as [Int64] {
      let whole = line([part])
      if part == 1 { a.cancel(whole) } else { b.cancel(whole) }
    }
    for (x, y) in [(a, b), (b, a)] {
      var join = x
      join.merge(y)
      #expect(join.cancellation.sum == 2)
      #expect(join.total == 0)
    }
  }

  /// The observed ledger can be ahead of the stored one.
  @Test func cancelingIncludesObservedMissingEntries() {
    var part = line([1])
    part.cancel(line([1, 20]))
    #expect(part.count == 2)
    #expect(part.total == 0)
    part.merge(line([1, 20, 300]))
    #expect(part.total == 300)
  }

  @Test func entriesOfOneTimeSortByDeviceThenSequence() {
    var lines = Ledger()
    for device in (1...8).reversed() as ReversedCollection<ClosedRange<UInt64>>
    {
      for n in 1...2 as ClosedRange<UInt64> {
        lines.append(
          Int64(device), memo: nil, at: Dot(DeviceID(device), n), time: .zero)
      }
    }
    let order = (1...8).flatMap { [$0, $0] as [Int64] }
    #expect(lines.entries.map(\.amount) == order)
    #expect(
      lines.entries.map(\.dot.sequence)
        == order.indices.map { $0 % 2 == 0 ? 1 : 2 })
  }
}
