// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension EditingContext {
  /// Writes the values that resolve fields in conflict, in one save.
  ///
  /// The write supersedes the siblings that the queued conflict displayed.
  /// Without a queued conflict, it supersedes those that existed when the
  /// record was fetched. Siblings that arrived later stay, except in a field
  /// declared with `lww`. Resolving all fields of a queued deletion also
  /// resolves the deletion, and the record is kept.
  ///
  /// - Parameters:
  ///   - id: The record.
  ///   - values: The values to write, or `nil` for a field to unset.
  ///   - name: The name in the Undo menu, or `nil` if `Replica.undo()` should
  ///     not undo the save. The default is `nil`.
  /// - Returns: The report of the save. If the record was deleted after the
  ///   conflict was queued, and the deletion wins,
  ///   ``ContextReport/hiddenRecords`` contains it.
  /// - Throws: `SaveError`. If an error is thrown, the context and the replica
  ///   are unchanged.
  /// - Complexity: O(*f*), where *f* is the number of fields of the record and
  ///   of its queued conflicts.
  @discardableResult
  public func resolve(
    _ id: RecordID, _ values: [FieldKey: Value?], undoable name: String? = nil
  ) throws(SaveError) -> ContextReport {
    var report = ContextReport()
    if values.isEmpty { return report }
    let queued = queue[id]
    // If the conflict was stored and this context did not fetch the record,
    // only the conflict was displayed. Fetching now would supersede unseen
    // changes.
    let isShown = queued.isEmpty || records[id] != nil
    let record = isShown ? current(id) : nil
    var marks = record?.fetched[.existence].clock ?? VectorClock()
    for conflict in queued { marks.merge(conflict.marks) }
    let quiet = replica.schema[id.entity].quietFields
    let now = replica.recordForEditing(id)
    let saved = try replica.save(undoable: name) { transaction in
      transaction.ensureExists(
        id, observed: FieldState(.existence, seen: marks),
        recreatingWith: record?.fieldsToDrop(in: replica))
      for (key, value) in values.sorted(by: { $0.key < $1.key }) {
        let seen =
          queued.last { $0.displayed(key) != nil }?.displayed(key)
          ?? record?.seen(key).clock ?? VectorClock()
        transaction.apply(
          .write(value), to: key, of: id,
          observed: quiet.contains(key)
            ? now[key] : FieldState(.register, seen: seen))
      }
    }
    report.dot = saved.dot
    report.dropped = saved.unseenSupersededWrites.map { superseded in
      DroppedChange(
        superseded, by: values[superseded.field] ?? nil, of: replica.device,
        rule: mergePolicy.name)
    }
    let settled = Set(values.keys.map { SchemaName($0.name) })
    report.writtenFields[id] = settled
    reportHiding(of: id, in: &report)
    queue.update(id) { $0.without(settled.contains) }
    records[id]?.settle(values.keys, from: replica)
    return report
  }

  /// Resolves a deletion that ``MergePolicy/manual`` queued.
  ///
  /// The deletion supersedes the changes that the conflict displayed. A later
  /// edit is concurrent with the deletion and may keep the record. The report
  /// lists such a record in ``ContextReport/survivingRecords``.
  ///
  /// - Parameters:
  ///   - id: The record. If no deletion of it is queued, nothing happens.
  ///   - deletes: Whether to delete the record. If `false`, the store's record
  ///     stays, and nothing is saved.
  ///   - name: The name in the Undo menu, or `nil` if `Replica.undo()` should
  ///     not undo the save. The default is `nil`.
  /// - Returns: The report of the save.
  /// - Throws: `SaveError`. If an error is thrown, the context and the replica
  ///   are unchanged.
  @discardableResult
  public func resolveDeletion(
    of id: RecordID, deletes: Bool, undoable name: String? = nil
  ) throws(SaveError) -> ContextReport {
    var report = ContextReport()
    let queued = queue[id].filter(\.isDeletion)
    if deletes, !queued.isEmpty {
      let marks = queued.reduce(VectorClock()) { $0.merging($1.marks) }
      let seen = queued.reduce(VectorClock()) { $0.merging($1.seen) }
      report.dot = try replica.save(undoable: name) {
        $0.delete(
          id, observed: FieldState(.existence, seen: marks), seen: seen)
      }.dot
      report.deletedRecords = [id]
      reportSurvival(of: id, in: &report)
    }
    queue.update(id) { $0.isDeletion ? nil : $0 }
    records[id]?.refresh(from: replica)
    return report
  }
}
