// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// What a context or a draft holds of one record: what it fetched, and the edits
/// since.
struct EditedRecord: Sendable {
  /// Edits that no deletion comes between.
  struct Changes: Sendable {
    /// The values of register and `lww` fields.
    var values: [FieldKey: Value?] = [:]
    /// The edits of counters, sets and ledgers.
    var edits: [FieldKey: FieldEdit] = [:]
    /// Whether the record is created or kept alive without a field.
    var isTouched = false

    var isEmpty: Bool { values.isEmpty && edits.isEmpty && !isTouched }
  }

  let id: RecordID
  /// `base` and `seen`: the record when it was fetched, field by field.
  var fetched: RecordSnapshot
  /// Of fields that a refresh has moved forward, whether the record existed then.
  private var existed: [FieldKey: Bool] = [:]
  /// The edits; of a record that was deleted here, those since, which create it
  /// again.
  var changes = Changes()
  /// What was edited before each deletion; `nil` unless the record was deleted.
  private(set) var undone: [Changes]?
  /// Why the edits cannot be saved, if they cannot.
  var failure: SaveError?

  init(_ id: RecordID, from replica: Replica) {
    self.id = id
    fetched = replica.fetch(id)
  }

  var isDeleted: Bool { undone != nil }

  /// Whether the record is created again after a deletion.
  var isCreatedAgain: Bool { isDeleted && !changes.isEmpty }

  /// The field as it was fetched, or as a refresh has shown it since.
  func shown(_ key: FieldKey) -> FieldState {
    existed[key] ?? fetched.exists ? fetched[key] : FieldState(key.kind)
  }

  /// The value of a field when it was fetched.
  func base(_ key: FieldKey) -> Value? { shown(key).value }

  func isDirty(_ key: FieldKey) -> Bool {
    isDeleted || changes.edits[key] != nil || value(of: key) != base(key)
  }

  /// Whether saving would do anything.
  var hasChanges: Bool {
    isDeleted || changes.isTouched || failure != nil || !changes.edits.isEmpty
      || changes.values.keys.contains(where: isDirty)
  }

  /// Moves clean fields forward to how the replica has them.
  mutating func refresh(from replica: Replica) {
    if !hasChanges {
      self = EditedRecord(id, from: replica)
      return
    }
    let now = replica.fetch(id)
    for key in Set(now.fields.keys).union(fetched.fields.keys)
    where !isDirty(key) {
      changes.values[key] = nil
      fetched.refresh(key, from: now)
      existed[key] = now.exists
    }
  }

  /// Forgets the edits of fields that were settled otherwise.
  mutating func settle(
    _ keys: some Sequence<FieldKey>, from replica: Replica
  ) {
    for key in keys { changes.values[key] = nil }
    refresh(from: replica)
  }
}

// The verbs, in their order.
extension EditedRecord {
  /// Edits a field.
  ///
  /// - Returns: Whether a counter's sums bear it; otherwise nothing changes.
  mutating func perform(_ edit: FieldEdit, on key: FieldKey) -> Bool {
    let edit = edit.canonical
    if case .write(let value) = edit {
      changes.values[key] = .some(value)
      return true
    }
    guard var earlier = changes.edits[key] else {
      changes.edits[key] = edit
      return true
    }
    guard earlier.append(edit) else { return false }
    changes.edits[key] = earlier
    return true
  }

  /// Deletes the record; one that was not there is no longer inserted.
  mutating func delete() {
    failure = nil
    if fetched.exists || existed.values.contains(true) {
      undone = (undone ?? []) + [changes]
    }
    changes = Changes()
  }
}

// What is shown, the edits included.
extension EditedRecord {
  private func stored(_ key: FieldKey) -> FieldState {
    isDeleted ? FieldState(key.kind) : shown(key)
  }

  func value(of key: FieldKey) -> Value? {
    changes.values[key] ?? stored(key).value
  }

  /// What a register or a counter shows: nothing where nobody has written it,
  /// `nil` where a write has unset it.
  func written(_ key: FieldKey) -> Value?? {
    if let value = changes.values[key] { return .some(value) }
    return stored(key).shown
  }

  func count(of key: FieldKey) -> Int64 {
    changes.edits[key].count(over: stored(key).count)
  }

  func elements(of key: FieldKey) -> [Value] {
    changes.edits[key].elements(over: stored(key).elements)
  }

  func total(of key: FieldKey) -> Int64 {
    changes.edits[key].total(over: stored(key).total)
  }
}
