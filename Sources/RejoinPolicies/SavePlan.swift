//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

import Rejoin

/// What saving one record of a context is going to do.
struct SavePlan {
  let record: EditedRecord
  let now: FetchedRecord
  let differences: [FieldKey: FieldDifference]
  let decision: PolicyDecision
  let policy: MergePolicy
  let device: DeviceID
  private let fieldsToDrop: [FieldKey: FieldState]?

  init(_ record: EditedRecord, in replica: Replica, under policy: MergePolicy) {
    self.record = record
    self.policy = policy
    device = replica.device
    now = replica.fetch(record.id)
    fieldsToDrop = record.fieldsToDrop(in: replica)
    let schema = replica.schema[record.id.entity]
    differences = record.differences(from: now).oneOfEachName { key in
      record.values[key] != nil || schema.field(named: key.name) == key
    }
    decision = policy.decide(
      differences.sorted { $0.key < $1.key }.map(\.value),
      isDeletion: record.isDeleted,
      isInsertion: !record.fetched.exists && now.exists)
  }

  /// The register and `lww` fields that are written.
  var written: Set<Name> {
    if record.isDeleted { return [] }
    return Set(
      decision.outcomes.compactMap { field, outcome in
        switch outcome {
        case .write, .writeBeside: field
        case .keepStore, .queue: nil
        }
      })
  }

  var conflict: Conflict {
    Conflict(
      record: record.id,
      fields: differences.sorted { $0.key < $1.key }.map(\.value)
        .filter { $0.isDirty || $0.isChanged },
      isDeletion: record.isDeleted, displayed: now.fields)
  }

  /// Whether the policy lets a deletion in a conflict through, and whether that
  /// supersedes marks that were not shown.
  var deletion: (isKept: Bool, supersedesAll: Bool) {
    guard decision.isConflict else { return (true, false) }
    return switch policy {
    case .mergeByPropertyObjectTrump, .overwrite, .mergeNonNil: (true, true)
    case .merge: (true, false)
    default: (false, false)
    }
  }

  func carryOut(in edit: Edit) {
    if record.isDeleted {
      guard deletion.isKept else { return }
      let shown = deletion.supersedesAll ? now : record.fetched
      return edit.delete(record.id, observed: shown.existence)
    }
    let edits = editsToApply
    guard !written.isEmpty || !edits.isEmpty else { return }
    edit.touch(
      record.id, observed: record.fetched.existence,
      creatingAgain: fieldsToDrop)
    for key in differences.keys.sorted() { write(key, in: edit) }
    for (key, change) in edits.sorted(by: { $0.key < $1.key }) {
      edit.apply(
        change.edit, to: key, of: record.id,
        observed: change.supersedesAll ? nil : record.fetched[key])
    }
  }

  private func write(_ key: FieldKey, in edit: Edit) {
    switch decision.outcomes[Name(key.name)] {
    case .write(let value):
      edit.apply(.write(value), to: key, of: record.id)
    case .writeBeside(let value):
      edit.apply(
        .write(value), to: key, of: record.id, observed: record.fetched[key])
    case .keepStore, .queue, nil: break
    }
  }

  /// The edits of counters, sets and ledgers, which never conflict.
  var editsToApply: [FieldKey: (edit: FieldEdit, supersedesAll: Bool)] {
    if decision.dropsEdits { return [:] }
    guard case .overwrite = policy, decision.isConflict else {
      return record.edits.mapValues { ($0, false) }
    }
    var edits: [FieldKey: (edit: FieldEdit, supersedesAll: Bool)] = [:]
    for key in Set(now.fields.keys).union(record.edits.keys)
      .union(record.fetched.fields.keys)
    {
      if let edit = overwriting(key) {
        edits[key] = (edit, true)
      } else if key.kind == .ledger, let edit = record.edits[key] {
        edits[key] = (edit, false)
      }
    }
    return edits
  }

  /// The edit that makes a counter or a set what it is in the context.
  private func overwriting(_ key: FieldKey) -> FieldEdit? {
    let fetched =
      record.fetched.exists ? record.fetched[key] : FieldState(key.kind)
    let store = now.exists ? now[key] : FieldState(key.kind)
    switch key.kind {
    case .counter:
      var mine = fetched.count
      if case .count(let edit) = record.edits[key] {
        mine = edit.applied(to: mine)
      }
      if mine == store.count { return nil }
      return .count(CounterEdit(by: mine, isReset: true))
    case .set, .removeWinsSet:
      var mine = fetched.elements
      if case .members(let edit) = record.edits[key] {
        mine = edit.applied(to: mine)
      }
      let (new, old) = (Set(mine), Set(store.elements))
      if new == old { return nil }
      return .members(
        SetEdit(
          inserting: Array(new.subtracting(old)),
          removing: Array(old.subtracting(new))))
    default: return nil
    }
  }
}

extension [FieldKey: FieldDifference] {
  /// Only one field of each name: where the kind changed between versions of a
  /// schema, there are two, and what is written to one is not meant for the other.
  fileprivate func oneOfEachName(
    preferring isMeant: (FieldKey) -> Bool
  ) -> Self {
    var chosen: [Name: FieldKey] = [:]
    for key in keys.sorted() {
      if let other = chosen[Name(key.name)], isMeant(other) { continue }
      chosen[Name(key.name)] = key
    }
    return filter { chosen[Name($0.key.name)] == $0.key }
  }
}
