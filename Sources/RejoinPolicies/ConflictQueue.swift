// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Queued conflicts in order, indexed by record.
struct ConflictQueue: Sendable {
  /// The conflicts, with an empty slot for each resolved one, so the others
  /// need not move.
  private var slots: [EditConflict?] = []
  /// The inverse of `slots`, each list in ascending order.
  private var indices: [RecordID: [Int]] = [:]
  private var count = 0

  init(_ conflicts: [EditConflict] = []) {
    for conflict in conflicts { append(conflict) }
  }

  /// All conflicts, in order.
  ///
  /// - Complexity: O(*n*), where *n* is the number of conflicts.
  var all: [EditConflict] { slots.compactMap(\.self) }

  mutating func append(_ conflict: EditConflict) {
    indices[conflict.record, default: []].append(slots.count)
    slots.append(conflict)
    count += 1
  }

  /// The conflicts of a record, in order.
  subscript(id: RecordID) -> [EditConflict] {
    (indices[id] ?? []).compactMap { slots[$0] }
  }

  /// Replaces each conflict of a record, or removes it if `change` returns
  /// `nil`.
  ///
  /// - Complexity: O(*k*), amortized, where *k* is the number of conflicts of
  ///   the record.
  mutating func update(
    _ id: RecordID, _ change: (EditConflict) -> EditConflict?
  ) {
    for index in indices.removeValue(forKey: id) ?? [] {
      slots[index] = slots[index].flatMap(change)
      if slots[index] == nil {
        count -= 1
      } else {
        indices[id, default: []].append(index)
      }
    }
    if slots.count > 2 * count + 16 { self = ConflictQueue(all) }
  }
}
