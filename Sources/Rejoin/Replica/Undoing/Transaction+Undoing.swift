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
