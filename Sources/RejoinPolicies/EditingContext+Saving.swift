//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

import Rejoin

extension EditingContext {
  /// Saves the edits of all records, under one dot.
  ///
  /// A record that cannot be saved, for example because a counter would overflow,
  /// stays in the context and is reported; the others are saved.
  ///
  /// - Returns: What was written, what the policy dropped, and what was queued.
  /// - Throws: ``ContextSaveError/conflict(_:)`` under ``MergePolicy/error``, where
  ///   anything is in conflict; ``ContextSaveError/save(_:)`` where the replica can
  ///   save nothing at all. The edits stay in the context then, and nothing is
  ///   written.
  @discardableResult
  public func save() throws(ContextSaveError) -> ContextReport {
    if automaticallyMergesChangesFromParent { refresh() }
    var plans = records.values.filter(\.hasChanges)
      .sorted { $0.id < $1.id }
      .map { SavePlan($0, in: replica, under: mergePolicy) }
    let refused = plans.filter(\.decision.isRefused)
    if !refused.isEmpty {
      throw .conflict(MergeConflict(conflicts: refused.map(\.conflict)))
    }
    var report = ContextReport()
    while true {
      do {
        let saved = try replica.save { edit in
          for plan in plans { plan.carryOut(in: edit) }
        }
        report.dot = saved.dot
        report.retained = saved.retained
        report.dropped = saved.superseded.compactMap { superseded in
          plans.first { $0.record.id == superseded.record }?
            .dropped(superseded)
        }
        break
      } catch {
        guard let culprit = error.record,
          let i = plans.firstIndex(where: { $0.record.id == culprit })
        else { throw .save(error) }
        report.failures[culprit] = error
        plans.remove(at: i)
      }
    }
    for plan in plans { finish(plan, into: &report) }
    return report
  }

  /// Settles fields by hand, in one save.
  ///
  /// It supersedes what was displayed, when the record was fetched or with the
  /// conflict that ``MergePolicy/manual`` queued, and nothing that has come since.
  ///
  /// - Parameters:
  ///   - id: The record.
  ///   - values: The values to write; `nil` unsets.
  /// - Throws: ``SaveError``; nothing has changed then.
  @discardableResult
  public func resolve(
    _ id: RecordID, _ values: [FieldKey: Value?]
  ) throws(SaveError) -> SaveReport {
    if values.isEmpty { return SaveReport() }
    let record = current(id)
    let queued = conflicts.filter { $0.record == id }
    let report = try replica.save { edit in
      edit.touch(
        id, observed: record.fetched.existence,
        creatingAgain: record.fieldsToDrop(in: replica))
      for (key, value) in values.sorted(by: { $0.key < $1.key }) {
        edit.apply(
          .write(value), to: key, of: id,
          observed: queued.last { $0.displayed(key) != nil }?.displayed(key)
            ?? record.fetched[key])
      }
    }
    let settled = Set(values.keys.map { Name($0.name) })
    conflicts = conflicts.compactMap {
      $0.record == id ? $0.without(settled.contains) : $0
    }
    records[id]?.settle(values.keys, from: replica)
    return report
  }

  private func finish(_ plan: SavePlan, into report: inout ContextReport) {
    let id = plan.record.id
    if !plan.written.isEmpty { report.written[id] = plan.written }
    report.dropped += plan.dropped
    if plan.decision.isConflict { report.conflicts.append(plan.conflict) }
    let queued = plan.conflict.without {
      plan.decision.outcomes[$0] != .queue
    }
    if let queued { conflicts.append(queued) }
    records[id] = EditedRecord(id, from: replica)
  }
}

extension EditedRecord {
  /// What creating the record again drops, where it had been deleted when it was
  /// fetched and still is.
  func fieldsToDrop(in replica: Replica) -> [FieldKey: FieldState]? {
    fetched.isDead && replica.fetch(id).isDead ? fetched.fields : nil
  }
}

extension SaveError {
  /// The record that stands in the way of the save, if it is one record.
  fileprivate var record: RecordID? {
    switch self {
    case .counterOverflow(let id, _), .registerExhausted(let id, _): id
    default: nil
    }
  }
}
