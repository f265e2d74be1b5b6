// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing
import _RejoinVerification

@testable import Rejoin

/// The report of a fragment equals that of the whole field.
@Suite(.encodes) struct FragmentReportTests {
  private static let fields = [
    FieldKey("miles", .counter), FieldKey("tags", .set),
    FieldKey("pay", .ledger),
  ]

  private func copy(_ replica: Replica, fragmentSize: Int) -> Replica {
    let copy = Replica(
      resuming: replica.state, schema: replica.schema,
      wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(99) })
    copy.fragmentSize = fragmentSize
    return copy
  }

  private func edit(
    _ replica: Replica, _ random: inout SeededRandom
  ) throws {
    try replica.save { transaction in
      for _ in 0...random.number(below: 3) {
        let key = random.pick(Self.fields)
        transaction.apply(
          key.kind.stateEdit(&random), to: key, of: Sailor.ada)
      }
    }
  }

  /// Two devices, and a clone of one of them with the same device ID.
  @Test func fragmentReportEqualsReportOfWholeField() throws {
    var (fragments, known, changes) = (0, 0, 0)
    for seed in 1...600 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      var replicas = [Replica.empty(1), Replica.empty(2)]
      for replica in replicas { try edit(replica, &random) }
      settle(replicas[0], replicas[1])
      replicas.append(copy(replicas[1], fragmentSize: 0))
      for _ in 0..<12 {
        try edit(random.pick(replicas), &random)
        let sender = random.pick(replicas)
        let receiver = random.pick(replicas)
        if sender === receiver { continue }
        // An older version makes the sender repeat saves that the receiver has.
        let basis =
          random.chance(percent: 30)
          ? replicas[0].version : receiver.version
        let deltas = [0, .max].map {
          copy(sender, fragmentSize: $0).delta(since: basis)
        }
        guard let part = deltas[0], let whole = deltas[1] else { continue }
        let news = part.changes.flatMap(\.fragments.values)
        fragments += news.count
        let mine = receiver.record(Sailor.ada)?.clock ?? VectorClock()
        known += news.filter { $0.state.clock.isContained(in: mine) }.count
        let (one, other) = (
          copy(receiver, fragmentSize: 0), copy(receiver, fragmentSize: 0)
        )
        let reports = (one.apply(part), other.apply(whole))
        // A refused fragment changes nothing.
        if reports.0.gaps.isEmpty {
          #expect(
            reports.0.changedFields == reports.1.changedFields,
            "seed \(seed)")
          #expect(
            reports.0.changedRecords == reports.1.changedRecords,
            "seed \(seed)")
          changes += reports.0.changedFields.count
        }
        receiver.apply(whole)
      }
    }
    #expect(fragments > 1000 && known > 50 && changes > 1000)
  }

  @Test(arguments: [1, 5000])
  func applyReportsEntriesWithZeroSum(_ size: Int) throws {
    let (a, b) = (Replica.empty(1), Replica.empty(2))
    try a.edit { ada in for _ in 0..<size { ada.pay.append(1, memo: "memo") } }
    b.merge(a)
    try a.edit { ada in
      ada.pay.append(5)
      ada.pay.append(-5)
    }
    let delta = try #require(a.delta(since: b.version))
    #expect(delta.changes[0].fragments.isEmpty == (size == 1))
    #expect(b.apply(delta).changedFields.map(\.field) == [Self.fields[2]])
  }

  /// A device and its clone append equally many entries with an equal sum.
  @Test(arguments: [0, Int.max])
  func applyReportsReplacedEntries(_ size: Int) throws {
    let (a, receiver) = (Replica.empty(1), Replica.empty(2))
    try a.edit { $0.pay.append(1) }
    receiver.merge(a)
    let clone = copy(a, fragmentSize: size)
    a.fragmentSize = size
    try a.edit { ada in
      ada.pay.append(5, memo: "rent")
      ada.pay.append(-5, memo: "refund")
    }
    try clone.edit { ada in
      ada.pay.append(-5, memo: "food")
      ada.pay.append(5, memo: "salary")
    }
    let deltas = [clone, a].map { $0.delta(since: receiver.version) }
    for delta in deltas {
      let delta = try #require(delta)
      #expect(delta.changes[0].fragments.isEmpty == (size == .max))
      #expect(
        receiver.apply(delta).changedFields.map(\.field) == [Self.fields[2]])
    }
  }
}
