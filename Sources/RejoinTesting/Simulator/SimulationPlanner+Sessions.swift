//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//
import Rejoin

// What somebody does with a device.
extension SimulationPlanner {
  mutating func use(_ i: Int) {
    if let end = absences[i], end > now {
      return timeline.plan(.session(i), at: end)
    }
    planSession(of: i)
    if random.chance(faults.absences) { return leave(i) }
    if random.chance(faults.crashes) { add(.reopen(i), by: i) }
    for _ in 0...random.below(2) {
      if random.chance(20) {
        fetch(on: i)
      } else {
        add(.save(on: i, verbs.verbs()), by: i)
      }
    }
    keepHouse(on: i)
    suffer(i)
    for _ in 0...random.below(3) { tell(from: i) }
  }

  /// A device is away for a week, or for months.
  private mutating func leave(_ i: Int) {
    let days = random.chance(70) ? 7 : 200
    absences[i] = later(upTo: Int64(days) * Self.day)
  }

  private mutating func fetch(on i: Int) {
    let k = contexts
    contexts += 1
    add(.fetch(on: i, random.pick(universe.records), context: k), by: i)
    let span = random.chance(60) ? Self.minute : 10 * Self.day
    timeline.plan(.commit(context: k, on: i), at: later(upTo: span))
  }

  mutating func commit(_ k: Int, on i: Int) {
    var edits: [FieldKey: FieldEdit] = [:]
    for _ in 0...random.below(2) {
      let key = random.pick(universe.fields)
      edits[key] = verbs.edit(of: key.kind)
    }
    add(.commit(context: k, edits), by: i)
  }

  private mutating func keepHouse(on i: Int) {
    guard random.chance(faults.housekeeping) else { return }
    add(random.chance(50) ? .purge(i) : .fold(i), by: i)
  }

  /// What happens to the storage or the name of a device.
  private mutating func suffer(_ i: Int) {
    if random.chance(faults.restores) { backUp(i, isNoticed: true) }
    if random.chance(faults.unnoticedRestores) {
      backUp(i, isNoticed: false)
    }
    if random.chance(faults.clones), deviceCount < 12 {
      add(.fork(i), by: i)
      addDevice()
    }
    if random.chance(faults.retirements) {
      add(.retire(on: i, other(than: i)), by: i)
    }
  }

  /// A device is backed up, and the backup is put back days later; unnoticed also
  /// on another machine, where it goes on under the same name.
  private mutating func backUp(_ i: Int, isNoticed: Bool) {
    let k = backups
    backups += 1
    add(.backUp(i, as: k), by: i)
    let isCopied = !isNoticed && random.chance(30)
    let j = isCopied ? other(than: i) : i
    timeline.plan(
      .restore(j, from: k, isNoticed: isNoticed),
      at: later(upTo: 5 * Self.day))
  }

  mutating func other(than i: Int) -> Int {
    (i + 1 + random.below(deviceCount - 1)) % deviceCount
  }
}
