// SPDX-License-Identifier: Apache-2.0

/// What it takes to undo a save, as far as the save has changed anything.
///
/// A ``SaveReport`` has it if the transaction was ``Transaction/isUndoable``.
/// Pass it to ``Transaction/undo(_:)``, or keep it in an ``UndoHistory``, so that
/// earlier saves can be undone after it.
public struct SaveUndo: Hashable, Sendable {
  /// What a save changes at once: a field, or one element of a set.
  struct Place: Hashable, Sendable {
    let record: RecordID
    let field: FieldKey
    var element: Value?
  }

  /// What a save has changed in a place.
  struct Change: Hashable, Sendable {
    /// Where the change is to be found: the dot of the save, or of one that has
    /// since restored it.
    ///
    /// In a ledger it is the number of its first entry, among those of its
    /// device.
    var dot: Dot
    /// What there was before.
    let before: Before
    /// What the save has superseded.
    let superseded: Superseded
  }

  /// What was in a place, or what brings it back.
  enum Before: Hashable, Sendable {
    /// Whether a record existed, and whether the save says that it does.
    case existence(Bool, now: Bool)
    /// What a register showed, and whether the save has only emptied it.
    case value(Value?, isDropped: Bool)
    /// Whether an element was in a set, and whether the save inserts it.
    case isIn(Bool, now: Bool)
    /// The opposite of how a counter was changed.
    case count(CounterEdit)
    /// The opposite of the entries that were appended.
    case append(LedgerEdit)
  }

  /// Changes that are no longer there after a save.
  enum Superseded: Hashable, Sendable {
    /// Writes, marks.
    case dots([Dot])
    /// Changes of a counter or a ledger that nobody had cancelled before.
    case sums(cancelled: VectorClock, all: VectorClock)

    func contains(_ dot: Dot) -> Bool {
      switch self {
      case .dots(let dots): dots.contains(dot)
      case .sums(let cancelled, let all):
        all.contains(dot) && !cancelled.contains(dot)
      }
    }
  }

  /// The save; `nil` if there was nothing to save.
  public let dot: Dot?
  /// The save that this one has undone, if any.
  let undone: Dot?
  fileprivate(set) var changes: [Place: Change] = [:]

  /// Finds out what a save is about to change.
  init(_ transaction: Transaction, at dot: Dot?) {
    (self.dot, undone) = (dot, transaction.undone)
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

extension [SaveUndo] {
  /// Takes into account that the save after these was undone, which brings back what
  /// they have changed, or leaves something else in its place.
  ///
  /// - Parameters:
  ///   - last: The save after these.
  ///   - undo: The save that has undone it.
  /// - Complexity: O(*n* · *c*) for *c* changes of the last one.
  mutating func follow(_ last: SaveUndo, undoneBy undo: SaveUndo) {
    for (place, change) in last.changes {
      let dot = undo.changes[place]?.dot ?? change.dot
      var isFirst = true
      for i in indices.reversed() {
        guard let own = self[i].changes[place] else { continue }
        // What the save before has emptied, the last one has found empty.
        let isFoundEmpty =
          isFirst && own.before.isEmptied && change.superseded == .dots([])
        if isFoundEmpty || change.superseded.contains(own.dot) {
          self[i].changes[place]?.dot = dot
        }
        isFirst = false
      }
    }
  }
}

extension SaveUndo.Before {
  /// Whether the save has left nothing in the place.
  fileprivate var isEmptied: Bool {
    switch self {
    case .value(_, let isDropped): isDropped
    case .isIn(_, let isIn): !isIn
    case .existence, .count, .append: false
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
