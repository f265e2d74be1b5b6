// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A record in a context or a draft: as it was fetched, and the edits since.
struct EditedRecord: Sendable {
  /// Edits without a deletion among them.
  struct Changes: Sendable {
    /// The values written to registers; `nil` unsets.
    var values: [FieldKey: Value?] = [:]
    /// The values that settle registers, which may equal the shown ones.
    var resolved: [FieldKey: Value?] = [:]
    /// The edits of counters, sets and ledgers, combined per field.
    var edits: [FieldKey: FieldEdit] = [:]
    /// Whether `touch` creates the record or keeps it alive.
    var isTouched = false

    var isEmpty: Bool {
      values.isEmpty && resolved.isEmpty && edits.isEmpty && !isTouched
    }

    /// The last value that was written to each register.
    var written: [FieldKey: Value?] { values.merging(resolved) { $1 } }
  }

  let id: RecordID
  /// The record when it was fetched.
  let fetched: Record
  /// For each field that a refresh has moved forward, the record at that
  /// refresh.
  private var refreshed: [FieldKey: Record] = [:]
  /// The registers that never cause a conflict.
  let quiet: Set<FieldKey>
  /// The edits since the last deletion in the context, or all edits if there
  /// was none.
  ///
  /// After a deletion, they create the record again.
  var changes = Changes()
  /// The edits before each deletion in the context, in order; `nil` if there
  /// was none.
  private(set) var undone: [Changes]?
  /// Why the edits cannot be saved; `nil` if they can.
  var failure: SaveError?

  init(_ id: RecordID, from replica: Replica) {
    self.id = id
    fetched = replica.recordForEditing(id)
    quiet = replica.schema[id.entity].quietFields
  }

  var isDeleted: Bool { undone != nil }

  /// Whether the record is created again after a deletion.
  var isCreatedAgain: Bool { isDeleted && !changes.isEmpty }

  /// The state that the edits of a field are based on: as it was when the
  /// record was fetched, or, if it was clean, at the last refresh since.
  func seen(_ key: FieldKey) -> FieldState {
    (refreshed[key] ?? fetched)[key]
  }

  /// The fields that any save had touched.
  var seenFields: Set<FieldKey> { Set(fetched.fields).union(refreshed.keys) }

  /// The field as the context showed it before any edit: empty if the record
  /// did not exist then.
  func shown(_ key: FieldKey) -> FieldState {
    let record = refreshed[key] ?? fetched
    return record.exists ? record[key] : FieldState(key.kind)
  }

  /// The value of a register before any edit.
  func base(_ key: FieldKey) -> Value? { shown(key).value }

  func isChangedInContext(_ key: FieldKey) -> Bool {
    isDeleted || changes.edits[key] != nil || changes.resolved[key] != nil
      || value(of: key) != base(key)
  }

  /// The values that the context wrote to quiet registers, without those that
  /// they showed before.
  var quietWrites: [FieldKey: Value?] {
    changes.values.filter {
      quiet.contains($0.key) && $0.value != stored($0.key).value
    }
  }

  /// Whether there is anything to save, or a failure to report.
  var hasChanges: Bool {
    isDeleted || changes.isTouched || failure != nil || !changes.edits.isEmpty
      || !changes.resolved.isEmpty
      || changes.values.keys.contains(where: isChangedInContext)
  }

  /// Moves clean fields forward to their state in the replica.
  mutating func refresh(from replica: Replica) {
    // Refetching a clean record as a whole also moves its existence forward.
    if !hasChanges {
      self = EditedRecord(id, from: replica)
      return
    }
    let now = replica.recordForEditing(id)
    for key in seenFields.union(now.fields) where !isChangedInContext(key) {
      changes.values[key] = nil
      refreshed[key] = now
    }
  }

  /// Drops the edits of fields that were resolved.
  mutating func settle(
    _ keys: some Sequence<FieldKey>, from replica: Replica
  ) {
    for key in keys { changes.values[key] = nil }
    refresh(from: replica)
  }
}

// The verbs, which apply in their order.
extension EditedRecord {
  /// Edits a field.
  ///
  /// - Returns: `false` if a counter's sums would overflow. Nothing is then
  ///   changed.
  mutating func perform(_ edit: FieldEdit, on key: FieldKey) -> Bool {
    let edit = edit.canonical
    if case .write(let value) = edit {
      if changes.resolved[key] == nil {
        changes.values[key] = .some(value)
      } else {
        changes.resolved[key] = .some(value)
      }
      return true
    }
    guard let place = changes.edits.index(forKey: key) else {
      changes.edits[key] = edit
      return true
    }
    // In place: a copy would have all earlier edits.
    return changes.edits.values[place].append(edit)
  }

  /// Settles a register with a value, which may be the shown one.
  ///
  /// A record that is created again has no siblings that were shown.
  mutating func resolve(_ key: FieldKey, with value: Value?) {
    changes.values[key] = .some(value?.canonical)
    if isDeleted { return }
    changes.resolved[key] = changes.values.removeValue(forKey: key)
  }

  /// Deletes the record.
  ///
  /// If it was never shown, its insertion is withdrawn, and nothing is deleted.
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

  /// A field with its edits.
  func edited(_ key: FieldKey) -> EditedField {
    let written = changes.resolved[key] ?? changes.values[key]
    return EditedField(
      stored(key), written.map { .write($0) } ?? changes.edits[key])
  }

  func value(of key: FieldKey) -> Value? { edited(key).value }

  func count(of key: FieldKey) -> Int64 { edited(key).count }

  func elements(of key: FieldKey) -> [Value] { edited(key).elements }

  func total(of key: FieldKey) -> Int64 { edited(key).total }
}
