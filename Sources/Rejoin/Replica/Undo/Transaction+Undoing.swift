// SPDX-License-Identifier: Apache-2.0

extension Transaction {
  /// Creates a save that undoes an earlier one.
  convenience init(undoing undo: UndoStep, on replica: Replica) {
    self.init(replica)
    isUndoable = true
    undone = undo.dot
    let records = replica.reversals(of: undo).sorted { $0.key < $1.key }
    for (id, fields) in records {
      for (key, field) in fields {
        if field.isLeft { left.append(.init(record: id, field: key)) }
        stage(field, of: key, in: id)
      }
      listSets(hiding: fields, of: id)
    }
    left.sort { ($0.record, $0.field) < ($1.record, $1.field) }
  }

  /// Lists the sets that hide what the undo returns to an older field.
  ///
  /// A set shows an older field only until a save edits the set. An undo of that
  /// save returns the elements itself.
  private func listSets(
    hiding fields: [FieldKey: FieldReversal], of id: RecordID
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
    _ field: FieldReversal, of key: FieldKey, in id: RecordID
  ) {
    if field.isEmpty { return }
    let name = replica.current.names.intern(key)
    change(id) { record in
      record.retractions[name] = field.retraction
      if let edit = field.edit {
        // The save edits this field only here, so the amounts fit.
        _ = record.add(edit, to: name, of: key.kind)
      }
      guard key == .existence else { return }
      record.mark = field.mark.map { $0 ? .alive : .deletion }
      record.covered = field.covered
      record.isFinal = field.isFinal
    }
  }
}

extension Replica {
  /// Returns the changes that undo a save.
  package func reversals(
    of undo: UndoStep
  ) -> [RecordID: [FieldKey: FieldReversal]] {
    let records = Dictionary(grouping: undo.changes) { $0.location.record }
    return Dictionary(
      uniqueKeysWithValues: records.map { ($0, reversal(of: $1, in: $0)) })
  }

  private func reversal(
    of changes: [UndoStep.Change], in id: RecordID
  ) -> [FieldKey: FieldReversal] {
    // A decoded undo can come from any source and must not enroll or retire
    // devices, so the library's own records stay. The exception is the memory
    // of a pull, which a save drops when it creates the row's record again.
    let isMemory = id.entity == BuiltIn.pulled
    let rule = isMemory ? .updateWins : schema.declaredDeletion(of: id.entity)
    let isRecord = SaveError(refusing: id) == nil
    var fields: [FieldKey: FieldReversal] = [:]
    var last: UndoStep.Location?
    for change in changes {
      let key = change.location.key
      // No save changes a location twice, so the amounts of a field fit.
      let isNew = last.map { $0 < change.location } ?? true
      last = change.location
      // A restored backup, or another replica, may lack the save.
      guard let rule, isRecord, isNew, change.isOfField,
        current.holds(change.save)
      else {
        fields[key, default: FieldReversal()].isLeft = true
        continue
      }
      let position = current.position(of: change.location)
      fields[key, default: FieldReversal()].revert(
        change,
        from: current.content(
          of: change.location, at: position, deletion: rule),
        in: current.field(key, at: position), as: device)
    }
    if let covered = fields[.existence]?.covered {
      fields[.existence]?.covered = current.known(covered)
    }
    // If updates win, an edit would restore a deleted record. If deletions win,
    // it changes what the record hides, but a purge drops that.
    let isExistenceLeft = fields[.existence]?.isEmpty ?? true
    let isHidden =
      isExistenceLeft && !exists(id)
      && (rule != .deleteWins || isPurged(id))
    for key in fields.keys {
      if isHidden, key != .existence {
        fields[key] = FieldReversal(isLeft: true)
      }
      if isMemory { fields[key]?.isLeft = false }
    }
    return fields
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
    if n == 0 { return false }
    if n >= last.sequence {
      return n == last.sequence && save.digest == last.digest
    }
    let digest = device == self.device ? ownDigests[n] : nil
    return digest.map { $0 == save.digest } ?? true
  }
}
