// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import _RejoinVerification

// Nothing is lost silently.
extension PolicyTable {
  /// Saves a record whose deletions win.
  ///
  /// The rows of the table are those of records whose updates win. Here, only
  /// the law is checked that holds for both: each edit is shown or reported.
  func checkUnderDeleteWins(
    _ context: EditingContext, _ draft: inout RecordDraft<AnyEntity>?,
    _ replica: Replica
  ) throws {
    let store = try Store(replica, since: fetched)
    let report: ContextReport
    do { report = try save(context, &draft) } catch {
      guard case .error = policy, isConflict(store) else { throw error }
      return
    }
    let after = replica.fetched(Self.card)
    if isDeletion {
      return try checkDeletionIsReported(report, context, store, after)
    }
    try checkEditsAreReported(report, context, after)
    try checkResolutionIsReported(context, replica)
  }

  /// Checks that each edit is shown after a save, or that a list of the report
  /// has it.
  func checkEditsAreReported(
    _ report: ContextReport, _ context: EditingContext, _ after: Record
  ) throws(FuzzFailure) {
    let isHidden = report.hiddenRecords.contains(Self.card)
    try require(
      !isHidden || !after.exists && report.dot != nil,
      "\(policy.name): a record is listed as hidden, and is not")
    if report.failedRecords[Self.card] != nil { return }
    for key in keys where isChangedInContext(key) || resolved[key] != nil {
      let name = SchemaName(key.name)
      if report.writtenFields[Self.card]?.contains(name) == true {
        try checkIsShown(key, report, isHidden, after)
        continue
      }
      let shown = after.exists || isHidden ? after[key].value : nil
      try require(
        myValue(key) == shown || isDropped(key, report)
          || isQueued(key, context),
        "\(policy.name): the edit of \(key.name) is gone without report")
    }
    for key in edits where !isDropped(key, report) {
      try checkIsShown(key, report, isHidden, after)
    }
  }

  private func checkIsShown(
    _ key: FieldKey, _ report: ContextReport, _ isHidden: Bool, _ after: Record
  ) throws(FuzzFailure) {
    let isSaved = report.dot.map { after[key].clock.contains($0) } ?? false
    try require(isSaved, "\(policy.name): \(key.name) is not saved")
    try require(
      after.exists || isHidden,
      "\(policy.name): the edit of \(key.name) is hidden without report")
    if case .custom = policy { return }
    guard key.kind == .register else { return }
    try require(
      after[key].writes.contains {
        $0.dot == report.dot && $0.value == myValue(key)
      }, "\(policy.name): \(key.name) lacks the value of the context")
  }

  private func isDropped(_ key: FieldKey, _ report: ContextReport) -> Bool {
    report.dropped.contains { dropped in
      guard dropped.field == key else { return false }
      return switch dropped.content {
      // An unsaved edit has no time.
      case .value(let side, _): side.time == nil && side.value == myValue(key)
      case .edit: true
      default: false
      }
    }
  }

  private func isQueued(_ key: FieldKey, _ context: EditingContext) -> Bool {
    context.pendingConflicts.contains { conflict in
      conflict.fields.contains { $0.field == key.name }
    }
  }

  /// Checks that a deletion is performed, or that a list of the report or the
  /// queue has it.
  ///
  /// The deletion of a record that the store deleted as well drops nothing.
  func checkDeletionIsReported(
    _ report: ContextReport, _ context: EditingContext, _ store: Store,
    _ after: Record
  ) throws(FuzzFailure) {
    try require(
      !store.wasDeleted || isCreatedAgain
        || !report.dropped.contains(where: \.isOverwritten),
      "\(policy.name): a deletion is said to drop what was deleted before")
    try require(
      !after.exists || isCreatedAgain
        || report.survivingRecords[Self.card] != nil
        || report.failedRecords[Self.card] != nil
        || report.dropped.contains { $0.content == .deletion }
        || context.pendingConflicts.contains(where: \.isDeletion),
      "\(policy.name): a deletion is gone without report")
    try require(
      !isCreatedAgain || after.exists || !report.hiddenRecords.isEmpty
        || report.failedRecords[Self.card] != nil
        || report.dropped.contains { $0.content == .deletion }
        || context.pendingConflicts.contains(where: \.isDeletion),
      "\(policy.name): a re-creation is hidden without report")
  }

  /// Checks that resolving a conflict of a deleted record reports that it stays
  /// hidden.
  private func checkResolutionIsReported(
    _ context: EditingContext, _ replica: Replica
  ) throws {
    let names = Set(
      context.pendingConflicts.flatMap(\.fields).map(\.field))
    let queued = keys.filter { names.contains($0.name) }
    if queued.isEmpty { return }
    let values = Dictionary(
      uniqueKeysWithValues: queued.map {
        ($0, Value?.some(.string("settled")))
      })
    let later = try Self.reopened(context, replica)
    do {
      let report = try later.resolve(Self.card, values)
      try equal(
        "\(policy.name): a resolved record is hidden",
        report.hiddenRecords.contains(Self.card), !replica.exists(Self.card))
    } catch SaveError.purged {}
  }
}

extension DroppedChange {
  fileprivate var isOverwritten: Bool {
    if case .overwritten = content { true } else { false }
  }
}
