// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension Replica {
  /// The bytes of a delta of the whole replica, with every ledger folded.
  ///
  /// Each replica decides how far to fold its ledgers. If all of them are
  /// folded, replicas with the same saves have equal bytes.
  package var foldedBytes: [UInt8] {
    guard let delta = delta() else { return [] }
    let changes = delta.changes
    let keys = changes.lazy.flatMap(\.fields.keys)
    if !keys.contains(where: { $0.kind == .ledger }) { return delta.encoded() }
    let folded = changes.map { change in
      Delta.Change(
        id: change.id, fields: change.fields.mapValues(\.foldingLedger))
    }
    return Delta(changes: folded, intervals: delta.intervals).encoded()
  }
}

extension FieldState {
  fileprivate var foldingLedger: FieldState {
    guard case .ledger(let field) = box else { return self }
    var ledger = field.store
    _ = ledger.fold(below: field.clock)
    return FieldState(Causal(store: ledger, context: field.context))
  }
}
