//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

extension Replica {
  /// Enters the edits of a message that was kept aside again, as a save of this
  /// device.
  ///
  /// Only what the retired device saved after its last known save counts: values
  /// it wrote, elements it added or removed, amounts it counted or entered, and
  /// records it deleted.
  ///
  /// - Throws: ``SaveError``; nothing has changed then.
  @discardableResult
  public func readmit(_ delta: Delta) throws(SaveError) -> SaveReport {
    guard let retired = retiredDevice(beyondFinal: delta) else {
      apply(delta)
      return SaveReport()
    }
    let last = finalSave(of: retired)
    let report = try save { edit in
      for change in delta.changes
      where !BuiltIn.isBuiltIn(change.id.entity) {
        for (key, state) in change.fields.sorted(by: { $0.key < $1.key })
        where state.clock[retired] > last {
          edit.readmit(
            state, of: retired, after: last, at: key, of: change.id)
        }
      }
    }
    stored.aside.removeAll { $0 == delta }
    return report
  }

  /// A field as this replica holds it.
  func state(of key: FieldKey, in id: RecordID) -> FieldState? {
    guard let position = stored.positions[id],
      let number = stored.names.number(of: key)
    else { return nil }
    return stored.records[position][number]
  }
}

extension Edit {
  fileprivate func readmit(
    _ theirs: FieldState, of retired: DeviceID, after last: UInt64,
    at key: FieldKey, of id: RecordID
  ) {
    let mine = replica.state(of: key, in: id) ?? FieldState(key.kind)
    let late = LateSaves(device: retired, last: last)
    guard let edit = theirs.edit(of: late, beyond: mine) else { return }
    if key != .existence {
      apply(edit, to: key, of: id, observed: theirs)
    } else if edit == .write(.bool(false)) {
      delete(id)
    }
  }
}

/// The saves of a retired device after its last known one.
private struct LateSaves: DotSet {
  let device: DeviceID
  let last: UInt64

  func contains(_ dot: Dot) -> Bool { dot.device == device && dot.n > last }
}

extension FieldState {
  /// What late saves did to a field that is otherwise as in `mine`.
  fileprivate func edit(
    of late: LateSaves, beyond mine: FieldState
  ) -> FieldEdit? {
    switch (mine, self) {
    case (_, .register), (_, .lww):
      write.flatMap { late.contains($0.dot) ? .write($0.payload.value) : nil }
    case (.counter(let mine), .counter(let theirs)):
      .count(theirs.store.edit(of: late, beyond: mine.store))
    case (.set(let mine), .set(let theirs)):
      .members(theirs.edit(of: late, beyond: mine))
    case (_, .removeWinsSet(let theirs)):
      .members(theirs.store.edit(of: late))
    case (_, .ledger(let theirs)):
      .append(theirs.store.edit(of: late))
    default: nil
    }
  }
}

extension Tally {
  fileprivate func edit(of late: LateSaves, beyond mine: Tally) -> CounterEdit {
    let (old, new) = (mine.entry(of: late.device), entry(of: late.device))
    var edit = CounterEdit()
    edit.increments = new.increments - min(old.increments, new.increments)
    edit.decrements = new.decrements - min(old.decrements, new.decrements)
    return edit
  }
}

extension Causal<DotMap<Presence>> {
  fileprivate func edit(of late: LateSaves, beyond mine: Self) -> SetEdit {
    let added = store.elements.filter { element in
      store[element].contains { late.contains($0.dot) }
    }
    let removed = mine.store.elements.filter { element in
      !store.contains(element)
        && mine.store[element].allSatisfy { context.contains($0.dot) }
    }
    return SetEdit(inserting: added, removing: removed)
  }
}

extension DotMap<Membership> {
  fileprivate func edit(of late: LateSaves) -> SetEdit {
    var edit = SetEdit()
    for (element, marks) in siblings {
      if let mark = marks.last(where: { late.contains($0.dot) }) {
        edit.members[element] = mark.payload == .added
      }
    }
    return edit
  }
}

extension LedgerLines {
  fileprivate func edit(of late: LateSaves) -> LedgerEdit {
    var edit = LedgerEdit()
    let line = lines[late.device] ?? LedgerLine()
    for entry in line.tail where entry.n > late.last {
      edit.append(entry.amount, memo: entry.memo)
    }
    return edit
  }
}
