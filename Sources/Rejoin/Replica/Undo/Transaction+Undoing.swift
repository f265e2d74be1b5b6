// SPDX-License-Identifier: Apache-2.0

extension Transaction {
  /// Creates a save that undoes an earlier one.
  package convenience init(undoing undo: UndoStep, on replica: Replica) {
    self.init(replica)
    isUndoable = true
    undone = undo.dot
    let records = Dictionary(grouping: undo.changes, by: \.0.record)
    for (id, changes) in records.sorted(by: { $0.key < $1.key }) {
      revert(changes, of: id)
    }
    left.sort { ($0.record, $0.field) < ($1.record, $1.field) }
  }

  private func revert(
    _ changes: [(UndoStep.Place, UndoStep.Change)], of id: RecordID
  ) {
    // A decoded undo can come from any source and must not enroll or retire
    // devices, so the library's own records stay. The exception is the memory
    // of a pull, which a save drops when it creates the row's record again.
    let isMemory = id.entity == BuiltIn.pulled
    let rule =
      isMemory ? .updateWins : replica.schema.declaredDeletion(of: id.entity)
    var fields: [FieldKey: FieldUndoing] = [:]
    for (place, change) in changes {
      // A restored backup, or another replica, may lack the save.
      guard let rule, replica.current.holds(change.save) else {
        fields[place.field, default: FieldUndoing()].isLeft = true
        continue
      }
      let found = replica.current.find(place)
      let now = replica.current.content(of: found, deletion: rule)
      fields[place.field, default: FieldUndoing()]
        .take(
          change, of: place.element, from: now,
          in: replica.current.field(at: found), as: replica.device)
    }
    // If updates win, an edit would restore a deleted record. If deletions win,
    // it changes what the record hides, but a purge drops that.
    let isMarkLeft = fields[.existence]?.isEmpty ?? true
    let isHidden =
      isMarkLeft && !replica.exists(id)
      && (rule != .deleteWins || replica.isPurged(id))
    for (key, field) in fields {
      let isLeft = isHidden && key != .existence
      if field.isLeft || isLeft, !isMemory {
        left.append(.init(record: id, field: key))
      }
      if !isLeft { stage(field, of: key, in: id) }
    }
    if !isHidden { listSets(hiding: fields, of: id) }
  }

  /// Lists the sets that hide what the undo returns to an older field.
  ///
  /// A set shows an older field only until a save edits the set. An undo of that
  /// save returns the elements itself.
  private func listSets(
    hiding fields: [FieldKey: FieldUndoing], of id: RecordID
  ) {
    guard let undone else { return }
    let definition = replica.schema[id.entity]
    // Two older fields can have the name of one set.
    var sets: Set<FieldKey> = []
    for (older, field) in fields
    where definition.olderFields.contains(older) && !field.isEmpty {
      guard let key = definition.field(named: older.name), key.kind == .set,
        fields[key] == nil,
        let saves = replica.current.state(of: key, in: id)?.clock.entries,
        saves.contains(where: {
          $0.device != undone.device || $0.count > undone.sequence
        })
      else { continue }
      sets.insert(key)
    }
    left += sets.map { FieldLocation(record: id, field: $0) }
  }

  private func stage(
    _ field: FieldUndoing, of key: FieldKey, in id: RecordID
  ) {
    if field.isEmpty { return }
    let name = replica.current.names.intern(key)
    change(id) { record in
      record.retractions[name] = field.retraction
      if let edit = field.edit {
        // The save has no other edit of this field, so this cannot overflow.
        _ = record.add(edit.canonical, to: name, of: key.kind)
      }
      guard key == .existence else { return }
      record.mark = field.mark.map { $0 ? .alive : .deletion }
      record.covered = field.covered.map(replica.current.known)
      record.isFinal = field.isFinal
    }
  }
}

extension Transaction {
  /// The effect of an undo on one record, for callers that check it.
  package struct Undoing: Sendable {
    /// The mark that the undo writes, or `nil` without a mark.
    package let mark: Bool?
    /// The saves that a deletion covers in addition to itself.
    package let covered: VectorClock?
    /// Whether the deletion cannot be undone.
    package let isFinal: Bool
    package let edits: [FieldKey: FieldEdit]
    package let retractions: [FieldKey: Retraction]
  }

  /// The effect of the undo on each record.
  package var undoings: [RecordID: Undoing] {
    let names = replica.current.names
    var result: [RecordID: Undoing] = [:]
    for entry in pending.entries {
      let record = entry.content
      result[entry.key] = Undoing(
        mark: record.mark.map { $0 == .alive }, covered: record.covered,
        isFinal: record.isFinal,
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
  /// A decoded undo can have any clock. If a deletion covered saves that a
  /// device has not made, that device would take a new ID.
  fileprivate func known(_ clock: VectorClock) -> VectorClock {
    var known = VectorClock()
    for entry in clock.entries {
      let last = lastKnownSave(of: entry.device)
      known.advance(to: Dot(entry.device, min(entry.count, last)))
    }
    return known
  }

  /// Returns whether the replica has applied a save.
  ///
  /// For other devices, the digest is checked only for the last save.
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
