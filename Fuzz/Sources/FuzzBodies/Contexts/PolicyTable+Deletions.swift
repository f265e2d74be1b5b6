// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies
import _RejoinVerification

// Checking a deletion, and the edits before and after it.
extension PolicyTable {
  func checkDeletion(
    _ context: EditingContext, _ report: ContextReport, _ store: Store,
    _ replica: Replica
  ) throws {
    let (name, card) = (policy.name, PolicyTable.card)
    let outcome = deletion(store)
    let isRefused = outcome == .keepRecord || outcome == .reportConflict
    try equal(
      "\(name): deleted", report.deletedRecords.contains(card), !isRefused)
    let written = Set(
      isRefused
        ? [] : keys.filter { myValue($0) != nil }.map { SchemaName($0.name) })
    try equal("\(name): written", report.writtenFields[card] ?? [], written)
    let after = replica.fetched(card)
    if isRefused {
      try checkRefused(report, outcome, store, after)
      try checkQueuedDeletion(context, outcome, replica)
    } else if isCreatedAgain {
      try checkCreatedAgain(outcome, store, after)
      if outcome == .delete { try checkSuperseded(report, store) }
    } else {
      if outcome == .delete, store.record.exists {
        try checkSuperseded(report, store)
      }
      let isUnseen = hasUnseenEdit(store)
      try equal(
        "\(name): exists after a deletion", after.exists,
        outcome == .deleteBeside && store.record.exists && isUnseen)
      try equal(
        "\(name): survivors", report.survivingRecords[card] != nil, after.exists
      )
    }
  }

  private func hasUnseenEdit(_ store: Store) -> Bool {
    store.record[.existence].marks.contains {
      $0.kind == .alive && !seen(.existence).clock.contains($0.dot)
    }
      || store.record.fields.contains {
        !store.record[$0].clock.isContained(in: seen($0).clock)
      }
  }

  /// If the deletion is refused, the save writes nothing and reports all edits
  /// that are lost with it.
  private func checkRefused(
    _ report: ContextReport, _ outcome: DeletionOutcome, _ store: Store,
    _ after: Record
  ) throws(FuzzFailure) {
    let name = policy.name
    try require(report.dot == nil, "\(name): a refused deletion saves")
    try equal("\(name): exists", after.exists, store.record.exists)
    let isReported = report.dropped.contains { $0.content == .deletion }
    try equal("\(name): reported", isReported, outcome == .keepRecord)
    var lost: Set<PolicyRow.Dropped> = []
    for key in keys {
      let isQueued = outcome == .reportConflict && !quiet.contains(key)
      let later = isQueued ? nil : myValue(key)
      let earlier =
        mine[key] == nil ? undone.values[key] ?? baseValue(key) : baseValue(key)
      if let later, later != store.value(key) {
        lost.insert(.init(field: key, value: later))
      }
      if earlier != baseValue(key), earlier != store.value(key) {
        lost.insert(.init(field: key, value: earlier))
      }
    }
    try equal("\(name): dropped", droppedValues(report), lost)
    let edited = report.dropped.compactMap { dropped in
      if case .edit = dropped.content { dropped.field } else { nil }
    }
    try equal(
      "\(name): dropped edits", edited.sorted(), (undone.edits + edits).sorted()
    )
  }

  /// If the record is created again, it holds the later writes.
  ///
  /// It also holds the unseen changes, if the policy keeps them.
  private func checkCreatedAgain(
    _ outcome: DeletionOutcome, _ store: Store, _ after: Record
  ) throws(FuzzFailure) {
    let name = policy.name
    try require(after.exists, "\(name): is not created again")
    for key in keys {
      if let value = myValue(key) {
        try equal("\(name): \(key)", after[key].value, value)
      } else if outcome == .delete
        || !isConflict(store) && !quiet.contains(key)
      {
        try equal("\(name): \(key)", after[key].value, nil)
      }
      let isPlain = quiet.contains(key) && myValue(key) != nil
      guard outcome == .deleteBeside, !isPlain else { continue }
      for write in store.record[key].writes
      where !seen(key).clock.contains(write.dot) {
        try require(
          after[key].writes.contains(write),
          "\(name): \(key) loses \(write), which was not shown")
      }
    }
    guard outcome == .delete || !isConflict(store) else { return }
    for key in PolicyTable.extras {
      var expected = FieldReading()
      if edits.contains(key) { expected.add(5, in: key.kind) }
      try equal("\(name): \(key)", after[key].reading, expected)
    }
  }

  /// If a deletion supersedes unseen changes, the report lists them.
  ///
  /// It must contain every field with an unseen write, and may contain only
  /// fields that an unseen save touched.
  private func checkSuperseded(
    _ report: ContextReport, _ store: Store
  ) throws(FuzzFailure) {
    let reported = Set(report.dropped.compactMap(\.field))
    for key in keys + PolicyTable.extras
    where !quiet.contains(key) && myValue(key) == nil {
      let isTouched = store.record[key].clock != seen(key).clock
      if holdsUnseenWrite(key, store) {
        try require(
          reported.contains(key),
          "\(policy.name): an unseen write of \(key) is gone without report")
      }
      try require(
        isTouched || !reported.contains(key),
        "\(policy.name): \(key) is reported, and no unseen save touched it")
    }
  }

  private func holdsUnseenWrite(_ key: FieldKey, _ store: Store) -> Bool {
    let (now, clock) = (store.record[key], seen(key).clock)
    if key.kind == .counter {
      // A counter names no saves. A value remains after an unseen save.
      return now.clock != clock && now.count != 0
    }
    return now.saves.contains { !clock.contains($0) }
  }

  /// Resolving a queued deletion supersedes what the conflict displayed.
  private func checkQueuedDeletion(
    _ context: EditingContext, _ outcome: DeletionOutcome, _ replica: Replica
  ) throws {
    try equal(
      "\(policy.name): queued deletions",
      context.pendingConflicts.filter(\.isDeletion).count,
      outcome == .reportConflict ? 1 : 0)
    guard outcome == .reportConflict else { return }
    let later = try Self.reopened(context, replica)
    let report = try later.resolveDeletion(of: PolicyTable.card, deletes: true)
    try require(
      !replica.exists(PolicyTable.card) && report.survivingRecords.isEmpty,
      "a resolved deletion leaves the record")
    try require(
      later.pendingConflicts.isEmpty, "a resolved deletion stays queued")
  }
}
