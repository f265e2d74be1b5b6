// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// What a register may show in the end.
///
/// Of several concurrent writes, only one can be shown; losing the others is
/// unavoidable. Equal values count as one. If a device deleted the record, its
/// writes before may be shown or not.
struct RegisterFacts {
  let field: String
  /// The last value of each device that did not delete the record, and how many
  /// wrote it: one of them must be shown.
  private var due: [Value?: Int] = [:]
  /// The values that may be shown; contains `due`.
  private var allowed: Set<Value?> = []

  init(_ field: String, base: Content?, _ histories: [History]) {
    self.field = field
    let fetched = base.flatMap { [field: $0].value(field) }
    var isForgotten = false
    for history in histories {
      var last: Value??
      for verb in history.verbs(on: field) {
        switch verb {
        case .set(let value): last = .some(value)
        case .clear: last = .some(nil)
        case .forget: (last, isForgotten) = (nil, true)
        case .remove, .insert, .add: break
        }
      }
      guard let last else { continue }
      allowed.insert(last)
      if !history.isDeleted { due[last, default: 0] += 1 }
    }
    guard due.isEmpty else { return }
    allowed.insert(fetched)
    if isForgotten { allowed.insert(nil) }
  }

  func losses(
    in state: PlainRecord?, kept: Set<Value?> = [], reported: Set<Value?> = []
  ) -> [Loss] {
    let shown = state.flatMap { $0.value(field) }
    let isAllowed = allowed.contains(shown)
    if state == nil && due.isEmpty { return [] }
    var lost = Set(due.keys).subtracting([shown])
    if due.isEmpty && !isAllowed { lost = allowed }
    guard !lost.isEmpty else { return [] }
    // One of several values is shown at best. Where none of them is, every edit is
    // lost that need not have been.
    let edits = lost.reduce(0) { $0 + (due[$1] ?? 1) }
    let gone = lost.subtracting(kept)
    return [
      .register(
        field, lost: lost.sortedWithUnset, shown: shown,
        excess: isAllowed ? 0 : edits - (lost.count - 1),
        reported: gone.intersection(reported).sortedWithUnset,
        unrecoverable: gone.subtracting(reported).sortedWithUnset)
    ]
  }
}

extension Set<Value?> {
  /// The values in canonical order, an unset register's first.
  var sortedWithUnset: [Value?] {
    let values = compactMap(\.self).sorted()
    return (contains(nil) ? [nil] : []) + values
  }
}
