// SPDX-License-Identifier: Apache-2.0

extension Transaction {
  /// A save that takes back what an earlier one has changed.
  package convenience init(undoing undo: SaveUndo, on replica: Replica) {
    self.init(replica)
    isUndoable = true
    undone = undo.dot
    let records = Dictionary(grouping: undo.changes, by: \.key.record)
    for (id, changes) in records.sorted(by: { $0.key < $1.key }) {
      takeBack(changes, of: id, madeBy: undo.dot)
    }
  }

  private func takeBack(
    _ changes: [(key: SaveUndo.Place, value: SaveUndo.Change)],
    of id: RecordID, madeBy save: Dot?
  ) {
    let rule = replica.schema.deletionIfEditable(id.entity)
    var fields: [FieldKey: FieldUndoing] = [:]
    for (place, change) in changes {
      var field = fields[place.field] ?? FieldUndoing(place.field.kind)
      // A restored backup, or another replica, may lack the save.
      if let rule, let dot = change.dot ?? save,
        dot.sequence <= replica.stored.version[dot.device].sequence
      {
        field.take(
          change, of: place.element,
          from: replica.stored.content(of: place, deletion: rule),
          as: replica.device)
      } else {
        field.isLeft = true
      }
      fields[place.field] = field
    }
    decide(on: id, rule, &fields)
    for (key, field) in fields {
      if field.isLeft { left.append(.init(record: id, field: key)) }
      pend(field, of: key, in: id)
    }
    left.sort { ($0.record, $0.field) < ($1.record, $1.field) }
  }

  /// Decides whether a record is there after its fields have been edited.
  private func decide(
    on id: RecordID, _ rule: DeletionRule?,
    _ fields: inout [FieldKey: FieldUndoing]
  ) {
    var existence = fields[.existence] ?? FieldUndoing(.register)
    let marks = replica.stored.positions[id].map {
      replica.stored.records[$0].marks
    }
    let others = Siblings(
      sorted: (marks ?? Siblings()).filter {
        $0.dot != existence.retraction?.dot
      })
    let isThere = rule.map(others.exists) ?? false
    if existence.isEmpty, !isThere {
      // Nobody would see it.
      for key in fields.keys where key != .existence {
        fields[key] = FieldUndoing(key.kind, isLeft: true)
      }
    } else if existence.edit == nil {
      let isEdited = fields.contains { $0 != .existence && !$1.isEmpty }
      // An edit keeps a record that is there against concurrent deletions. A
      // record without any mark cannot be.
      if others.isEmpty || isEdited && isThere {
        existence.edit = .write(.bool(isThere))
        existence.retraction = existence.retraction ?? Retraction()
        fields[.existence] = existence
      }
    }
  }

  private func pend(
    _ field: FieldUndoing, of key: FieldKey, in id: RecordID
  ) {
    if field.isEmpty { return }
    let name = replica.stored.names.intern(key)
    change(id) { record in
      record.retractions[name] = field.retraction
      switch field.edit {
      case .write(let value)? where key == .existence:
        record.mark = value == .bool(true)
      case let edit?:
        // There is no other of this field to add it to.
        _ = record.add(edit.canonical, to: name, of: key.kind)
      case nil: break
      }
    }
  }
}

/// What undoing a save does to a field.
private struct FieldUndoing {
  private let kind: FieldKind
  var edit: FieldEdit?
  var retraction: Retraction?
  /// Whether something stays as it is.
  var isLeft: Bool

  init(_ kind: FieldKind, isLeft: Bool = false) {
    (self.kind, self.isLeft) = (kind, isLeft)
  }

  /// Whether there is nothing to do.
  var isEmpty: Bool { edit == nil && retraction == nil }

  /// Adds what takes a change back, if it is still there.
  mutating func take(
    _ change: SaveUndo.Change, of element: Value?, from now: PlaceContent,
    as device: DeviceID
  ) {
    switch (now, change.before) {
    case (.siblings(let now), let before):
      take(change, over: before, of: element, from: now)
    case (.tally(let tally), .amount(let amount)?):
      guard let dot = change.dot,
        tally.cancelled.entry(of: dot.device)?.sequence ?? 0 < dot.sequence,
        let increments = UInt64(exactly: max(amount, 0)),
        let decrements = UInt64(exactly: max(-amount, 0)),
        tally.canAdd(increments, decrements, by: device)
      else { return isLeft = true }
      var opposite = CounterEdit()
      (opposite.increments, opposite.decrements) = (increments, decrements)
      edit = .count(opposite)
    case (.ledger(let ledger), .entries(let entries)?):
      guard let dot = change.dot,
        ledger.lines[dot.device]?.cancelled ?? 0 < change.line
      else { return isLeft = true }
      var opposite = LedgerEdit()
      for entry in entries { opposite.append(entry.amount, memo: entry.memo) }
      edit = .append(opposite)
    default: isLeft = true
    }
  }

  private mutating func take(
    _ change: SaveUndo.Change, over before: SaveUndo.Before?,
    of element: Value?, from now: PlaceSiblings
  ) {
    let there = Set(now.all.map(\.dot))
    let isThere = change.dot.map(there.contains) ?? true
    let others = there.subtracting(change.dot.map { [$0] } ?? [])
    if isThere, case .value(let value)? = before,
      others.isSubset(of: change.beside)
    {
      put(value, over: change.dot, element)
    } else if isThere, let dot = change.dot {
      put(nil, over: dot, element)
    } else if case .value(let value)? = before {
      // It may be shown all the same.
      isLeft = isLeft || value != now.value
    } else {
      isLeft = isLeft || PlaceSiblings([], now.rule).value != now.value
    }
  }

  /// Replaces what the save has left, which is under a dot, if there is anything.
  ///
  /// - Parameter value: `nil` if nothing takes its place.
  private mutating func put(_ value: Value??, over dot: Dot?, _ element: Value?) {
    if kind == .lww { return edit = .write(value ?? nil) }
    var retraction = retraction ?? Retraction()
    if let element {
      retraction.elements[element] = dot
      if let value {
        var members = SetEdit()
        if case .members(let edit) = edit { members = edit }
        edit = nil
        members.members[element] = value == .bool(true)
        edit = .members(members)
      }
    } else {
      retraction.dot = dot
      if let value { edit = .write(value) }
    }
    self.retraction = retraction
  }
}

extension Transaction {
  /// What an undoing does to a record, for those who check it.
  package struct Undoing: Sendable {
    /// The mark that it writes, if any.
    package let mark: Bool?
    package let edits: [FieldKey: FieldEdit]
    package let retractions: [FieldKey: Retraction]
  }

  /// What an undoing does.
  package var undoings: [RecordID: Undoing] {
    let names = replica.stored.names
    var result: [RecordID: Undoing] = [:]
    for entry in pending.entries {
      let record = entry.content
      result[entry.key] = Undoing(
        mark: record.mark,
        edits: Dictionary(
          uniqueKeysWithValues: record.edits(named: names)
            .map { ($0.key, $0.edit) }),
        retractions: Dictionary(
          uniqueKeysWithValues: record.retractions.map { (names[$0], $1) }))
    }
    return result
  }
}
