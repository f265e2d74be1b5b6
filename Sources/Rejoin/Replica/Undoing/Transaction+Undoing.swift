// SPDX-License-Identifier: Apache-2.0

extension Transaction {
  /// Takes back what an earlier save has changed, as far as it is still there.
  ///
  ///     let report = try phone.save { transaction in
  ///       transaction.isUndoable = true
  ///       transaction[Profile.self, "ada"].name = "Lovelace"
  ///     }
  ///     if let undo = report.undo {
  ///       try phone.save { $0.undo(undo) }
  ///     }
  ///
  /// What others have written concurrently is shown as if the save had not been made:
  /// where a register, the existence of a record or an element of a remove-wins set has
  /// other siblings, what they say is written anew. Of a register that has nothing else,
  /// what it showed before is written. A counter is changed by the opposite amount, and a
  /// ledger gets the opposite entries, unless the change has been cancelled since. A
  /// record that the save has created is deleted, one that it has deleted is restored.
  ///
  /// The save can be undone in its turn, which is to redo. Use an ``UndoHistory`` to
  /// undo several saves, one after another.
  ///
  /// Limits of now, which later versions will not have: what was written anew does not
  /// go when its author undoes it, too; a redo does not bring back what has other
  /// siblings; elements of one set that were restored at different times are taken back
  /// together with marks of their device's contexts in between; edits in contexts that
  /// had not seen all are undone as if they had. Undo on the replica that has made
  /// the save, and in a transaction of its own.
  ///
  /// A state does not tell whether somebody else has removed, reset or superseded the
  /// same as the save; what it brings back comes back all the same. Amounts that are
  /// taken back twice are taken back twice.
  ///
  /// - Returns: The fields of which something stays as it is: because a later save has
  ///   changed what this one wrote, this transaction edits their record, or the record has
  ///   been deleted. For a record that stays it is ``FieldKey/existence``.
  /// - Complexity: O(*c* log *c*) for *c* changes, and their edits.
  @discardableResult
  public func undo(_ undo: SaveUndo) -> [MergeReport.Location] {
    isUndoable = true
    undone = undo.dot
    let records = Dictionary(grouping: undo.changes, by: \.key.record)
    return records.sorted { $0.key < $1.key }.flatMap { id, changes in
      self.undo(changes, of: id).sorted().map { .init(record: id, field: $0) }
    }
  }

  /// - Returns: The fields of which something stays as it is.
  private func undo(
    _ changes: [(key: SaveUndo.Place, value: SaveUndo.Change)],
    of id: RecordID
  ) -> [FieldKey] {
    let fields = Dictionary(grouping: changes, by: \.key.field)
    guard let position = replica.stored.positions[id], pending[id] == nil,
      let existence = fields[.existence]?.first?.value,
      case .existence(let existed, let isAlive) = existence.before
    else { return Array(fields.keys) }
    let state = replica.stored.records[position]
    let rule = replica.schema.deletion(of: id.entity)
    let others = state.marks.without(existence.dot)
    guard others != nil || state.exists(rule) else { return Array(fields.keys) }

    var (edits, left): ([FieldKey: UndoingEdit], Set<FieldKey>) = ([:], [])
    for (key, changes) in fields where key != .existence {
      let now = replica.stored.names.number(of: key).flatMap { state[$0] }
      var edit = UndoingEdit()
      for (place, change) in changes {
        if !edit.take(change, at: place.element, from: now) { left.insert(key) }
      }
      if edit.edit != nil { edits[key] = edit }
    }
    if others == nil, existed != isAlive { left.insert(.existence) }
    // As if there were no mark of the save.
    let isWanted =
      others.map { $0.isEmpty ? existed : Siblings(sorted: $0).exists(rule) }
      ?? true
    let isMarkKept =
      others.map { $0.isEmpty && existed == isAlive } ?? true
    if edits.isEmpty, isMarkKept { return Array(left) }
    change(id) { record in
      record.mark = isWanted
      if others != nil {
        record.observed[.existence] = .seen(VectorClock(existence.dot))
      }
    }
    for (key, edit) in edits {
      guard let new = edit.edit else { continue }
      add(new, to: key, of: id, observed: edit.seen.map(FieldState.seen))
    }
    return Array(left)
  }
}

extension Transaction {
  /// What the save does to a record so far, for those who check it.
  package struct RecordEdits: Sendable {
    package let isAlive: Bool
    package let edits: [FieldKey: FieldEdit]
    /// The saves that the author has seen of some fields; of others it has seen
    /// all that are there.
    package let seen: [FieldKey: VectorClock]
  }

  /// What the save does so far.
  package var edits: [RecordID: RecordEdits] {
    var result: [RecordID: RecordEdits] = [:]
    for entry in pending.entries {
      let edits = entry.content.edits(named: replica.stored.names)
      result[entry.key] = RecordEdits(
        isAlive: entry.content.mark ?? true,
        edits: Dictionary(
          uniqueKeysWithValues: edits.map { ($0.key, $0.edit) }),
        seen: entry.content.observed.mapValues(\.clock))
    }
    return result
  }
}

/// The edit that takes changes of a field back.
private struct UndoingEdit {
  private var whole: FieldEdit?
  private var members = SetEdit()
  /// The changes, if its author must have seen nothing else.
  private(set) var seen: VectorClock?

  /// The edit; `nil` if there is nothing to take back.
  var edit: FieldEdit? {
    whole ?? (members.members.isEmpty ? nil : .members(members))
  }

  /// Adds what takes a change back.
  ///
  /// - Returns: Whether it is still there.
  mutating func take(
    _ change: SaveUndo.Change, at element: Value?, from now: FieldState?
  ) -> Bool {
    let dot = change.dot
    switch (change.before, now) {
    case (.value(let value, let isDropped), .register(let field)):
      if let others = field.store.without(dot) {
        let shown = Siblings(sorted: others).winner
        set(.write(shown.map(\.payload.value) ?? value), dot)
      } else if isDropped, field.store.isEmpty {
        set(.write(value), dot)
      } else {
        return false
      }
    case (.value(let value, _), .lww(let field)):
      guard field.store.write?.dot == dot else { return false }
      whole = .write(value)
    case (.count(let opposite), .counter(let field)):
      let cancelled = field.store.cancelled.entry(of: dot.device)?.sequence
      guard cancelled ?? 0 < dot.sequence else { return false }
      whole = .count(opposite)
    case (.append(let opposite), .ledger(let field)):
      let cancelled = field.store.lines[dot.device]?.cancelled ?? 0
      guard cancelled < dot.sequence else { return false }
      whole = opposite.entries.isEmpty ? nil : .append(opposite)
    case (.isIn(let wasIn, let isIn), .set(let field)):
      guard let element else { return false }
      let marks = field.store[element]
      guard isIn ? marks.without(dot) != nil : marks.isEmpty else {
        return wasIn == isIn
      }
      if wasIn != isIn { put(element, wasIn, dot) }
    case (.isIn(let wasIn, let isIn), .removeWinsSet(let field)):
      guard let element else { return false }
      let marks = field.store[element]
      if let others = marks.without(dot) {
        let isWanted = others.allSatisfy { $0.payload == .added }
        put(element, others.isEmpty ? wasIn : isWanted, dot)
      } else if wasIn, !isIn, marks.isEmpty {
        // The record was created again, which has dropped the element.
        put(element, true, dot)
      } else {
        return wasIn == isIn
      }
    default: return false
    }
    return true
  }

  private mutating func set(_ edit: FieldEdit, _ dot: Dot) {
    whole = edit
    seen = VectorClock(dot)
  }

  private mutating func put(_ element: Value, _ isIn: Bool, _ dot: Dot) {
    members.members[element] = isIn
    seen = seen ?? VectorClock()
    seen?.insert(dot)
  }
}

extension FieldState {
  /// What an author has seen who has seen some saves.
  fileprivate static func seen(_ clock: VectorClock) -> FieldState {
    .register(Causal(Siblings(), clock))
  }
}

extension Siblings {
  /// The others, without that of a save.
  ///
  /// - Returns: `nil` if the save has none, or if there is one of an earlier save of
  ///   its device, which could not be kept.
  fileprivate func without(_ dot: Dot) -> [Element]? {
    guard contains(where: { $0.dot == dot }) else { return nil }
    let others = filter { $0.dot != dot }
    let isAlone = !others.contains {
      $0.dot.device == dot.device && $0.dot.sequence < dot.sequence
    }
    return isAlone ? others : nil
  }
}
