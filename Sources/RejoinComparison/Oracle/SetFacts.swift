// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Which elements a set must contain in the end, and which it may.
struct SetFacts {
  let field: String
  /// The elements of the base that no device removed.
  private var untouched: Set<Value>
  /// The inserted elements whose insertion no removal had seen.
  private var inserted: Set<Value> = []
  /// Likewise, but their device then deleted the record: they may be present.
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
