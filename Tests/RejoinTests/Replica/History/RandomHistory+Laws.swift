//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

@testable import Rejoin

extension RandomHistory {
  /// Any clock that somebody has or had, or one below it.
  mutating func someClock() -> ReplicaClock {
    let clock =
      random.chance(50)
      ? random.pick(clocks) : random.pick(peers).replica.clock
    return random.chance(40) ? lowered(clock.vector) : clock
  }

  private mutating func lowered(_ clock: VectorClock) -> ReplicaClock {
    var result = VectorClock()
    for entry in clock.entries {
      result[entry.device] = UInt64(random.below(Int(entry.count) + 1))
    }
    return ReplicaClock(result)
  }

  /// Joins a message and compares the report with what must be in it.
  mutating func receive(
    _ message: HistoryMessage, at i: Int
  ) throws(HistoryMismatch) {
    let before = peers[i].model
    let (device, own) = (before.device, before.clock[before.device])
    let gaps = peers[i].model.apply(message.model, now: peers[i].clock.now)
    let report = peers[i].replica.apply(message.delta)
    try agree("gaps", Set(report.gaps.map(\.device)), gaps)
    try agree("equivocations", report.equivocations, [])
    try agree("doubtful", report.doubtful, nil)
    try agree("kept aside", report.keptAside, nil)
    try checkChanges(in: report, before: before, peers[i].model)
    let clock = peers[i].replica.clock
    try agree("law 6: own number", clock[device].n, own)
    let isAsked = gaps.allSatisfy { peers[i].replica.missing[$0] > clock[$0].n }
    try agree("gaps are remembered", isAsked, true)
  }

  private func checkChanges(
    in report: MergeReport, before: OracleReplica, _ after: OracleReplica
  ) throws(HistoryMismatch) {
    let news = after.held.filter { before.held[$0.key] != $0.value }.keys
    try agree("records with news", report.records, Set(news.map(\.id)))
    let changed = news.filter { path in
      path.key != .existence
        && before.field(path).shown != after.field(path).shown
    }
    try agree(
      "changed fields",
      Set(report.changedFields.map { FieldPath(id: $0.record, key: $0.field) }),
      Set(changed))
  }

  /// Laws 4 and 5, of two replicas by chance.
  mutating func checkLaws() throws(HistoryMismatch) {
    let (s, t) = (random.pick(peers), random.pick(peers))
    try s.checkSoundness()
    if random.chance(25) { try checkDeltaLaw(s.replica, t.replica) }
    guard s.model.clock == t.model.clock, !s.model.isAhead, !t.model.isAhead
    else { return }
    try checkEqual(s.replica, t.replica)
    try agree("law 5: no news", s.replica.delta(since: t.replica.clock), nil)
  }

  /// What holds of equal clocks, and at the end also where a part of a message
  /// has outlived its author, so that no clock will ever vouch for it.
  private func checkEqual(_ s: Replica, _ t: Replica) throws(HistoryMismatch) {
    try agree("law 5: clocks", s.clock, t.clock)
    try agree("law 5: states", s.delta(), t.delta())
  }

  /// Law 4: what a replica lacks makes it as the whole state would.
  private mutating func checkDeltaLaw(
    _ s: Replica, _ t: Replica
  ) throws(HistoryMismatch) {
    let basis =
      random.chance(50) ? t.clock : lowered(t.clock.vector)
    let (one, other) = (copy(of: t), copy(of: t))
    if let delta = s.delta(since: basis) {
      one.apply(delta, reporting: .faults)
    }
    if let delta = s.delta() { other.apply(delta) }
    try agree("law 4: clocks", one.clock, other.clock)
    try agree("law 4: states", one.delta(), other.delta())
  }

  private func copy(of replica: Replica) -> Replica {
    replica.fork(as: DeviceID(high: 1 << 40, low: 1))
  }

  /// Law 13: when nobody saves any more, everybody is equal within the diameter
  /// of the network, here a ring.
  mutating func settle() throws(HistoryMismatch) {
    let count = history.saves.count
    for _ in 0..<(peers.count / 2) { try exchange() }
    for peer in peers {
      try peer.check()
      try peer.checkSoundness()
      try checkEqual(peer.replica, peers[0].replica)
      let saves = peer.replica.clock.vector.entries.reduce(0) { $0 + $1.count }
      if saves > UInt64(count) {
        throw HistoryMismatch(what: "law 13: saves without an author")
      }
    }
  }

  /// One round: everybody tells both neighbours what it had before the round.
  private mutating func exchange() throws(HistoryMismatch) {
    var mail: [(to: Int, message: HistoryMessage)] = []
    for i in peers.indices {
      for j in Set([(i + 1) % peers.count, (i + peers.count - 1) % peers.count])
      where j != i {
        let message = try HistoryMessage(
          from: peers[j], since: peers[i].replica.clock)
        if let message { mail.append((i, message)) }
      }
    }
    for (i, message) in mail { try receive(message, at: i) }
  }
}

extension OracleField {
  /// What changes where the field is shown otherwise, references unresolved.
  var shown: FieldReading {
    FieldReading(
      value: kind == .register || kind == .lww ? write?.value : nil,
      count: kind == .counter ? count : 0, elements: elements,
      total: kind == .ledger ? total : 0)
  }
}
