//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//
import Rejoin

// What a save of a random script does.
extension ScriptGenerator {
  /// One to five verbs.
  mutating func verbs() -> [ScriptVerb] {
    (0...random.below(5)).map { _ in verb() }
  }

  private mutating func verb() -> ScriptVerb {
    let id = random.pick(universe.records)
    switch random.below(20) {
    case 0: return .touch(id)
    case 1, 2, 3: return .delete(id)
    default:
      let key = random.pick(universe.fields)
      return .edit(id, key, edit(of: key.kind))
    }
  }

  mutating func edit(of kind: FieldKind) -> FieldEdit {
    switch kind {
    case .register: .write(random.chance(15) ? nil : number())
    case .lww: .write(random.chance(15) ? nil : element())
    case .counter: .count(count())
    case .set, .removeWinsSet: .members(members())
    case .ledger: .append(entries())
    }
  }

  private mutating func number() -> Value {
    random.chance(10) ? .null : .int(Int64(random.below(50)))
  }

  private mutating func element() -> Value {
    .string(random.pick(["x", "y", "z"]))
  }

  private mutating func count() -> CounterEdit {
    CounterEdit(
      by: Int64(random.below(9)) - 4, isReset: random.chance(20))
  }

  private mutating func members() -> SetEdit {
    if random.chance(12) { return .clearing }
    return random.chance(60)
      ? SetEdit(inserting: [element()])
      : SetEdit(inserting: [], removing: [element()])
  }

  private mutating func entries() -> LedgerEdit {
    var edit: LedgerEdit = random.chance(10) ? .cancelling : LedgerEdit()
    edit.append(Int64(random.below(9)) - 4, memo: nil)
    return edit
  }
}
