// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Which elements a set must and may hold in the end.
struct SetFacts {
  let field: String
  /// The elements of the base that nobody removed.
  private var untouched: Set<Value>
  /// The insertions that no removal saw.
  private var inserted: Set<Value> = []
  /// Those of them that their device deleted with the record.
  private var withdrawn: Set<Value> = []

  init(_ field: String, base: Content?, _ histories: [History]) {
    self.field = field
    untouched = base.map { [field: $0].elements(field) } ?? []
    for history in histories {
      var mine: Set<Value> = []
      for verb in history.verbs(on: field) {
        switch verb {
        case .insert(let elements): mine.formUnion(elements)
        case .remove(let elements):
          mine.subtract(elements)
          untouched.subtract(elements)
        case .forget, .clear:
          (mine, untouched) = ([], [])
        case .set, .add: break
        }
      }
      if history.isDeleted {
        withdrawn.formUnion(mine)
      } else {
        inserted.formUnion(mine)
      }
    }
  }

  func losses(in state: PlainRecord?) -> [Loss] {
    let found = state?.elements(field) ?? []
    let due = state == nil ? inserted : inserted.union(untouched)
    let allowed = due.union(withdrawn)
    return due.subtracting(found).sorted().map { .addition(field, $0) }
      + found.subtracting(allowed).sorted().map { .removal(field, $0) }
  }
}
