// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

private let phone = DeviceID(1)
private let tablet = DeviceID(2)
private let time = Timestamp(milliseconds: 1)

/// The amount of an entry, or `nil` for a fold, which does not have a delta.
private typealias Scripts = SeenHistory<Ledger, Int64?>

extension Known<Int64?> {
  fileprivate var total: Int64 { deeds.reduce(0) { $0 + ($1.act ?? 0) } }

  fileprivate var counts: VectorClock {
    var counts = VectorClock()
    for deed in deeds where deed.act != nil { counts[deed.device] += 1 }
    return counts
  }

  /// The amounts that a device appended, in order.
  fileprivate func amounts(of device: DeviceID) -> [Int64] {
    deeds.filter { $0.device == device }.compactMap(\.act)
  }

  /// Returns a complaint if the ledger contradicts the known deeds.
  fileprivate func complaint(_ ledger: Ledger) -> String? {
    if ledger.total != total { return "\(ledger.total), not \(total)" }
    if ledger.counts != counts { return "\(ledger.counts), not \(counts)" }
    for device in counts.entries.map(\.device) {
      let left = ledger.entries.filter { $0.dot.device == device }
        .sorted { $0.dot.sequence < $1.dot.sequence }.map(\.amount)
      if amounts(of: device).suffix(left.count) != left[...] {
        return "\(left) of \(device)"
      }
    }
    return nil
  }
}

@Suite(.encodes) struct LedgerTests {
  @Test func totalsCountEachEntryOnceAfterFolds() {
    let rules = Scripts.Rules(
      initial: Ledger(),
      act: { ledger, device, _, random in
        if random.number(below: 3) == 0 {
          ledger.fold(upTo: RandomChanges.prefix(of: ledger.counts, &random))
          return (nil, Ledger())
        }
        let amount = Int64(random.number(below: 200)) - 100
        let delta = ledger.append(amount, on: device, at: random.timestamp())
        return (amount, delta)
      },
      complaint: { $1.complaint($0) })
    #expect(Scripts.complaints(rules, seeds: 0..<400) == [])
  }

  @Test func documentationExampleHolds() {
    var cash = Ledger()
    cash.append(100, memo: .string("float"), on: phone, at: time)
    cash.append(-30, on: phone, at: time)
    #expect(cash.total == 70)
    #expect(cash.fold(upTo: [phone: 1]) == 1)
    #expect(cash.total == 70)
    #expect(cash.entries.map(\.amount) == [-30])
    #expect(cash.counts == [phone: 2])
  }

  @Test func foldStopsAtLastEntry() {
    var cash = Ledger()
    cash.append(1, on: phone, at: time)
    cash.append(2, on: phone, at: time)
    #expect(cash.fold(upTo: [tablet: 9]) == 0)
    #expect(cash.fold(upTo: [phone: .max, tablet: .max]) == 2)
    #expect(cash.fold(upTo: [phone: 1]) == 0)
    cash.append(4, on: phone, at: time)
    #expect(cash.counts == [phone: 3])
    #expect(cash.fold(upTo: [phone: 3]) == 1)
    #expect(cash.total == 7)
    #expect(cash.entries.isEmpty)
  }

  @Test func equalityIgnoresFolds() {
    var cash = Ledger()
    cash.append(1, on: phone, at: time)
    cash.append(2, on: phone, at: time)
    var folded = cash
    folded.fold(upTo: [phone: 1])
    #expect(folded == cash)
    #expect(folded.hashValue == cash.hashValue)
    folded.append(0, on: phone, at: time)
    #expect(folded != cash)
  }

  @Test func entriesSortByTimeThenDevice() {
    var cash = Ledger()
    cash.append(1, on: tablet, at: Timestamp(milliseconds: 2))
    cash.append(2, on: phone, at: Timestamp(milliseconds: 2))
    cash.append(3, on: tablet, at: Timestamp(milliseconds: 1))
    #expect(cash.entries.map(\.amount) == [3, 2, 1])
  }

  @Test func totalClampsExactSum() {
    var cash = Ledger()
    cash.append(.max, on: phone, at: time)
    cash.append(.max, on: tablet, at: time)
    #expect(cash.total == .max)
    cash.fold(upTo: [phone: 1, tablet: 1])
    #expect(cash.total == .max)
    cash.append(.min, on: phone, at: time)
    cash.append(.min, on: phone, at: time)
    #expect(cash.total == -2)
    cash.append(.min, on: tablet, at: time)
    #expect(cash.total == .min)
  }
}
