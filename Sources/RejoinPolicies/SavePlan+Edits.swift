// SPDX-License-Identifier: Apache-2.0

import Rejoin

// Counters, sets and ledgers, whose edits never conflict with each other.
extension SavePlan {
  /// The edits of counters, sets and ledgers that the save applies.
  ///
  /// An edit that supersedes all replaces the field's state, including what the
  /// context had not shown.
  var editsToApply: [FieldKey: (edit: FieldEdit, supersedesAll: Bool)] {
    if decision.dropsEdits { return [:] }
    let mine = record.changes.edits
    guard overwrites else { return mine.mapValues { ($0, false) } }
    var edits: [FieldKey: (edit: FieldEdit, supersedesAll: Bool)] = [:]
    for key in record.seenFields.union(now.fields).union(mine.keys) {
      if let edit = overwriting(key) {
        edits[key] = (edit, true)
      } else if key.kind == .ledger, let edit = mine[key] {
        edits[key] = (edit, false)
      }
    }
    return edits
  }

  /// The edit that sets a counter or a set to what the context shows; `nil` if
  /// the store shows the same, or for another kind.
  private func overwriting(_ key: FieldKey) -> FieldEdit? {
    let store = now.exists ? now[key] : FieldState(key.kind)
    switch key.kind {
    case .counter:
      let mine = record.count(of: key)
      if mine == store.count { return nil }
      return .count(CounterEdit(by: mine, isReset: true))
    case .set:
      let (new, old) = (Set(record.elements(of: key)), Set(store.elements))
      if new == old { return nil }
      return .members(
        SetEdit(
          inserting: Array(new.subtracting(old)),
          removing: Array(old.subtracting(new))))
    default: return nil
    }
  }
}
