// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinPolicies
import _RejoinVerification

extension PolicyTable {
  /// Saves the context, or the draft instead of it, and compares the result
  /// with the row of the policy.
  func check(
    _ context: EditingContext, _ draft: inout RecordDraft<AnyEntity>?,
    _ replica: Replica
  ) throws {
    let store = try Store(replica, since: fetched)
    let clock = replica.version
    guard let row = row(store) else {
      return try checkRefusal(context, &draft, replica, clock)
    }
    let report = try save(context, &draft)
    if try checkPurged(context, draft, report, row, store) {
      return try equal("\(policy.name): version", replica.version, clock)
    }
    if draft != nil { try checkSecondCommit(context, &draft, replica) }
    try equal(
      "\(policy.name): in conflict", !report.conflicts.isEmpty,
      isConflict(store))
    try require(report.failedRecords.isEmpty, "\(policy.name): a failure")
    let after = replica.fetched(PolicyTable.card)
    if isDeletion {
      try checkDeletionIsReported(report, context, store, after)
      return try checkDeletion(context, report, store, replica)
    }
    try checkEditsAreReported(report, context, after)
    try checkFields(report, row, store, after)
    try checkEdits(row, store, after)
    try checkQueue(context, row, replica)
  }

  /// Checks that nothing is written to a record that was purged since the
  /// fetch, and that its edits stay.
  ///
  /// - Returns: Whether the record was refused.
  private func checkPurged(
    _ context: EditingContext, _ draft: RecordDraft<AnyEntity>?,
    _ report: ContextReport, _ row: PolicyRow, _ store: Store
  ) throws(FuzzFailure) -> Bool {
    let outcome = isDeletion ? deletion(store) : nil
    guard isPurged(store.record), hasUnseenDeletion(store.record),
      outcome != .delete
    else { return false }
    try require(report.dot == nil, "\(policy.name): a purged record is saved")
    let isRefused = report.failedRecords[PolicyTable.card] != nil
    let writes =
      isDeletion
      ? outcome == .deleteBeside && isCreatedAgain
      : !row.written.isEmpty || !edits.isEmpty && !row.dropsMergeableEdits
    // Under `overwrite`, counters and sets may also have to be written.
    if case .overwrite = policy, !isDeletion, isConflict(store), !writes {
      return isRefused
    }
    try equal("\(policy.name): refused after a purge", isRefused, writes)
    if !isRefused { return false }
    let error = report.failedRecords[PolicyTable.card]
    try equal("the error", error, .purged(PolicyTable.card))
    try require(
      draft.map { !$0.isCommitted && $0.hasChanges } ?? context.hasChanges,
      "the edits of a purged record are gone")
    return true
  }

  /// Returns whether the authors of purges or announcements had seen every
  /// deletion of a deleted record.
  func isPurged(_ record: Record) -> Bool {
    let marks = record[.existence].marks
    let names = marks.filter { [.purge, .purgeAnnouncement].contains($0.kind) }
    let deletions = marks.filter { $0.kind == .deletion }
    return !record.exists && !deletions.isEmpty
      && deletions.allSatisfy { deletion in
        deletion.isFinal || names.contains { $0.seen.contains(deletion.dot) }
      }
  }

  private func hasUnseenDeletion(_ record: Record) -> Bool {
    record[.existence].marks.contains {
      [.deletion, .purge].contains($0.kind)
        && !fetched[.existence].clock.contains($0.dot)
    }
  }

  /// The name of the saves of contexts and drafts in the undo history.
  static let saveName = "context"

  func save(
    _ context: EditingContext, _ draft: inout RecordDraft<AnyEntity>?
  ) throws -> ContextReport {
    guard var copy = draft else {
      return try context.save(undoable: Self.saveName)
    }
    defer { draft = copy }
    return try context.commit(&copy, undoable: Self.saveName)
  }

  /// A draft counts once.
  private func checkSecondCommit(
    _ context: EditingContext, _ draft: inout RecordDraft<AnyEntity>?,
    _ replica: Replica
  ) throws(FuzzFailure) {
    guard draft?.isCommitted == true else { return }
    let clock = replica.version
    var isRefused = false
    do { _ = try save(context, &draft) } catch DraftError.committed {
      isRefused = true
    } catch { throw FuzzFailure("a second commit throws \(error)") }
    try require(isRefused, "a draft is committed twice")
    try equal("version after a second commit", replica.version, clock)
  }

  /// A draft can be committed where the saves are that it showed, and nowhere
  /// else.
  func checkCommits(
    of draft: RecordDraft<AnyEntity>, without blank: Replica,
    with shown: Replica
  ) throws(FuzzFailure) {
    let keys = fetched.fields + [.existence]
    let isOfNothing = keys.allSatisfy { fetched[$0].clock.isEmpty }
    for (replica, isHeld) in [(blank, isOfNothing), (shown, true)] {
      var copy = draft
      var isRefused = false
      let context = EditingContext(replica, mergePolicy: policy)
      do { try context.commit(&copy) } catch DraftError.missingSaves {
        isRefused = true
      } catch {
        throw FuzzFailure("a draft that is elsewhere throws \(error)")
      }
      try equal("a draft is refused elsewhere", isRefused, !isHeld)
    }
  }

  /// If the policy refuses, nothing is written, and the edits stay.
  private func checkRefusal(
    _ context: EditingContext, _ draft: inout RecordDraft<AnyEntity>?,
    _ replica: Replica, _ clock: ReplicaVersion
  ) throws(FuzzFailure) {
    do {
      _ = try save(context, &draft)
      throw FuzzFailure("\(policy.name): a conflict is not refused")
    } catch let error as FuzzFailure {
      throw error
    } catch ContextSaveError.conflict(let conflict),
      DraftError.conflict(let conflict)
    {
      let fields = conflict.conflicts.flatMap(\.fields)
      for field in fields {
        let key = keys.first { $0.name == field.field }
        guard let key, !quiet.contains(key) else {
          throw FuzzFailure("another field: \(field)")
        }
        try equal("base of \(key)", field.base, baseValue(key))
        try equal("mine of \(key)", field.mine, myValue(key))
      }
    } catch {
      throw FuzzFailure("\(policy.name): a save throws \(error)")
    }
    try equal("\(policy.name): version", replica.version, clock)
    for key in keys {
      let value =
        draft.map { $0.value(of: key) }
        ?? context.value(of: key, in: PolicyTable.card)
      try equal("\(key) in the context", value, myValue(key))
    }
    try require(draft != nil || context.hasChanges, "the edits are gone")
  }

  private func checkFields(
    _ report: ContextReport, _ row: PolicyRow, _ store: Store,
    _ after: Record
  ) throws(FuzzFailure) {
    let name = policy.name
    try equal(
      "\(name): written", report.writtenFields[PolicyTable.card] ?? [],
      Set(row.written.keys.map { SchemaName($0.name) }))
    try equal("\(name): dropped", droppedValues(report), row.dropped)
    let hidden = isDeleted(fetched) && isDeleted(store.record)
    for key in keys {
      if let value = row.written[key] {
        try equal("\(name): \(key)", after[key].value, value)
      } else if !hidden {
        // A save that brings the record back also brings its fields back.
        try equal("\(name): \(key)", after[key].value, store.record[key].value)
      }
      try checkSiblings(key, row, store, after)
    }
  }

  private func isDeleted(_ record: Record) -> Bool {
    !record.exists && !record[.existence].clock.isEmpty
  }

  func droppedValues(_ report: ContextReport) -> Set<PolicyRow.Dropped> {
    Set(
      report.dropped.compactMap { dropped in
        guard case .value(let side, _) = dropped.content,
          let field = dropped.field
        else { return nil }
        return PolicyRow.Dropped(field: field, value: side.value)
      })
  }

  /// Only some policies supersede unseen siblings.
  private func checkSiblings(
    _ key: FieldKey, _ row: PolicyRow, _ store: Store, _ after: Record
  ) throws(FuzzFailure) {
    if row.supersedes.contains(key) {
      return try equal("\(policy.name): siblings", after[key].writes.count, 1)
    }
    for write in store.record[key].writes
    where !seen(key).clock.contains(write.dot) {
      try require(
        after[key].writes.contains(write),
        "\(policy.name): \(key) loses \(write), which was not shown")
    }
  }

  private func checkEdits(
    _ row: PolicyRow, _ store: Store, _ after: Record
  ) throws(FuzzFailure) {
    guard fetched.exists, store.record.exists else { return }
    var isOverwriting = false
    if case .overwrite = policy { isOverwriting = isConflict(store) }
    for key in PolicyTable.extras {
      let isApplied = edits.contains(key) && !row.dropsMergeableEdits
      // An overwritten ledger keeps the entries of others.
      let isKept = !isOverwriting || key.kind == .ledger
      var expected = (isKept ? store.record[key] : seen(key)).reading
      if isApplied { expected.add(5, in: key.kind) }
      try equal("\(policy.name): \(key)", after[key].reading, expected)
    }
  }

  /// Resolving a queued conflict supersedes what it displayed.
  private func checkQueue(
    _ context: EditingContext, _ row: PolicyRow, _ replica: Replica
  ) throws {
    let queued = context.pendingConflicts.flatMap(\.fields).map {
      SchemaName($0.field)
    }
    try equal(
      "\(policy.name): queued", Set(queued),
      Set(row.queued.map { SchemaName($0.name) }))
    if row.queued.isEmpty { return }
    let values = Dictionary(
      uniqueKeysWithValues: row.queued.map {
        ($0, Value?.some(.string("settled")))
      })
    try checkResolvingDeleted(context, values, replica)
    let later = try Self.reopened(context, replica)
    let isPurged = isPurged(replica.fetched(PolicyTable.card))
    do {
      try later.resolve(PolicyTable.card, values)
      try require(!isPurged, "resolving a conflict restores a purged record")
    } catch SaveError.purged where isPurged {
      return try require(
        later.pendingConflicts == context.pendingConflicts,
        "a conflict that could not be resolved is gone")
    }
    for key in row.queued {
      let field = replica.fetched(PolicyTable.card)[key]
      try equal("\(key) settled", field.value, .string("settled"))
      try equal("\(key) has siblings", field.writes.count, 1)
    }
    try require(
      later.pendingConflicts.isEmpty, "a resolved conflict stays queued")
  }

  /// A context that shows the record deleted creates it again to resolve an
  /// earlier conflict, and drops the siblings that it shows.
  private func checkResolvingDeleted(
    _ context: EditingContext, _ values: [FieldKey: Value?], _ replica: Replica
  ) throws {
    let replicas = [61, 62].map { replica.fork(as: DeviceID($0)) }
    for (replica, value) in zip(replicas, ["mine", "sibling"]) {
      try replica.save { transaction in
        for key in values.keys {
          transaction.apply(
            .write(.string(value)), to: key, of: PolicyTable.card)
        }
      }
    }
    let mine = replicas[0]
    mine.merge(replicas[1])
    try mine.save { $0.delete(PolicyTable.card) }
    let later = try Self.reopened(context, mine)
    later.fetch(PolicyTable.card)
    try later.resolve(PolicyTable.card, values)
    for key in values.keys {
      try equal(
        "\(key) has siblings after its record is created again",
        mine.fetched(PolicyTable.card)[key].writes.count, 1)
    }
  }

  /// Another context, with the queue of conflicts encoded and decoded.
  static func reopened(
    _ context: EditingContext, _ replica: Replica
  ) throws -> EditingContext {
    let later = EditingContext(replica)
    later.pendingConflicts = try JSONDecoder().decode(
      [EditConflict].self, from: JSONEncoder().encode(context.pendingConflicts))
    try equal(
      "the stored queue", later.pendingConflicts, context.pendingConflicts)
    return later
  }
}
