// SPDX-License-Identifier: Apache-2.0
import Rejoin
import RejoinTesting

// The verbs of random saves.
extension ScriptGenerator {
  /// Returns one to five verbs.
  mutating func verbs() -> [ScriptVerb] {
    (0...random.number(below: 5)).map { _ in verb() }
  }

  /// Returns verbs before and after those of a context, or none.
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
    default: return moving(edit(of: id, universe.fields))
    }
  }

  /// Returns a move instead of some of the writes to quiet registers.
  ///
  /// The written number names the neighbors, so that the draws stay the same.
  private func moving(_ verb: ScriptVerb) -> ScriptVerb {
    guard case .edit(let id, let key, .write(.int(let number)?)) = verb,
      universe.schema.isQuiet(key, in: id.entity), number >= 20
    else { return verb }
    let neighbors = universe.records.map(Optional.some) + [nil]
    let (left, right) = Int(number).quotientAndRemainder(
      dividingBy: neighbors.count)
    return .move(
      id, key, after: neighbors[left % neighbors.count],
      before: neighbors[right])
  }

  mutating func edit(
    of id: RecordID, _ fields: [FieldKey]
  ) -> ScriptVerb {
    let key = random.pick(fields)
    return .edit(id, key, edit(of: key.kind))
  }

  /// Returns the rows of one of three imports.
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

  /// Returns an edit of a field, or a touch of the record.
  private mutating func row(
    of id: RecordID, _ fields: [FieldKey]
  ) -> ScriptVerb {
    random.chance(percent: 10) ? .touch(id) : edit(of: id, fields)
  }

  /// Returns a pull of rows from one of two servers, with a time near the
  /// device's or a wrong one.
  mutating func pull(on i: Int, at now: Int64) -> ScriptStep {
    let registers = universe.fields.filter { $0.kind == .register }
    let rows = (0...random.number(below: 3)).map { _ in
      row(of: random.pick(universe.records), registers)
    }
    let kind = random.number(below: 8)
    let time =
      kind < 5
      ? now &+ Int64(kind - 2) * 60_000
      : [.min, now &+ 300_001, .max][kind - 5]
    return .pull(
      on: i, from: random.chance(percent: 70) ? "S" : "T", at: time, rows)
  }

  mutating func edit(of kind: FieldKind) -> FieldEdit {
    kind.scriptEdit(&random)
  }
}
