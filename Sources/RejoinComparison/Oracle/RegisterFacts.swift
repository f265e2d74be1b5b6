// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// What a register may show in the end.
///
/// Of several writes that had not seen each other one can be shown; that the
/// others are not is unavoidable. Equal values count as one. A device's writes
/// before its own deletion of the record may be shown, and need not be.
struct RegisterFacts {
  let field: String
  /// The values written last, each of them by somebody who let it stand.
  private var due: Set<Value?> = []
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
      if !history.isDeleted { due.insert(last) }
    }
    guard due.isEmpty else { return }
    allowed.insert(fetched)
    if isForgotten { allowed.insert(nil) }
  }

  func losses(in state: PlainRecord?, kept: Set<Value?>) -> [Loss] {
    let shown = state.flatMap { $0.value(field) }
    let isAllowed = allowed.contains(shown)
    if state == nil && due.isEmpty { return [] }
    var lost = due.subtracting([shown])
    if due.isEmpty && !isAllowed { lost = allowed }
    guard !lost.isEmpty else { return [] }
    let unrecoverable = lost.subtracting(kept)
    return [
      .register(
        field, lost: lost.sortedWithUnset, shown: shown,
        isAvoidable: !isAllowed,
        unrecoverable: unrecoverable.sortedWithUnset)
    ]
  }
}

extension Set<Value?> {
  /// The values in canonical order, an unset register first.
  var sortedWithUnset: [Value?] {
    let values = compactMap(\.self).sorted()
    return (contains(nil) ? [nil] : []) + values
  }
}
