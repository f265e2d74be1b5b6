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
  /// Only what a retired device saved after its last known save counts: values it
  /// wrote, elements it added or removed, amounts it counted or entered, and
  /// records it deleted; resets and cancellations are left out. Entering the same
  /// saves once more does nothing, also on another replica that has heard of it.
  /// Let one replica do it: two that do it at the same time count twice.
  ///
  /// - Throws: ``SaveError``; nothing has changed then.
  @discardableResult
  public func readmit(_ delta: Delta) throws(SaveError) -> SaveReport {
    let latest = delta.latest
    let late = devices(in: BuiltIn.retirement).map { retired, record in
      LateSaves(
        device: retired,
        last: numbers(in: record, BuiltIn.readmitted)
          .reduce(finalSave(of: retired), Replica.greater))
    }.filter { $0.device != device && latest[$0.device] > $0.last }
    let report = try save { edit in
      for saves in late {
        edit.readmit(delta, saves)
        edit.enter(
          latest[saves.device], in: BuiltIn.readmitted, of: saves.device)
      }
    }
    let entered = delta.packed.encoded()
    stored.aside.removeAll { $0.encoded() == entered }
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
  fileprivate func readmit(_ delta: Delta, _ late: LateSaves) {
    for change in delta.changes where !BuiltIn.isBuiltIn(change.id.entity) {
      if case .write(.bool(false))? = change.fields[.existence]?
        .edit(of: late, beyond: FieldState(.register))
      {
        delete(change.id)
        continue
      }
      for (key, theirs) in change.fields.sorted(by: { $0.key < $1.key })
      where key != .existence && theirs.clock[late.device] > late.last {
        let mine = replica.state(of: key, in: change.id)
        if let edit = theirs.edit(
          of: late, beyond: mine ?? FieldState(key.kind))
        {
          apply(edit, to: key, of: change.id, observed: theirs)
        }
      }
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
      writes.last { late.contains($0.dot) }.map { .write($0.payload.value) }
    case (.counter(let mine), .counter(let theirs)):
      .count(theirs.store.edit(of: late, beyond: mine.store))
    case (.set(let mine), .set(let theirs)):
      .members(theirs.store.edit(of: late, beyond: mine.store))
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

extension DotMap<Presence> {
  /// What is not here was removed, or not seen: such a removal has no effect.
  fileprivate func edit(of late: LateSaves, beyond mine: Self) -> SetEdit {
    let added = elements.filter { element in
      self[element].contains { late.contains($0.dot) }
    }
    let removed = mine.elements.filter { !contains($0) }
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
