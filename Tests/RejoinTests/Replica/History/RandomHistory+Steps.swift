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
  mutating func save(_ i: Int) throws(HistoryMismatch) {
    let verbs = HistoryUniverse.verbs(&random)
    steps.append("\(peers[i].replica.device) saves \(verbs)")
    let expected = peers[i].model.save(verbs, now: peers[i].clock.now)
    do {
      let report = try peers[i].replica.save(verbs: verbs)
      try agree("dot", report.dot, expected)
      try agree("superseded unseen", report.superseded, [])
    } catch let mismatch as HistoryMismatch {
      throw mismatch
    } catch {
      throw HistoryMismatch(what: "the save throws \(error)")
    }
    try checkReadBack(verbs, i)
    clocks.append(peers[i].replica.clock)
  }

  /// Law 12: what a save wrote is what is read after it.
  private func checkReadBack(
    _ verbs: [HistoryVerb], _ i: Int
  ) throws(HistoryMismatch) {
    var written: [FieldPath: Value?] = [:]
    for verb in verbs {
      switch verb {
      case .edit(let id, let key, .write(let value)):
        written[FieldPath(id: id, key: key)] = .some(value)
      case .delete(let id): written = written.filter { $0.key.id != id }
      default: break
      }
    }
    for (path, value) in written {
      let record = peers[i].replica.record(path.id)
      if case .reference = value { continue }
      try agree(
        "law 12: \(path.id).\(path.key.name)",
        record?.value(of: path.key.name, path.key.kind), value)
    }
  }

  /// Sends at once what the receiver lacks.
  mutating func send(from i: Int) throws(HistoryMismatch) {
    let j = random.below(peers.count)
    let (sender, receiver) = (peers[i].replica, peers[j].replica)
    steps.append("\(sender.device) sends to \(receiver.device)")
    if let message = try HistoryMessage(from: peers[i], since: receiver.clock) {
      try receive(message, at: j)
      try peers[j].check()
    }
  }

  /// Writes a message that somebody may get later, from whatever basis.
  mutating func write(from i: Int) throws(HistoryMismatch) {
    let basis = someClock()
    steps.append("\(peers[i].replica.device) writes since \(basis)")
    if let message = try HistoryMessage(from: peers[i], since: basis) {
      messages.append(message)
    }
  }

  /// Delivers a message, in parts or whole, and may keep it for another time.
  mutating func deliver(to i: Int) throws(HistoryMismatch) {
    guard !messages.isEmpty else { return }
    let k = random.below(messages.count)
    let message = random.chance(50) ? messages[k] : messages.remove(at: k)
    let parts = random.chance(40) ? 1 + random.below(4) : 0
    steps.append("\(peers[i].replica.device) gets \(k) in \(parts) parts")
    if parts == 0 { return try receive(message, at: i) }
    var paths: Set<FieldPath> = []
    for part in message.delta.split(into: parts) {
      paths.formUnion(part.paths)
      if random.chance(20) { continue }
      let model = message.model.part(part.paths)
      try receive(HistoryMessage(delta: part, model: model), at: i)
    }
    try agree("fields in all parts", paths, message.delta.paths)
  }

  mutating func merge(_ i: Int) throws(HistoryMismatch) {
    let j = random.below(peers.count)
    if i == j { return }
    steps.append("\(peers[i].replica.device) merges \(peers[j].replica.device)")
    let clock = peers[i].replica.clock.vector
    let report = peers[i].replica.merge(peers[j].replica)
    try agree("faults of merging", report.isClean, true)
    if let delta = peers[j].model.delta(since: clock) {
      _ = peers[i].model.apply(delta, now: peers[i].clock.now)
    }
  }

  mutating func backUp(_ i: Int) {
    steps.append("\(peers[i].replica.device) is backed up: \(backups.count)")
    backups.append(
      HistoryBackup(state: peers[i].replica.state, model: peers[i].model))
  }

  /// Opens a backup without its token, in place of a device or beside it.
  mutating func restore(_ i: Int) {
    guard !backups.isEmpty else { return }
    let k = random.below(backups.count)
    let (device, clock) = (newDevice(), HandSetClock(peers[i].clock.now))
    var model = backups[k].model
    model.reopen(as: device, now: clock.now)
    let peer = HistoryPeer(
      clock: clock,
      replica: Replica(
        opening: backups[k].state, token: nil, schema: history.schema,
        clock: clock.wall, renewal: { device }),
      model: model)
    let isAdded = peers.count < 6 && random.chance(50)
    steps.append("backup \(k) becomes \(device)\(isAdded ? "" : ", for \(i)")")
    if isAdded { peers.append(peer) } else { peers[i] = peer }
  }

  /// Opens a replica again as it was left.
  mutating func reopen(_ i: Int) {
    let replica = peers[i].replica
    steps.append("\(replica.device) is opened again")
    peers[i].replica = Replica(
      opening: replica.state, token: replica.token, schema: history.schema,
      clock: peers[i].clock.wall, renewal: { DeviceID(high: 7, low: 7) })
    peers[i].model.reopen(as: replica.device, now: peers[i].clock.now)
  }

  mutating func fork(_ i: Int) {
    guard peers.count < 6 else { return }
    let (device, clock) = (newDevice(), HandSetClock(peers[i].clock.now))
    steps.append("\(peers[i].replica.device) is forked as \(device)")
    var model = peers[i].model
    model.device = device
    peers.append(
      HistoryPeer(
        clock: clock,
        replica: peers[i].replica.fork(as: device, clock: clock.wall),
        model: model))
  }

  mutating func turnClock(_ i: Int) {
    let hours = Int64(random.below(9)) - 4
    peers[i].clock.now += hours * 3_600_000 + Int64(random.below(1000))
    steps.append("\(peers[i].replica.device) has \(peers[i].clock.now)")
  }

  mutating func purge(_ i: Int) throws(HistoryMismatch) {
    steps.append("\(peers[i].replica.device) purges")
    let cut = peers[i].replica.stabilityCut
    for peer in peers where peers[i].replica.roster.contains(peer.model.device)
    {
      try agree(
        "the cut is stable", cut.isContained(in: peer.model.clock), true)
    }
    let expected = peers[i].model.purge(below: cut, now: peers[i].clock.now)
    do {
      try agree("dot of a purge", peers[i].replica.purge().dot, expected)
    } catch let mismatch as HistoryMismatch {
      throw mismatch
    } catch {
      throw HistoryMismatch(what: "the purge throws \(error)")
    }
  }

  mutating func fold(_ i: Int) {
    steps.append("\(peers[i].replica.device) folds")
    peers[i].replica.fold()
  }
}
