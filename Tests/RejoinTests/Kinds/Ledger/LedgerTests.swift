// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

private let phone = DeviceID(1)
private let tablet = DeviceID(2)
private let time = Timestamp(milliseconds: 1)

/// The amount of an entry; `nil` is a fold, which has no delta.
private typealias Scripts = SeenHistory<Ledger, Int64?>

extension Known<Int64?> {
  fileprivate var total: Int64 { deeds.reduce(0) { $0 + ($1.act ?? 0) } }

  fileprivate var counts: VectorClock {
    var counts = VectorClock()
    for deed in deeds where deed.act != nil { counts[deed.device] += 1 }
    return counts
  }

  /// The amounts that a device has appended, in order.
  fileprivate func amounts(of device: DeviceID) -> [Int64] {
    deeds.filter { $0.device == device }.compactMap(\.act)
  }

  /// What is not folded is the end of what was appended.
  fileprivate func complaint(_ ledger: Ledger) -> String? {
    if ledger.total != total { return "\(ledger.total), not \(total)" }
    if ledger.counts != counts { return "\(ledger.counts), not \(counts)" }
    for device in counts.entries.map(\.device) {
      let left = ledger.entries.filter { $0.device == device }
        .sorted { $0.entry.sequence < $1.entry.sequence }.map(\.entry.amount)
      if amounts(of: device).suffix(left.count) != left[...] {
        return "\(left) of \(device)"
      }
    }
    return nil
  }
}

@Suite(.encodes) struct LedgerTests {
  @Test func totalsNeverCountTwiceWhoeverFoldsWhat() {
    let rules = Scripts.Rules(
      initial: Ledger(),
      act: { ledger, device, _, random in
        if random.below(3) == 0 {
          ledger.fold(upTo: RandomChanges.prefix(of: ledger.counts, &random))
          return (nil, Ledger())
        }
        let amount = Int64(random.below(200)) - 100
        let delta = ledger.append(amount, by: device, at: random.time())
        return (amount, delta)
      },
      complaint: { $1.complaint($0) })
    #expect(Scripts.complaints(rules, seeds: 0..<400) == [])
  }

  @Test func theExampleInTheDocumentation() {
    var cash = Ledger()
    cash.append(100, memo: .string("float"), by: phone, at: time)
    cash.append(-30, by: phone, at: time)
    #expect(cash.total == 70)
    #expect(cash.fold(upTo: [phone: 1]) == 1)
    #expect(cash.total == 70)
    #expect(cash.entries.map(\.entry.amount) == [-30])
    #expect(cash.counts == [phone: 2])
  }

  @Test func aFoldStopsAtTheEntriesThereAre() {
    var cash = Ledger()
    cash.append(1, by: phone, at: time)
    cash.append(2, by: phone, at: time)
    #expect(cash.fold(upTo: [tablet: 9]) == 0)
    #expect(cash.fold(upTo: [phone: .max, tablet: .max]) == 2)
    #expect(cash.fold(upTo: [phone: 1]) == 0)
    cash.append(4, by: phone, at: time)
    #expect(cash.counts == [phone: 3])
    #expect(cash.fold(upTo: [phone: 3]) == 1)
    #expect(cash.total == 7)
    #expect(cash.entries.isEmpty)
  }

  @Test func aFoldIsNotCompared() {
    var cash = Ledger()
    cash.append(1, by: phone, at: time)
    cash.append(2, by: phone, at: time)
    var folded = cash
    folded.fold(upTo: [phone: 1])
    #expect(folded == cash)
    #expect(folded.hashValue == cash.hashValue)
    folded.append(0, by: phone, at: time)
    #expect(folded != cash)
  }

  @Test func entriesComeInTheOrderOfTimeThenDevice() {
    var cash = Ledger()
    cash.append(1, by: tablet, at: Timestamp(milliseconds: 2))
    cash.append(2, by: phone, at: Timestamp(milliseconds: 2))
    cash.append(3, by: tablet, at: Timestamp(milliseconds: 1))
    #expect(cash.entries.map(\.entry.amount) == [3, 2, 1])
  }

  @Test func theTotalIsExactAndThenClamped() {
    var cash = Ledger()
    cash.append(.max, by: phone, at: time)
    cash.append(.max, by: tablet, at: time)
    #expect(cash.total == .max)
    cash.fold(upTo: [phone: 1, tablet: 1])
    #expect(cash.total == .max)
    cash.append(.min, by: phone, at: time)
    cash.append(.min, by: phone, at: time)
    #expect(cash.total == -2)
    cash.append(.min, by: tablet, at: time)
    #expect(cash.total == .min)
  }
}
