// SPDX-License-Identifier: Apache-2.0
import Rejoin

extension World {
  mutating func save(
    _ i: Int, _ verbs: [ScriptVerb]
  ) throws(ScriptMismatch) -> Int {
    let now = peers[i].now
    let verbs = verbs.filter { !dependsOnDoubt($0, i) }
    if peers[i].model.mustRefuse(verbs) {
      counts.refusals += 1
      return try checkRefusal(i) { (replica) throws in
        try replica.save(verbs, now: now)
      }
    }
    try performSave(i, "a save") { (replica) throws in
      try replica.save(verbs, now: now)
    } expecting: {
      $0.save(verbs, now: now)
    }
    peers[i].lastSaved = peers[i].model.clock
    try peers[i].replica.checkReadBack(verbs, named: name(i))
    return i
  }

  /// Returns whether the effect of a verb depends on an ambiguous dot, which
  /// two saves share.
  ///
  /// A deletion has no effect if its record does not exist.
  private func dependsOnDoubt(_ verb: ScriptVerb, _ i: Int) -> Bool {
    switch verb {
    case .delete(let id): return isUndecidable(id)
    case .undelete(let id): return isUndecidable(id)
    default: return false
    }
  }

  /// Returns whether a record may show either of two saves with one dot.
  ///
  /// A save that creates a record again drops the memories of pulls into that
  /// record. A memory is therefore as uncertain as the existence of its record.
  func isUndecidable(_ id: RecordID) -> Bool {
    undecidable.contains {
      $0 == id || OracleReplica.isMemory(id, of: $0)
    }
  }

  /// Checks that a save is refused without effect if it would restore a purged
  /// record or a part of it.
  private mutating func checkRefusal(
    _ i: Int, _ save: (inout Replica) throws -> Dot?
  ) throws(ScriptMismatch) -> Int {
    do {
      let dot = try save(&peers[i].replica)
      throw ScriptMismatch(
        "\(dot?.description ?? "a save") restores a purged record")
    } catch let error as ScriptMismatch { throw error } catch SaveError.purged {
      return i
    } catch { throw ScriptMismatch("a save throws \(error)") }
  }

  mutating func purge(_ i: Int) throws(ScriptMismatch) -> Int {
    // Replicas may disagree on whether an undecidable record is deleted.
    if !undecidable.isEmpty { return i }
    // Purges and folds first advance the stability cut.
    try checkStability(of: i) { $0.fold() }
    let (now, cut) = (peers[i].now, peers[i].replica.stabilityCut)
    let saves = counts.saves
    try performSave(i, "a purge") { (replica) throws in
      try replica.purge(now: now)
    } expecting: {
      $0.purge(below: cut, now: now)
    }
    if counts.saves > saves, let index = peers[i].chain.last {
      purges.insert(index)
      counts.purges += 1
      let others = peers.map(\.model.device).filter {
        $0 != peers[i].model.device
      }
      unlisted.formUnion(Set(others).subtracting(peers[i].model.roster))
    }
    return i
  }

  mutating func retire(_ j: Int, on i: Int) throws(ScriptMismatch) -> Int {
    let (now, device) = (peers[i].now, peers[j].model.device)
    try performSave(i, "a retirement") { (replica) throws in
      try replica.retire(device, now: now)
    } expecting: {
      $0.retire(device, now: now)
    }
    if let index = peers[i].chain.last { retirements.insert(index) }
    try agree(
      "\(name(j)) is on the roster of \(name(i)) that retired it",
      peers[i].model.roster.contains(device), false)
    return i
  }

  mutating func fetch(
    _ id: RecordID, on i: Int, as k: Int
  ) throws(ScriptMismatch) {
    let model = peers[i].model
    if model.isDead(id) { return }
    try peers[i].replica.checkWritingBack(id, universe.fields, named: name(i))
    contexts[k] = Context(
      peer: i, id: id, shown: peers[i].replica.fetch(id), model: model)
  }

  /// Saves the edits that change the values that a context shows.
  mutating func commit(
    _ k: Int, _ edits: [FieldKey: FieldEdit], _ company: ScriptCompany
  ) throws(ScriptMismatch) -> Int? {
    guard let context = contexts[k] else { return nil }
    let (i, id) = (context.peer, context.id)
    let now = peers[i].now
    contexts[k] = nil
    let changes = edits.filter { key, edit in
      guard case .write(let value) = edit else { return true }
      return value != context.model.field(FieldLocation(record: id, field: key))
        .write?.value
        ?? nil
    }
    if changes.isEmpty { return nil }
    let company = company.filter { !dependsOnDoubt($0, i) }
    if peers[i].model.mustRefuse(editOf: id, fetchedBy: context.model) {
      counts.refusals += 1
      return try checkRefusal(i) { (replica) throws in
        try replica.save(
          changes, of: id, shown: context.shown, with: company, now: now)
      }
    }
    try performSave(i, "a commit") { (replica) throws in
      try replica.save(
        changes, of: id, shown: context.shown, with: company, now: now)
    } expecting: {
      $0.save(
        changes, of: id, seen: context.model.held, with: company, now: now)
    }
    counts.contextSaves += lateSave(of: i, since: context.model.clock)
    try peers[i].replica.checkReadBack(
      company.around(
        changes.map { ScriptVerb.edit(id, $0.key, $0.value) }), named: name(i))
    return i
  }

  /// Deletes the record that a context shows.
  mutating func discard(
    _ k: Int, _ company: ScriptCompany
  ) throws(ScriptMismatch) -> Int? {
    guard let context = contexts[k] else { return nil }
    let (i, id, now) = (context.peer, context.id, peers[context.peer].now)
    if isUndecidable(id) { return nil }
    contexts[k] = nil
    // If a context shows no record, its deletion would only withdraw the
    // insertion.
    if !context.model.exists(id) { return nil }
    let saves = counts.saves
    let company = company.filter { !dependsOnDoubt($0, i) }
    try performSave(i, "a deletion in a context") { (replica) throws in
      try replica.delete(id, shown: context.shown, with: company, now: now)
    } expecting: {
      $0.delete(id, seen: context.model.held, with: company, now: now)
    }
    if counts.saves > saves {
      counts.contextSaves += lateSave(of: i, since: context.model.clock)
    }
    return i
  }

  /// Returns the counts of one save.
  ///
  /// They include the purges and retirements that its author made or received
  /// since an earlier clock.
  private func lateSave(of i: Int, since before: VectorClock) -> LateSaves {
    func isMet(_ index: Int) -> Bool {
      let dot = history.saves[index].dot
      return peers[i].model.clock.contains(dot) && !before.contains(dot)
    }
    let metPurge = purges.contains(where: isMet)
    let metRetirement = retirements.contains(where: isMet)
    return LateSaves(
      count: 1, metPurges: metPurge ? 1 : 0,
      metRetirements: metRetirement ? 1 : 0,
      met: metPurge || metRetirement ? 1 : 0)
  }

  mutating func undo(
    _ i: Int, again: Bool
  ) throws(ScriptMismatch) -> Int? {
    let now = peers[i].now
    let before = peers[i].model
    var undone = UndoneSave()
    try performSave(i, "an undo") { (replica) throws in
      undone = try replica.undo(again: again, now: now)
      return undone.dot
    } expecting: {
      $0.save(undone, now: now)
    }
    try before.checkExistence(after: undone)
    if undone.dot != nil {
      counts.undoings += lateSave(of: i, since: peers[i].lastSaved)
    }
    return i
  }

  /// Performs a save, and compares its dot with the oracle's save.
  private mutating func performSave(
    _ i: Int, _ what: String,
    _ body: (inout Replica) throws -> Dot?,
    expecting model: (inout OracleReplica) -> Int?
  ) throws(ScriptMismatch) {
    let dot: Dot?
    do { dot = try body(&peers[i].replica) } catch {
      throw ScriptMismatch("\(what) throws \(error)")
    }
    if dot != nil { try checkRenewal(i) }
    let index = model(&peers[i].model)
    guard let index, let dot else {
      return try agree("\(what) takes a dot", dot != nil, index != nil)
    }
    try agree("dot of \(what)", dot, history.saves[index].dot)
    try recordSave(dot, index, by: i)
    peers[i].chain.append(index)
  }

  /// Checks that a replica takes a new device ID if and only if it received an
  /// unknown save under its own ID.
  mutating func checkRenewal(_ i: Int) throws(ScriptMismatch) {
    let (old, device) = (peers[i].model.device, peers[i].replica.device)
    if device == old {
      return try agree(
        "\(old) needs a new device ID", peers[i].needsNewDeviceID, false)
    }
    // The first replica that detects a copied storage replaces the device ID of
    // a server. Then every other replica with that ID does so.
    let isUsedTwice = peers[i].model.ours.contains {
      firstCollisions[$0] != nil || exposed.contains($0)
        || $0 != old && suspects.contains($0)
    }
    try agree(
      "\(old) is replaced without need",
      peers[i].needsNewDeviceID || isUsedTwice, true)
    try checkUnused(device)
    peers[i].model.become(device)
    peers[i].startAnew()
  }

  /// Records a save of a device.
  mutating func recordSave(
    _ dot: Dot, _ index: Int, by i: Int
  ) throws(ScriptMismatch) {
    if dot.sequence <= peers[i].shownOwn[dot.device] {
      throw ScriptMismatch("law 11: \(dot) had been shown to its author")
    }
    claim(dot, for: index)
    peers[i].authored.insert(index)
    if !dot.device.isImport {
      peers[i].ownDevices.insert(dot.device)
      try checkOwnDevices(i)
    }
    if unlisted.contains(dot.device) { hasPurgeLaw = false }
    authorClocks[index] = peers[i].model.clock
    touched.formUnion(history.saves[index].edits.keys.map(\.record))
    counts.saves += 1
  }

  /// Records the save of a dot, and whether another save has the same dot.
  mutating func claim(_ dot: Dot, for index: Int) {
    if indices[dot, default: []].insert(index).inserted,
      indices[dot, default: []].count == 2
    {
      collisions.insert(dot)
      // A backup of an abandoned history restores that history under the same
      // ID.
      suspects.insert(dot.device)
      firstCollisions[dot.device] = min(
        dot.sequence, firstCollisions[dot.device] ?? .max)
      counts.collisions += 1
    }
    for (dot, indices) in indices
    where !collisions.isEmpty && isUndecidable(dot) {
      for index in indices {
        undecidable.formUnion(history.saves[index].edits.keys.map(\.record))
      }
    }
  }
}

extension World.Peer {
  /// Prepares for a new device ID.
  mutating func startAnew() {
    (shownOwn, needsNewDeviceID, chain) = (VectorClock(), false, [])
  }
}
