// SPDX-License-Identifier: Apache-2.0

extension Transaction {
  /// A save that takes back what an earlier one has changed.
  package convenience init(undoing undo: UndoStep, on replica: Replica) {
    self.init(replica)
    isUndoable = true
    undone = undo.dot
    let records = Dictionary(grouping: undo.changes, by: \.key.record)
    for (id, changes) in records.sorted(by: { $0.key < $1.key }) {
      revert(changes, of: id)
    }
    left.sort { ($0.record, $0.field) < ($1.record, $1.field) }
  }

  private func revert(
    _ changes: [(key: UndoStep.Place, value: UndoStep.Change)],
    of id: RecordID
  ) {
    // A decoded undo can come from anywhere, and must not enroll or retire devices.
    // So the library's own records stay, except the memory of a pull, which a save
    // drops when it creates the row's record again.
    let isMemory = id.entity == BuiltIn.pulled
    let rule =
      isMemory ? .updateWins : replica.schema.declaredDeletion(of: id.entity)
    var fields: [FieldKey: FieldUndoing] = [:]
    for (place, change) in changes {
      // A restored backup, or another replica, may lack the save.
      guard let rule, replica.stored.holds(change.save) else {
        fields[place.field, default: FieldUndoing()].isLeft = true
        continue
      }
      let now = replica.stored.content(of: place, deletion: rule)
      fields[place.field, default: FieldUndoing()]
        .take(
          change, of: place.element, from: now,
          in: replica.stored.field(at: place), as: replica.device)
    }
    // If updates win, an edit would bring back a record that is deleted.
    let isMarkLeft = fields[.existence]?.isEmpty ?? true
    let isHidden = isMarkLeft && rule != .deleteWins && !replica.exists(id)
    for (key, field) in fields {
      let isLeft = isHidden && key != .existence
      if field.isLeft || isLeft, !isMemory {
        left.append(.init(record: id, field: key))
      }
      if !isLeft { stage(field, of: key, in: id) }
    }
  }

  private func stage(
    _ field: FieldUndoing, of key: FieldKey, in id: RecordID
  ) {
    if field.isEmpty { return }
    let name = replica.stored.names.intern(key)
    change(id) { record in
      record.retractions[name] = field.retraction
      if let edit = field.edit {
        // There is no other of this field to add it to.
        _ = record.add(edit.canonical, to: name, of: key.kind)
      }
      guard key == .existence else { return }
      record.mark = field.mark
      record.covered = field.covered.map(replica.stored.known)
      record.isPurge = field.isPurge
    }
  }
}

extension Transaction {
  /// What an undoing does to a record, for those who check it.
  package struct Undoing: Sendable {
    /// The mark that it writes, if any.
    package let mark: Bool?
    /// The saves that a deletion covers in addition to itself.
    package let covered: VectorClock?
    /// Whether the deletion is a purge.
    package let isPurge: Bool
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
        mark: record.mark, covered: record.covered,
        isPurge: record.isPurge,
        edits: Dictionary(
          uniqueKeysWithValues: record.edits(named: names)
            .map { ($0.key, $0.edit) }),
        retractions: Dictionary(
          uniqueKeysWithValues: record.retractions.map { (names[$0], $1) }))
    }
    return result
  }
}

extension ReplicaState {
  /// Returns the part of a clock that this replica knows.
  ///
  /// A decoded undo can have any clock. If a deletion covered later saves of a
  /// device than exist, that device would take a new ID.
  fileprivate func known(_ clock: VectorClock) -> VectorClock {
    var known = VectorClock()
    for entry in clock.entries {
      let last = lastKnownSave(of: entry.device)
      known.advance(to: Dot(entry.device, min(entry.count, last)))
    }
    return known
  }

  /// Whether a save is among those that have been applied.
  ///
  /// Of a device that is not this one, only the last save can be told from another of
  /// its number.
  fileprivate func holds(_ save: UndoStep.Point) -> Bool {
    let (device, n) = (save.dot.device, save.dot.sequence)
    let last = version[device]
    if n >= last.sequence {
      return n == last.sequence && save.digest == last.digest
    }
    let digest = device == self.device ? ownDigests[n] : nil
    return digest.map { $0 == save.digest } ?? true
  }
}
