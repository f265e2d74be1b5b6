// SPDX-License-Identifier: Apache-2.0

// What a save is about to change.
extension SaveUndo {
  /// Finds out what a save is about to change.
  init(_ transaction: Transaction, at dot: Dot?) {
    self.init(dot: dot, undone: transaction.undone)
    guard let dot else { return }
    let stored = transaction.replica.stored
    for entry in transaction.pending.entries {
      let (id, edited) = (entry.key, entry.content)
      guard let mark = edited.mark, !BuiltIn.isBuiltIn(id.entity) else {
        continue
      }
      let position = stored.positions[id]
      let state = position.map { stored.records[$0] }
      let rule = transaction.replica.schema.deletion(of: id.entity)
      changes[Place(record: id, field: .existence)] = Change(
        dot: dot, before: .existence(state?.exists(rule) ?? false, now: mark),
        superseded: .dots(
          state?.marks.dots(in: edited.observed[.existence]?.clock) ?? []))
      let fields =
        position.map { stored.fieldsToChange(edited, at: $0) }
        ?? edited.edits.entries.map { ($0.key, $0.content) }
      for (name, edit) in fields {
        let key = stored.names[name]
        let field = EditedField(
          record: id, key: key, edit: edit, drops: edited.drops,
          now: state?[name] ?? FieldState(key.kind),
          observed: edited.observed[key], dot: dot)
        changes.merge(field.changes) { $1 }
      }
    }
  }
}

/// A field that a save is about to edit.
private struct EditedField {
  let record: RecordID
  let key: FieldKey
  /// The edit; `nil` if the field is only dropped.
  let edit: FieldEdit?
  /// Whether the save drops what was there before its edit.
  let drops: Bool
  let now: FieldState
  /// The field as its author was shown it; `nil` if that is how it is now.
  let observed: FieldState?
  let dot: Dot

  var changes: [SaveUndo.Place: SaveUndo.Change] {
    var place = SaveUndo.Place(record: record, field: key)
    switch now {
    case .register(let field):
      return [
        place: change(
          .value(now.value, isDropped: edit == nil),
          .dots(field.store.dots(in: observed?.clock)))
      ]
    case .lww(let field):
      return [
        place: change(
          .value(now.value, isDropped: edit == nil),
          .dots(field.store.write.map { [$0.dot] } ?? []))
      ]
    case .counter(let field): return [place: counted(field.store)]
    case .ledger(let field): return [place: appended(field.store)]
    case .set, .removeWinsSet:
      var changes: [SaveUndo.Place: SaveUndo.Change] = [:]
      for (element, isIn) in members {
        let marks = now.marks(of: element)
        place.element = element
        changes[place] = change(
          .isIn(marks.isIn, now: isIn),
          .dots(marks.dots.filter { observed?.clock.contains($0) ?? true }))
      }
      return changes
    }
  }

  private func change(
    _ before: SaveUndo.Before, _ superseded: SaveUndo.Superseded
  ) -> SaveUndo.Change {
    SaveUndo.Change(dot: dot, before: before, superseded: superseded)
  }

  private func counted(_ tally: Tally) -> SaveUndo.Change {
    var edit = CounterEdit()
    if case .count(let new) = self.edit { edit = new }
    let cancels = drops || edit.isReset
    let back = cancels ? Int128((observed ?? now).count) : 0
    let amount = back + Int128(edit.decrements) - Int128(edit.increments)
    var opposite = CounterEdit()
    opposite.increments = UInt64(clamping: max(amount, 0))
    opposite.decrements = UInt64(clamping: max(-amount, 0))
    let all = cancels ? VectorClock(tally.entries) : VectorClock()
    return change(
      .count(opposite),
      .sums(cancelled: VectorClock(tally.cancelled), all: all))
  }

  private func appended(_ ledger: LedgerLines) -> SaveUndo.Change {
    var edit = LedgerEdit()
    if case .append(let new) = self.edit { edit = new }
    let cancels = drops || edit.isCancelled
    var opposite = LedgerEdit()
    for entry in edit.entries {
      opposite.append(opposing: entry.amount, memo: entry.memo)
    }
    let back = cancels ? (observed ?? now).total : 0
    if back != 0 { opposite.append(back, memo: nil) }
    var (cancelled, all) = (VectorClock(), VectorClock())
    for (device, line) in cancels ? ledger.lines : [:] {
      if line.cancelled > 0 { cancelled.insert(Dot(device, line.cancelled)) }
      all.insert(Dot(device, line.count))
    }
    let first = (ledger.lines[dot.device]?.count ?? 0) + 1
    return SaveUndo.Change(
      dot: Dot(dot.device, first), before: .append(opposite),
      superseded: .sums(cancelled: cancelled, all: all))
  }

  /// The elements that are inserted, removed or dropped, and whether they are in
  /// the set after it.
  private var members: [Value: Bool] {
    var edit = SetEdit()
    if case .members(let new) = self.edit { edit = new }
    var members = edit.members
    for element in drops || edit.isCleared ? now.elements : []
    where members[element] == nil {
      members[element] = false
    }
    return members
  }
}

extension VectorClock {
  /// The last change of each device.
  fileprivate init(_ entries: [Tally.Entry]) {
    self.init()
    for entry in entries { insert(Dot(entry.device, entry.sequence)) }
  }
}

extension Siblings {
  /// The dots in a clock; all, if there is none.
  fileprivate func dots(in clock: VectorClock?) -> [Dot] {
    map(\.dot).filter { clock?.contains($0) ?? true }
  }
}

extension FieldState {
  /// Whether an element is in a set, and the saves that say so or deny it.
  fileprivate func marks(of element: Value) -> (isIn: Bool, dots: [Dot]) {
    switch self {
    case .set(let field):
      let dots = field.store[element].map(\.dot)
      return (!dots.isEmpty, dots)
    case .removeWinsSet(let field):
      return (
        field.store.contains(element), field.store[element].map(\.dot)
      )
    case .register, .lww, .counter, .ledger: return (false, [])
    }
  }
}

extension LedgerEdit {
  fileprivate mutating func append(opposing amount: Int64, memo: Value?) {
    // The least number has no opposite.
    if amount == .min { append(1, memo: memo) }
    append(-max(amount, -.max), memo: memo)
  }
}
