// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension EditingContext {
  /// Saves the edits of all records under one dot.
  ///
  /// If a record cannot be saved, for example because a counter would overflow,
  /// it stays in the context, and ``ContextReport/failedRecords`` lists it. The
  /// other records are saved.
  ///
  /// - Parameter name: The name in the Undo menu, or `nil` if `Replica.undo()`
  ///   should not undo the save. The default is `nil`.
  /// - Returns: The fields that were written, the changes that the policy
  ///   dropped, and the conflicts.
  /// - Throws: ``ContextSaveError/conflict(_:)`` if a record is in conflict and
  ///   the policy is ``MergePolicy/error``, or ``ContextSaveError/save(_:)`` if
  ///   the replica cannot save at all. If an error is thrown, nothing is
  ///   written, and the edits stay in the context.
  @discardableResult
  public func save(
    undoable name: String? = nil
  ) throws(ContextSaveError) -> ContextReport {
    if automaticallyMergesChangesFromParent { refresh() }
    let (report, saved) = try save(Array(records.values), undoable: name)
    for id in saved { records[id] = EditedRecord(id, from: replica) }
    return report
  }

  /// Saves edited records under one dot.
  ///
  /// - Returns: The report, and the records whose edits are not pending
  ///   anymore.
  func save(
    _ edited: [EditedRecord], undoable name: String?
  ) throws(ContextSaveError) -> (ContextReport, Set<RecordID>) {
    var plans = edited.filter { $0.hasChanges && $0.failure == nil }
      .sorted { $0.id < $1.id }
      .map { SavePlan($0, in: replica, under: mergePolicy) }
    let refused = plans.filter(\.decision.isRefused)
    if !refused.isEmpty {
      throw .conflict(MergeConflictError(conflicts: refused.map(\.conflict)))
    }
    var report = ContextReport()
    for record in edited { report.failedRecords[record.id] = record.failure }
    plans.removeAll { plan in
      // A save is all or nothing, so leave out a record that would make it
      // fail.
      guard let failure = plan.failure(in: replica) else { return false }
      report.failedRecords[plan.record.id] = failure
      return true
    }
    try execute(&plans, undoable: name, into: &report)
    for plan in plans { finish(plan, into: &report) }
    return (report, Set(plans.map(\.record.id)))
  }

  /// Executes the plans, except those of records that would become too large.
  private func execute(
    _ plans: inout [SavePlan], undoable name: String?,
    into report: inout ContextReport
  ) throws(ContextSaveError) {
    do {
      let saved = try replica.save(undoable: name) { [plans] transaction in
        for plan in plans { plan.execute(in: transaction) }
      }
      report.dot = saved.dot
      if saved.unseenSupersededWrites.isEmpty { return }
      let plans = Dictionary(
        uniqueKeysWithValues: plans.map { ($0.record.id, $0) })
      report.dropped = saved.unseenSupersededWrites.compactMap {
        plans[$0.record]?.dropped($0)
      }
    } catch .recordTooLarge(let id, let byteCount)
      where plans.contains(where: { $0.record.id == id })
    {
      report.failedRecords[id] = .recordTooLarge(id, byteCount: byteCount)
      plans.removeAll { $0.record.id == id }
      try execute(&plans, undoable: name, into: &report)
    } catch { throw .save(error) }
  }

  private func finish(_ plan: SavePlan, into report: inout ContextReport) {
    let id = plan.record.id
    if !plan.written.isEmpty { report.writtenFields[id] = plan.written }
    report.dropped += plan.dropped
    if plan.decision.isConflict { report.conflicts.append(plan.conflict) }
    if let queued = plan.queued {
      queue.append(queued.displayed(after: report.dot))
    }
    if plan.writes { reportHiding(of: id, in: &report) }
    guard plan.deletes else { return }
    report.deletedRecords.insert(id)
    if !plan.record.isCreatedAgain { reportSurvival(of: id, in: &report) }
  }

  /// Reports an edited record that stays deleted.
  func reportHiding(of id: RecordID, in report: inout ContextReport) {
    if !replica.exists(id) { report.hiddenRecords.insert(id) }
  }

  /// Reports the edits that keep a deleted record alive, if it still exists.
  func reportSurvival(of id: RecordID, in report: inout ContextReport) {
    guard let record = replica.record(id), record.exists else { return }
    report.survivingRecords[id] =
      report.dot.map { record.edits(besideDeletion: $0) } ?? []
  }
}

extension SaveError {
  /// The record that made the save fail, or `nil` if no single record did.
  var record: RecordID? {
    if case .counterOverflow(let id, _) = self { id } else { nil }
  }
}
