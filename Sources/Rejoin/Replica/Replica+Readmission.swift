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
    switch (mine, theirs) {
    case (_, .register(let field)):
      guard let write = field.store.winner, write.dot.device == retired,
        write.dot.n > last
      else { return }
      if key != .existence {
        apply(.write(write.payload.value), to: key, of: id, observed: theirs)
      } else if write.payload.value == .bool(false) {
        delete(id)
      }
    case (_, .lww(let field)):
      guard let write = field.store.write, write.dot.device == retired,
        write.dot.n > last
      else { return }
      apply(.write(write.payload.value), to: key, of: id)
    case (.counter(let mine), .counter(let theirs)):
      let (old, new) = (
        mine.store.entry(of: retired), theirs.store.entry(of: retired)
      )
      var change = CounterEdit()
      change.increments = new.increments - min(old.increments, new.increments)
      change.decrements = new.decrements - min(old.decrements, new.decrements)
      apply(.count(change), to: key, of: id)
    case (.set(let mine), .set(let theirs)):
      let (old, new) = (mine.store.elements, theirs.store.elements)
      let added = new.filter { element in
        theirs.store[element].contains {
          $0.dot.device == retired && $0.dot.n > last
        }
      }
      let removed = old.filter { element in
        !theirs.store.contains(element)
          && mine.store[element].allSatisfy { theirs.clock.contains($0.dot) }
      }
      apply(
        .members(SetEdit(inserting: added, removing: removed)), to: key, of: id)
    case (_, .removeWinsSet(let theirs)):
      var change = SetEdit()
      for (element, marks) in theirs.store.siblings {
        for mark in marks
        where mark.dot.device == retired && mark.dot.n > last {
          change.members[element] = mark.payload == .added
        }
      }
      apply(.members(change), to: key, of: id)
    case (.ledger(let mine), .ledger(let theirs)):
      var change = LedgerEdit()
      let known = mine.store.lines[retired]?.count ?? 0
      let line = theirs.store.lines[retired] ?? LedgerLine()
      for entry in line.tail.dropFirst(
        Int(clamping: known - min(known, line.folded)))
      {
        change.append(entry.amount, memo: entry.memo)
      }
      apply(.append(change), to: key, of: id)
    default: break
    }
  }
}
