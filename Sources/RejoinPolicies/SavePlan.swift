// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The plan of saving one record of a context.
struct SavePlan {
  let record: EditedRecord
  /// The current record in the store.
  let now: Record
  /// The registers that may be in conflict, with unique names.
  let differences: [FieldKey: FieldDifference]
  private(set) var decision: PolicyDecision
  let policy: MergePolicy
  let device: DeviceID
  /// The fields to drop when the record is created again, or `nil` unless it
  /// was shown deleted.
  private let fieldsToDrop: [FieldKey: FieldState]?

  init(_ record: EditedRecord, in replica: Replica, under policy: MergePolicy) {
    self.record = record
    self.policy = policy
    device = replica.device
    let now = replica.recordForEditing(record.id)
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
    unsetRevivedFields()
  }

  /// Unsets the registers that would return with a deleted record, although the
  /// context shows no value.
  ///
  /// Under `overwrite`, every field gets the value that the context shows.
  private mutating func unsetRevivedFields() {
    guard overwrites, revives else { return }
    for (key, field) in differences
    where field.mine == nil && now[key].value != nil {
      decision.outcomes[SchemaName(key.name)] = .write(nil)
    }
  }

  /// Whether the store deleted the record since the fetch, so a write brings it
  /// back with its fields.
  var revives: Bool { record.fetched.exists && !now.exists }

  /// The names of the registers to write.
  var written: Set<SchemaName> {
    var names = Set(
      (Array(quietWrites.keys) + resolved.keys).map { SchemaName($0.name) })
    for (field, outcome) in decision.outcomes {
      switch outcome {
      case .write, .writeConcurrently: names.insert(field)
      case .keepStore, .reportConflict: break
      }
    }
    return names
  }

  /// The values that resolve registers under every policy.
  var resolved: [FieldKey: Value?] {
    decision.dropsMergeableEdits ? [:] : record.changes.resolved
  }

  /// The values to write to quiet registers.
  private var quietWrites: [FieldKey: Value?] {
    if decision.dropsMergeableEdits { return [:] }
    var values = record.quietWrites
    guard overwrites else { return values }
    for key in record.quiet {
      let mine = record.value(of: key)
      if mine != shown(key) || revives && mine != now[key].value {
        values[key] = .some(mine)
      }
    }
    return values
  }

  /// Whether the policy gives every field the value that the context shows.
  var overwrites: Bool {
    guard case .overwrite = policy else { return false }
    return decision.isConflict && !record.isDeleted
  }

  /// The reason the record cannot be saved, or `nil` if it can.
  func failure(in replica: Replica) -> SaveError? {
    if !record.isDeleted || record.isCreatedAgain,
      let error = SaveError(refusing: record.id)
    {
      return error
    }
    if writes, replica.isPurged(record.id, since: shownExistence) {
      return .purged(record.id)
    }
    let isTooFar = record.changes.gaps.values.contains {
      !replica.canMakePosition(between: $0.left, and: $0.right)
    }
    if writes, isTooFar { return .positionTooLong }
    return editsToApply.sorted { $0.key < $1.key }
      .first { !replica.accepts($0.value.edit, of: $0.key, in: record.id) }
      .map { .counterOverflow(record.id, field: $0.key.name) }
  }

  /// Returns the value of a register in the store.
  func shown(_ key: FieldKey) -> Value? { now.exists ? now[key].value : nil }

  var conflict: EditConflict {
    EditConflict(
      record.id, fields: differences, others: record.others(against: now),
      isDeletion: record.isDeleted, isDeletedInStore: revives, displayed: now)
  }

  /// The conflict to queue, or `nil` if the policy queues none.
  var queued: EditConflict? {
    if decision.deletion == .reportConflict { return conflict }
    return conflict.without { decision.outcomes[$0] != .reportConflict }
  }

  /// Whether the save performs the deletion, even if it then creates the record
  /// again.
  var deletes: Bool { decision.deletion.map { !$0.isRefused } ?? false }

  func execute(in transaction: Transaction) {
    if writes {
      return write(
        in: transaction,
        creatingAgain: !record.isDeleted
          ? fieldsToDrop : seesAll ? now.states : record.seenStates)
    }
    if deletes {
      transaction.delete(
        record.id, observed: shownExistence,
        seen: seesAll ? now.clock : record.seenSaves(now))
    }
  }

  /// Whether every change in the store counts as seen.
  private var seesAll: Bool { decision.deletion == .delete }

  /// The existence of the record that the save observes.
  private var shownExistence: FieldState {
    (seesAll ? now : record.fetched)[.existence]
  }

  /// Whether the save writes to the record, and does not just delete it.
  var writes: Bool {
    if record.isDeleted { return deletes && record.isCreatedAgain }
    let touches = record.changes.isTouched && !decision.dropsMergeableEdits
    return touches || !written.isEmpty || !editsToApply.isEmpty
  }

  private func write(
    in transaction: Transaction, creatingAgain: [FieldKey: FieldState]?
  ) {
    let edits = editsToApply
    transaction.ensureExists(
      record.id, observed: shownExistence, recreatingWith: creatingAgain)
    for key in differences.keys.sorted() { write(key, in: transaction) }
    for (key, value) in resolved.sorted(by: { $0.key < $1.key }) {
      let isQuiet = record.quiet.contains(key)
      transaction.apply(
        .write(value), to: key, of: record.id,
        observed: isQuiet ? now[key] : record.seen(key))
    }
    for (key, value) in quietWrites.sorted(by: { $0.key < $1.key }) {
      let position = record.changes.gaps[key].map {
        transaction.position(between: $0.left, and: $0.right).fieldValue
      }
      transaction.apply(
        .write(position ?? value), to: key, of: record.id, observed: now[key])
    }
    for (key, change) in edits.sorted(by: { $0.key < $1.key }) {
      let seen = seesAll ? now[key] : record.seen(key)
      transaction.apply(
        change.edit, to: key, of: record.id,
        observed: change.supersedesAll ? now[key] : seen)
    }
  }

  private func write(_ key: FieldKey, in transaction: Transaction) {
    switch decision.outcomes[SchemaName(key.name)] {
    case .write(let value):
      transaction.apply(
        .write(value), to: key, of: record.id, observed: now[key])
    case .writeConcurrently(let value):
      transaction.apply(
        .write(value), to: key, of: record.id, observed: record.seen(key))
    case .keepStore, .reportConflict, nil: break
    }
  }
}

extension [FieldKey: FieldDifference] {
  /// Returns one field for each name.
  ///
  /// If a newer version of the app declares a variant of a register, two
  /// registers have the same name. Outcomes are stored by name, so only one of
  /// them is written.
  fileprivate func oneOfEachName(
    preferring isMeant: (FieldKey) -> Bool
  ) -> Self {
    var chosen: [SchemaName: FieldKey] = [:]
    for key in keys.sorted() {
      if let other = chosen[SchemaName(key.name)], isMeant(other) { continue }
      chosen[SchemaName(key.name)] = key
    }
    return filter { chosen[SchemaName($0.key.name)] == $0.key }
  }
}
