// SPDX-License-Identifier: Apache-2.0
import Rejoin

// The actions of a user on a device.
extension SimulationPlanner {
  mutating func use(_ i: Int) {
    if let end = absences[i], end > now {
      return timeline.plan(.session(i), at: end)
    }
    planSession(of: i)
    if random.chance(percent: faults.absences) { return leave(i) }
    if random.chance(percent: faults.crashes) { crash(i) }
    if random.chance(percent: faults.rows) { bringIn(on: i) }
    for _ in 0...random.number(below: 2) {
      if random.chance(percent: 20) {
        fetch(on: i)
      } else {
        add(.save(on: i, verbs.verbs()), by: i)
      }
    }
    while random.chance(percent: faults.undoings) {
      if random.chance(percent: 30) { cancel(on: i) }
      keepHouse(on: i, about: random.pick(universe.records))
      add(.undo(on: i, again: random.chance(percent: 30)), by: i)
    }
    keepHouse(on: i)
    suffer(i)
    if faults.crashes > 0, random.chance(percent: 40) { store(i) }
    for _ in 0...random.number(below: 3) { sendChanges(from: i) }
  }

  /// Cancels the counters and the ledgers of a record, possibly by creating it
  /// again.
  private mutating func cancel(on i: Int) {
    let id = random.pick(universe.records)
    let resets = universe.fields.compactMap { key in
      key.kind.canceling.map { ScriptVerb.edit(id, key, $0) }
    }
    add(
      .save(
        on: i, random.chance(percent: 40) ? [.delete(id), .touch(id)] : resets),
      by: i)
  }

  /// Takes a device offline for up to a week, or for up to 200 days.
  private mutating func leave(_ i: Int) {
    let days = random.chance(percent: 70) ? 7 : 200
    absences[i] = later(upTo: Int64(days) * Self.day)
  }

  private mutating func fetch(on i: Int) {
    let k = contexts
    contexts += 1
    let id = random.pick(universe.records)
    add(.fetch(on: i, id, context: k), by: i)
    let span = random.chance(percent: 60) ? Self.minute : 10 * Self.day
    timeline.plan(.commit(context: k, on: i, id), at: later(upTo: span))
  }

  mutating func commit(_ k: Int, on i: Int, about id: RecordID) {
    keepHouse(on: i, about: id)
    if random.chance(percent: 15) {
      return add(.discard(context: k, with: verbs.company()), by: i)
    }
    var edits: [FieldKey: FieldEdit] = [:]
    for _ in 0...random.number(below: 2) {
      let key = random.pick(universe.fields)
      edits[key] = verbs.edit(of: key.kind)
    }
    add(.commit(context: k, edits, with: verbs.company()), by: i)
  }

  private mutating func keepHouse(on i: Int) {
    if random.chance(percent: 8) {
      let id = random.pick(universe.records)
      add(.save(on: i, [.undelete(id)]), by: i)
    }
    if random.chance(percent: 3), deviceCount > 1 {
      add(.mislead(i, with: (i + 1) % deviceCount), by: i)
    }
    guard faults.housekeeping > 0, random.chance(percent: 25) else { return }
    add(random.chance(percent: 70) ? .purge(i) : .fold(i), by: i)
  }

  /// Adds purges and retirements before an edit or undo of a record.
  private mutating func keepHouse(on i: Int, about id: RecordID) {
    if faults.housekeeping == 0 { return }
    for step in verbs.housekeeping(
      on: i, of: deviceCount, about: id, at: now)
    {
      add(step, by: i)
    }
  }

  /// Imports rows that every device has, or pulls the rows of a server.
  private mutating func bringIn(on i: Int) {
    let reading = clocks[i].read(at: now, &random)
    add(
      random.chance(percent: 40)
        ? .bringIn(on: i, verbs.rows()) : verbs.pull(on: i, at: reading), by: i)
  }

  /// Stores a device's state and then its token, as required before a send,
  /// unless the device crashes in between.
  private mutating func store(_ i: Int) {
    lastBackups[i] = backups
    backups += 1
    add(.backUp(i, as: lastBackups[i] ?? 0), by: i)
    if random.chance(percent: 80) { add(.storeToken(i), by: i) }
  }

  /// Reopens a device as it was, or with its last stored state and token.
  private mutating func crash(_ i: Int) {
    guard let k = lastBackups[i], random.chance(percent: 70) else {
      return add(.reopen(i), by: i)
    }
    add(.restore(i, from: k, with: .last), by: i)
  }

  /// Adds faults of a device's storage or identity.
  private mutating func suffer(_ i: Int) {
    if random.chance(percent: faults.restores) {
      backUp(i, with: random.chance(percent: 65) ? .lost : .last)
    }
    if random.chance(percent: faults.unnoticedRestores) {
      backUp(i, with: .fitting)
    }
    if random.chance(percent: faults.clones), deviceCount < 12 {
      add(.fork(i), by: i)
      addDevice()
    }
    if random.chance(percent: faults.retirements) {
      add(.retire(on: i, other(than: i)), by: i)
    }
  }

  /// Backs up a device, and plans the restore of the backup within five days.
  ///
  /// An undetected restore can happen on another device, which then continues
  /// under the same device ID.
  private mutating func backUp(_ i: Int, with token: ScriptToken) {
    let k = backups
    backups += 1
    add(.backUp(i, as: k), by: i)
    let isCopied = token == .fitting && random.chance(percent: 30)
    let j = isCopied ? other(than: i) : i
    timeline.plan(
      .restore(j, from: k, with: token),
      at: later(upTo: 5 * Self.day))
  }

  mutating func other(than i: Int) -> Int {
    (i + 1 + random.number(below: deviceCount - 1)) % deviceCount
  }
}
