// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension EditingContext {
  /// Settles fields by hand, in one save.
  ///
  /// It supersedes what was displayed, when the record was fetched or with the
  /// conflict that ``MergePolicy/manual`` queued, and nothing that has come since.
  /// A queued deletion is settled when all its fields are: the record stays.
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
    let queued = conflicts.filter { $0.record == id }
    // A record that only a stored conflict has displayed is not fetched for it.
    let isShown = queued.isEmpty || records[id] != nil
    let record = isShown ? current(id) : nil
    var marks = record?.fetched.existence.clock ?? VectorClock()
    for conflict in queued { marks.merge(conflict.marks) }
    let report = try replica.save { transaction in
      transaction.upsert(
        id, observed: FieldState(seen: marks),
        creatingAgain: record?.fieldsToDrop(in: replica))
      for (key, value) in values.sorted(by: { $0.key < $1.key }) {
        let seen =
          queued.last { $0.displayed(key) != nil }?.displayed(key)
          ?? record?.fetched[key].clock ?? VectorClock()
        transaction.apply(
          .write(value), to: key, of: id, observed: FieldState(seen: seen))
      }
    }
    let settled = Set(values.keys.map { Name($0.name) })
    conflicts = conflicts.compactMap {
      $0.record == id ? $0.without(settled.contains) : $0
    }
    records[id]?.settle(values.keys, from: replica)
    return report
  }

  /// Settles a deletion that ``MergePolicy/manual`` queued.
  ///
  /// Deleting supersedes the marks that were displayed with the conflict; an edit
  /// that has come since keeps the record, which the report says.
  ///
  /// - Parameters:
  ///   - id: The record; where no deletion of it is queued, nothing happens.
  ///   - deletes: Whether the record goes. If not, it stays as the store has it,
  ///     and nothing is saved.
  /// - Throws: ``SaveError``; nothing has changed then.
  @discardableResult
  public func resolveDeletion(
    of id: RecordID, deletes: Bool
  ) throws(SaveError) -> ContextReport {
    var report = ContextReport()
    let queued = conflicts.filter { $0.record == id && $0.isDeletion }
    if deletes, !queued.isEmpty {
      let marks = queued.reduce(VectorClock()) { $0.merging($1.marks) }
      report.dot = try replica.save {
        $0.delete(id, observed: FieldState(seen: marks))
      }.dot
      report.deleted = [id]
      reportSurvival(of: id, in: &report)
    }
    conflicts.removeAll { $0.record == id && $0.isDeletion }
    records[id]?.refresh(from: replica)
    return report
  }
}

extension FieldState {
  /// A register of which nothing is known but what its reader has seen.
  fileprivate init(seen: VectorClock) {
    self = .register(
      Causal(store: Siblings(), context: CausalContext(seen)))
  }
}
