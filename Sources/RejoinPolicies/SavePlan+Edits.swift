// SPDX-License-Identifier: Apache-2.0

import Rejoin

// Counters, sets and ledgers, whose edits never conflict with each other.
extension SavePlan {
  /// The edits of counters, sets and ledgers that the save applies.
  ///
  /// An edit that supersedes all replaces the field's state, including changes
  /// that the context had not seen.
  var editsToApply: [FieldKey: (edit: FieldEdit, supersedesAll: Bool)] {
    if decision.dropsMergeableEdits { return [:] }
    let mine = record.changes.edits
    guard overwrites else { return mine.mapValues { ($0, false) } }
    var edits: [FieldKey: (edit: FieldEdit, supersedesAll: Bool)] = [:]
    for key in record.seenFields.union(now.fields).union(mine.keys) {
      let shown = record.edited(key)
      func edit(_ store: FieldState) -> (FieldEdit, Bool)? {
        store.overwriting(with: shown.stored, after: shown.edit)
      }
      // If the save revives the record, its fields return.
      edits[key] =
        (now.exists || revives ? edit(now[key]) : nil)
        ?? (now.exists ? nil : edit(FieldState(key.kind)))
    }
    return edits
  }
}
