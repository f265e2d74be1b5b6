//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//
import Rejoin

extension World {
  mutating func save(
    _ i: Int, _ verbs: [ScriptVerb]
  ) throws(ScriptMismatch) -> Int {
    let now = peers[i].now
    let verbs = verbs.filter { !dependsOnDoubt($0) }
    try note(i, "a save") { (replica) throws in
      try replica.save(verbs, now: now)
    } expecting: {
      $0.save(verbs, now: now)
    }
    try peers[i].replica.checkReadBack(verbs, named: name(i))
    return i
  }

  /// Whether a verb does something or nothing according to which of two saves of
  /// one name is seen: a record that is not there is not deleted.
  private func dependsOnDoubt(_ verb: ScriptVerb) -> Bool {
    guard case .delete(let id) = verb else { return false }
    return doubtful.contains(id)
  }

  mutating func purge(_ i: Int) throws(ScriptMismatch) -> Int {
    // As with deletions: whether a doubtful record is dead is not agreed on.
    if !doubtful.isEmpty { return i }
    let (now, cut) = (peers[i].now, peers[i].replica.stabilityCut)
    try checkStability(of: cut, i)
    try note(i, "a purge") { (replica) throws in
      try replica.purge(now: now)
    } expecting: {
      $0.purge(below: cut, now: now)
    }
    return i
  }

  mutating func retire(_ j: Int, on i: Int) throws(ScriptMismatch) -> Int {
    let (now, device) = (peers[i].now, peers[j].model.device)
    try note(i, "a retirement") { (replica) throws in
      try replica.retire(device, now: now)
    } expecting: {
      $0.retire(device, now: now)
    }
    retired.insert(device)
    return i
  }

  mutating func fetch(_ id: RecordID, on i: Int, as k: Int) {
    let model = peers[i].model
    if model.isDead(id) { return }
    contexts[k] = Context(
      peer: i, id: id, shown: peers[i].replica.fetch(id), model: model)
  }

  /// Saves the edits of a context that make a difference to what it shows.
  mutating func commit(
    _ k: Int, _ edits: [FieldKey: FieldEdit]
  ) throws(ScriptMismatch) -> Int? {
    guard let context = contexts[k] else { return nil }
    let (i, id) = (context.peer, context.id)
    let now = peers[i].now
    contexts[k] = nil
    let changes = edits.filter { key, edit in
      guard case .write(let value) = edit else { return true }
      return value != context.model.field(FieldPath(id, key)).write?.value
        ?? nil
    }
    if changes.isEmpty { return nil }
    try note(i, "a commit") { (replica) throws in
      try replica.save(changes, of: id, shown: context.shown, now: now)
    } expecting: {
      $0.save(changes, of: id, seen: context.model.held, now: now)
    }
    try peers[i].replica.checkReadBack(
      changes.map { ScriptVerb.edit(id, $0.key, $0.value) }, named: name(i))
    return i
  }

  /// Saves, and notes the save as the oracle would.
  private mutating func note(
    _ i: Int, _ what: String,
    _ body: (inout Replica) throws -> Dot?,
    expecting model: (inout OracleReplica) -> Int?
  ) throws(ScriptMismatch) {
    let dot: Dot?
    do { dot = try body(&peers[i].replica) } catch {
      throw ScriptMismatch("\(what) throws \(error)")
    }
    if let dot { try checkRenewal(i, dot.device) }
    let place = model(&peers[i].model)
    guard let place, let dot else {
      return try agree("\(what) takes a dot", dot != nil, place != nil)
    }
    try agree("dot of \(what)", dot, history.saves[place].dot)
    if dot.n <= peers[i].shownOwn {
      throw ScriptMismatch("law 11: \(dot) had been shown to its author")
    }
    note(dot, place, by: i)
  }

  /// That a device is given up if and only if somebody has shown it a save of its
  /// own that it does not know.
  private mutating func checkRenewal(
    _ i: Int, _ device: DeviceID
  ) throws(ScriptMismatch) {
    let old = peers[i].model.device
    if device == old {
      return try agree("\(old) must be given up", peers[i].mustRenew, false)
    }
    let isUsedTwice = firstCollisions[old] != nil
    try agree(
      "\(old) is given up for nothing", peers[i].mustRenew || isUsedTwice, true)
    peers[i].model.become(device)
    peers[i].startAnew()
  }

  private mutating func note(_ dot: Dot, _ place: Int, by i: Int) {
    if places[dot, default: []].insert(place).inserted,
      places[dot, default: []].count == 2
    {
      collisions.insert(dot)
      firstCollisions[dot.device] = min(
        dot.n, firstCollisions[dot.device] ?? .max)
      counts.collisions += 1
    }
    for (dot, places) in places where !collisions.isEmpty && isDoubtful(dot) {
      for place in places {
        doubtful.formUnion(history.saves[place].edits.keys.map(\.id))
      }
    }
    peers[i].authored.insert(place)
    touched.formUnion(history.saves[place].edits.keys.map(\.id))
    counts.saves += 1
  }
}

extension World.Peer {
  /// Goes on as a device that nobody has heard of.
  mutating func startAnew() {
    (shownOwn, mustRenew) = (0, false)
  }
}
