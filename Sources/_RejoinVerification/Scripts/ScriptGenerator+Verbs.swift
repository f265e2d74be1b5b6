// SPDX-License-Identifier: Apache-2.0
import Rejoin
import RejoinTesting

// What a save of a random script does.
extension ScriptGenerator {
  /// One to five verbs.
  mutating func verbs() -> [ScriptVerb] {
    (0...random.number(below: 5)).map { _ in verb() }
  }

  /// Sometimes verbs before those of a context, and after them.
  mutating func company() -> ScriptCompany {
    guard random.chance(percent: weights.company) else {
      return ScriptCompany()
    }
    return ScriptCompany(
      before: random.chance(percent: 70) ? verbs() : [],
      after: random.chance(percent: 40) ? verbs() : [])
  }

  private mutating func verb() -> ScriptVerb {
    let id = random.pick(universe.records)
    switch random.number(below: 20) {
    case 0: return .touch(id)
    case 1, 2, 3: return .delete(id)
    default: return edit(of: id, universe.fields)
    }
  }

  private mutating func edit(
    of id: RecordID, _ fields: [FieldKey]
  ) -> ScriptVerb {
    let key = random.pick(fields)
    return .edit(id, key, edit(of: key.kind))
  }

  /// Rows that are the same every few times.
  mutating func rows() -> [ScriptVerb] {
    let rest = random
    random = SeededRandom(seed: UInt64(random.number(below: 3)))
    defer {
      random = rest
      _ = random.next()
    }
    return (0...random.number(below: 4)).map { _ in
      row(of: random.pick(universe.records), universe.fields)
    }
  }

  /// A field of a row, or a row without fields.
  private mutating func row(
    of id: RecordID, _ fields: [FieldKey]
  ) -> ScriptVerb {
    random.chance(percent: 10) ? .touch(id) : edit(of: id, fields)
  }

  /// Rows of one of two servers, which mostly knows the time.
  mutating func pull(on i: Int, at now: Int64) -> ScriptStep {
    let registers = universe.fields.filter { $0.kind == .register }
    let rows = (0...random.number(below: 3)).map { _ in
      row(of: random.pick(universe.records), registers)
    }
    let time = now &+ Int64(random.number(below: 5) - 2) * 60_000
    return .pull(
      on: i, from: random.chance(percent: 70) ? "S" : "T", at: time, rows)
  }

  mutating func edit(of kind: FieldKind) -> FieldEdit {
    kind.scriptEdit(&random)
  }
}
