// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A record in a context or a draft: the fetched state and the edits since.
struct EditedRecord: Sendable {
  /// Edits without a deletion.
  struct Changes: Sendable {
    /// The values written to registers, or `nil` for a register to unset.
    var values: [FieldKey: Value?] = [:]
    /// The values that resolve registers, which may equal the shown ones.
    var resolved: [FieldKey: Value?] = [:]
    /// The edits of counters, sets and ledgers, combined per field.
    var edits: [FieldKey: FieldEdit] = [:]
    /// The gaps of registers whose position is made in the save, and which are shown as
    /// unset until then.
    ///
    /// Such a register has no value in the other properties.
    var gaps: [FieldKey: Gap] = [:]
    /// Whether `touch` creates the record or keeps it alive.
    var isTouched = false

    var isEmpty: Bool {
      values.isEmpty && resolved.isEmpty && gaps.isEmpty && edits.isEmpty
        && !isTouched
    }

    /// The last value that was written to each register, which is `nil` for a position
    /// that is not yet made.
    var written: [FieldKey: Value?] {
      values.merging(resolved) { $1 }.merging(gaps.mapValues { _ in nil }) {
        $1
      }
    }

    /// Drops what was written to a register.
    mutating func clear(_ key: FieldKey) {
      values[key] = nil
      gaps[key] = nil
    }
  }

  /// The positions on both sides of a gap.
  struct Gap: Sendable {
    let left: Position?
    let right: Position?
  }

  let id: RecordID
  /// The record when it was fetched.
  let fetched: Record
  /// The record at the last refresh of each field that a refresh updated.
  private var refreshed: [FieldKey: Record] = [:]
  /// The registers declared with `lww`, which never cause a conflict.
  let quiet: Set<FieldKey>
  /// The edits since the last deletion in the context, or all edits without
  /// one.
  ///
  /// After a deletion, these edits create the record again.
  var changes = Changes()
  /// The edits before each deletion in the context, in order, or `nil` without
  /// a deletion.
  private(set) var undone: [Changes]?
  /// The reason the edits cannot be saved, or `nil` if they can.
  var failure: SaveError?

  init(_ id: RecordID, from replica: Replica) {
    self.id = id
    fetched = replica.recordForEditing(id)
    quiet = replica.schema[id.entity].quietFields
  }

  var isDeleted: Bool { undone != nil }

  /// Whether the record is created again after a deletion.
  var isCreatedAgain: Bool { isDeleted && !changes.isEmpty }

  /// Returns the state that the edits of a field are based on.
  ///
  /// It is the state at the last refresh that found the field unedited, or else
  /// the fetched state.
  func seen(_ key: FieldKey) -> FieldState {
    (refreshed[key] ?? fetched)[key]
  }

  /// The fields that a save touched before the last fetch or refresh.
  var seenFields: Set<FieldKey> { Set(fetched.fields).union(refreshed.keys) }

  /// Returns the field as the context showed it before any edit.
  ///
  /// If the record did not exist then, the field is empty.
  func shown(_ key: FieldKey) -> FieldState {
    let record = refreshed[key] ?? fetched
    return record.exists ? record[key] : FieldState(key.kind)
  }

  /// Returns the value of a register before any edit.
  func base(_ key: FieldKey) -> Value? { shown(key).value }

  func isChangedInContext(_ key: FieldKey) -> Bool {
    isDeleted || changes.edits[key] != nil || changes.resolved[key] != nil
      || changes.gaps[key] != nil || value(of: key) != base(key)
  }

  /// The values written to quiet registers that differ from the shown ones.
  var quietWrites: [FieldKey: Value?] {
    changes.values.filter {
      quiet.contains($0.key) && $0.value != stored($0.key).value
    }.merging(changes.gaps.mapValues { _ in nil }) { $1 }
  }

  /// Whether the record has edits to save or a failure to report.
  var hasChanges: Bool {
    isDeleted || changes.isTouched || failure != nil || !changes.edits.isEmpty
      || !changes.resolved.isEmpty || !changes.gaps.isEmpty
      || changes.values.keys.contains(where: isChangedInContext)
  }

  /// Updates the unedited fields to their state in the replica.
  mutating func refresh(from replica: Replica) {
    // Fetching the whole record again also updates its existence.
    if !hasChanges {
      self = EditedRecord(id, from: replica)
      return
    }
    let now = replica.recordForEditing(id)
    for key in seenFields.union(now.fields) where !isChangedInContext(key) {
      changes.clear(key)
      refreshed[key] = now
    }
  }

  /// Drops the edits of resolved fields.
  mutating func settle(
    _ keys: some Sequence<FieldKey>, from replica: Replica
  ) {
    for key in keys { changes.clear(key) }
    refresh(from: replica)
  }
}

// The verbs, which apply in order.
extension EditedRecord {
  /// Edits a field.
  ///
  /// - Returns: `false`, without a change, if a counter's sums would overflow.
  mutating func perform(_ edit: FieldEdit, on key: FieldKey) -> Bool {
    let edit = edit.canonical
    if case .write(let value) = edit {
      changes.gaps[key] = nil
      if changes.resolved[key] == nil {
        changes.values[key] = .some(value)
      } else {
        changes.resolved[key] = .some(value)
      }
      return true
    }
    guard let index = changes.edits.index(forKey: key) else {
      changes.edits[key] = edit
      return true
    }
    // Change the edit in place: a copy would include all earlier edits.
    return changes.edits.values[index].append(edit)
  }

  /// Writes a value to a register, unless the register shows it, or discards
  /// the write if the register shows the value without it.
  ///
  /// A value that resolves the register or creates the record again is kept.
  mutating func assign(
    _ value: Value?, to key: FieldKey, shown: Value?, without before: Value?
  ) {
    let value = value?.canonical
    if value == shown, !isDeleted || changes.gaps[key] != nil { return }
    if isDeleted || changes.resolved[key] != nil {
      _ = perform(.write(value), on: key)
    } else if value == before {
      changes.clear(key)
    } else if value == nil, base(key) == nil {
      // An older field shows a value. Unsetting the empty register hides it,
      // which a plain write of `nil` would not: it is not a change.
      resolve(key, with: nil)
    } else {
      _ = perform(.write(value), on: key)
    }
  }

  /// Resolves a register with a value, which may be the shown one.
  ///
  /// After a deletion, it is a plain write, since a new record has no siblings
  /// to resolve.
  mutating func resolve(_ key: FieldKey, with value: Value?) {
    // A position that is not yet made is shown as unset, and replaces all siblings.
    if value == nil, changes.gaps[key] != nil { return }
    changes.gaps[key] = nil
    changes.values[key] = .some(value?.canonical)
    if isDeleted { return }
    changes.resolved[key] = changes.values.removeValue(forKey: key)
  }

  /// Sets a quiet register to a position that is made in the save.
  mutating func place(_ key: FieldKey, in gap: Gap) {
    demand(
      quiet.contains(key),
      "A record can be moved by a field that is declared with `lww`, and "
        + "\"\(key.name)\" is not.")
    changes.values[key] = nil
    changes.resolved[key] = nil
    changes.gaps[key] = gap
  }

  /// Deletes the record.
  ///
  /// If the context never showed the record, its insertion is dropped and
  /// nothing is deleted.
  mutating func delete() {
    failure = nil
    if fetched.exists || refreshed.values.contains(where: \.exists) {
      undone = undone ?? []
      undone?.append(changes)
    }
    changes = Changes()
  }
}

// Reading the edited record.
extension EditedRecord {
  private func stored(_ key: FieldKey) -> FieldState {
    isDeleted ? FieldState(key.kind) : shown(key)
  }

  /// Returns the content of a field that the context does not show because the
  /// record is deleted.
  func hidden(_ key: FieldKey) -> FieldState {
    let record = refreshed[key] ?? fetched
    return isDeleted || !record.exists ? record[key] : FieldState(key.kind)
  }

  /// Returns a field with its edits.
  func edited(_ key: FieldKey) -> EditedField {
    let written =
      changes.gaps[key] == nil
      ? changes.resolved[key] ?? changes.values[key] : .some(nil)
    return EditedField(
      stored(key), written.map { .write($0) } ?? changes.edits[key])
  }

  func value(of key: FieldKey) -> Value? { edited(key).value }

  func count(of key: FieldKey) -> Int64 { edited(key).count }

  func elements(of key: FieldKey) -> [Value] { edited(key).elements }

  func total(of key: FieldKey) -> Int64 { edited(key).total }
}
