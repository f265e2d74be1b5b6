//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

import Rejoin

/// What a context holds of one record: what it fetched, and the edits since.
struct EditedRecord {
  let id: RecordID
  /// `base` and `seen`: the record when it was fetched, field by field.
  var fetched: FetchedRecord
  /// What a refresh has moved the base of clean fields forward to.
  private var bases: [FieldKey: Value?] = [:]
  /// The values of the register and `lww` fields that were edited.
  var values: [FieldKey: Value?] = [:]
  /// The edits of counters, sets and ledgers.
  var edits: [FieldKey: FieldEdit] = [:]
  var isDeleted = false

  init(_ id: RecordID, from replica: Replica) {
    self.id = id
    fetched = replica.fetch(id)
  }

  /// The value of a field when it was fetched.
  func base(_ key: FieldKey) -> Value? {
    bases[key] ?? (fetched.exists ? fetched[key].value : nil)
  }

  /// The value of a field now.
  func value(_ key: FieldKey) -> Value? { values[key] ?? base(key) }

  /// What a register or a counter shows now: nothing where nobody has written it,
  /// `nil` where a write has unset it.
  func shown(_ key: FieldKey) -> Value?? {
    if let value = values[key] ?? bases[key] { return .some(value) }
    return fetched.exists ? fetched[key].shown : nil
  }

  func isDirty(_ key: FieldKey) -> Bool {
    edits[key] != nil || value(key) != base(key)
  }

  /// Whether saving would do anything.
  var hasChanges: Bool {
    isDeleted || !edits.isEmpty || values.keys.contains(where: isDirty)
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
      values[key] = nil
      fetched.refresh(key, from: now)
      bases[key] = .some(now.exists ? now[key].value : nil)
    }
  }

  /// Forgets the edits of fields that were settled otherwise.
  mutating func settle(
    _ keys: some Sequence<FieldKey>, from replica: Replica
  ) {
    for key in keys { values[key] = nil }
    refresh(from: replica)
  }

  /// The register and `lww` fields as three parties see them.
  func differences(from now: FetchedRecord) -> [FieldKey: FieldDifference] {
    let keys = Set(fetched.fields.keys).union(now.fields.keys)
      .union(values.keys)
    let wasDeleted = fetched.exists && !now.exists
    var differences: [FieldKey: FieldDifference] = [:]
    for key in keys where key.kind == .register || key.kind == .lww {
      differences[key] = FieldDifference(
        field: key.name, base: base(key), mine: value(key),
        store: now.exists ? now[key].value : nil, storeWasDeleted: wasDeleted)
    }
    return differences
  }
}
