// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// How one record of a context will be saved.
struct SavePlan {
  let record: EditedRecord
  /// The record in the store now.
  let now: RecordSnapshot
  /// The register and `lww` fields; never two of one name.
  let differences: [FieldKey: FieldDifference]
  let decision: PolicyDecision
  let policy: MergePolicy
  let device: DeviceID
  /// What creating the record again drops; `nil` unless it was shown deleted.
  private let fieldsToDrop: [FieldKey: FieldState]?

  init(_ record: EditedRecord, in replica: Replica, under policy: MergePolicy) {
    self.record = record
    self.policy = policy
    device = replica.device
    let now = replica.fetch(record.id)
    self.now = now
    fieldsToDrop = record.fieldsToDrop(in: replica)
    let schema = replica.schema[record.id.entity]
    let isLater = now.comparison(with: replica)
    differences = record.differences(from: now, storeIsLater: isLater)
      .oneOfEachName { key in
        record.changes.values[key] != nil
          || schema.field(named: key.name) == key
      }
    decision = policy.decide(
      differences.sorted { $0.key < $1.key }.map(\.value),
      isDeletion: record.isDeleted,
      isInsertion: !record.fetched.exists && now.exists,
      isContested: record.isContested(by: now),
      storeIsLater: isLater(.existence))
  }

  /// The names of the register and `lww` fields to write.
  var written: Set<Name> {
    Set(
      decision.outcomes.compactMap { field, outcome in
        switch outcome {
        case .write, .writeConcurrently: field
        case .keepStore, .reportConflict: nil
        }
      })
  }

  var conflict: Conflict {
    Conflict(
      record.id, fields: differences, others: record.others(against: now),
      isDeletion: record.isDeleted, displayed: now)
  }

  /// The conflict to queue, if any.
  var queued: Conflict? {
    if decision.deletion == .reportConflict { return conflict }
    return conflict.without { decision.outcomes[$0] != .reportConflict }
  }

  /// Whether the deletion is carried out, even if the record is then created
  /// again.
  var deletes: Bool { decision.deletion.map { !$0.isRefused } ?? false }

  func carryOut(in transaction: Transaction) {
    guard let deletion = decision.deletion else {
      return write(in: transaction, creatingAgain: fieldsToDrop)
    }
    if deletion.isRefused { return }
    // What counts as seen: for `.delete`, everything that the store holds.
    let shown = deletion == .delete ? now : record.fetched
    guard record.isCreatedAgain else {
      return transaction.delete(record.id, observed: shown.existence)
    }
    write(in: transaction, over: shown, creatingAgain: shown.fields)
  }

  private func write(
    in transaction: Transaction, over shown: RecordSnapshot? = nil,
    creatingAgain: [FieldKey: FieldState]?
  ) {
    let edits = editsToApply
    let touches = record.changes.isTouched && !decision.dropsEdits
    guard shown != nil || touches || !written.isEmpty || !edits.isEmpty
    else { return }
    transaction.upsert(
      record.id, observed: (shown ?? record.fetched).existence,
      creatingAgain: creatingAgain)
    for key in differences.keys.sorted() { write(key, in: transaction) }
    for (key, change) in edits.sorted(by: { $0.key < $1.key }) {
      transaction.apply(
        change.edit, to: key, of: record.id,
        observed: change.supersedesAll ? nil : (shown ?? record.fetched)[key])
    }
  }

  private func write(_ key: FieldKey, in transaction: Transaction) {
    switch decision.outcomes[Name(key.name)] {
    case .write(let value):
      transaction.apply(.write(value), to: key, of: record.id)
    case .writeConcurrently(let value):
      transaction.apply(
        .write(value), to: key, of: record.id, observed: record.fetched[key])
    case .keepStore, .reportConflict, nil: break
    }
  }
}

extension [FieldKey: FieldDifference] {
  /// One field of each name.
  ///
  /// If a field's kind changed between versions of the schema, there are two
  /// fields of its name, and outcomes go by name. The other one is not written.
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
