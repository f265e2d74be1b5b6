// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinComparison

/// The verbs of a line on one record, in the order in which they apply: `set`,
/// `clear`, `reset`, `increment`, `insert`, `remove`, `append`, `move`.
struct ScriptVerbs {
  let id: RecordID
  /// The edits in the order of their application.
  private(set) var edits: [(key: FieldKey, edit: FieldEdit)] = []
  /// The fields whose position changes, and the records on both sides of the gap.
  private(set) var moves: [(key: FieldKey, gap: [RecordID?])] = []

  init(
    _ line: inout ScriptLine, on id: RecordID, _ schema: ScriptSchema
  ) throws(ScriptError) {
    self.id = id
    for (name, json) in try line.object("set") {
      let key = try schema.field(name, of: id, in: line)
      guard let value = json.fieldValue else {
        throw line.error(
          "\"\(name)\" must be set to a scalar: a string, a number, a boolean "
            + "or null")
      }
      try add(.write(value), to: key, "set", line)
    }
    for name in try line.texts("clear") {
      let key = try schema.field(name, of: id, in: line)
      edits.append((key, ScriptVerbs.clearing(key.kind)))
    }
    for name in try line.texts("reset") {
      let key = try schema.field(name, of: id, in: line)
      try add(.count(CounterEdit(by: 0, isReset: true)), to: key, "reset", line)
    }
    for (name, json) in try line.object("increment") {
      let key = try schema.field(name, of: id, in: line)
      guard case .scalar(.int(let amount)) = json else {
        throw line.error("\"\(name)\" must be incremented by an integer")
      }
      try add(.count(CounterEdit(by: amount)), to: key, "increment", line)
    }
    try takeMembers("insert", &line, schema) { SetEdit(inserting: $0) }
    try takeMembers("remove", &line, schema) {
      SetEdit(inserting: [], removing: $0)
    }
    try takeEntries(&line, schema)
    try takeGaps(&line, schema)
  }

  /// Applies the verbs in a transaction.
  func apply(to transaction: Transaction) {
    for (key, change) in edits { transaction.apply(change, to: key, of: id) }
    place(in: transaction)
  }

  /// Places the record in its gaps.
  func place(in target: some EditTarget) {
    for (key, gap) in moves {
      let neighbors = gap.map { record in
        record.flatMap { target.edited(key, of: $0).value }
          .flatMap(Position.init)
      }
      target.place(key, of: id, between: neighbors[0], and: neighbors[1])
    }
  }

  private mutating func add(
    _ edit: FieldEdit, to key: FieldKey, _ verb: String, _ line: ScriptLine
  ) throws(ScriptError) {
    guard edit.kind == key.kind else {
      throw line.error(
        "\"\(verb)\" cannot change \"\(key.name)\", which is a "
          + "\(key.kind.rawValue)")
    }
    edits.append((key, edit))
  }

  private mutating func takeMembers(
    _ verb: SchemaName, _ line: inout ScriptLine, _ schema: ScriptSchema,
    _ edit: ([Value]) -> SetEdit
  ) throws(ScriptError) {
    for (name, json) in try line.object(verb) {
      let key = try schema.field(name, of: id, in: line)
      guard case .array(let elements) = json else {
        throw line.error(
          "\"\(name)\" in \"\(verb)\" must be a list of elements")
      }
      let values = elements.compactMap(\.fieldValue)
      guard values.count == elements.count else {
        throw line.error(
          "the elements of \"\(name)\" in \"\(verb)\" must be scalars: "
            + "strings, numbers, booleans or null")
      }
      try add(.members(edit(values)), to: key, verb.text, line)
    }
  }

  private mutating func takeEntries(
    _ line: inout ScriptLine, _ schema: ScriptSchema
  ) throws(ScriptError) {
    for (name, json) in try line.object("append") {
      let key = try schema.field(name, of: id, in: line)
      guard case .array(let elements) = json else {
        throw line.error("\"\(name)\" in \"append\" must be a list of integers")
      }
      var edit = LedgerEdit()
      for element in elements {
        guard case .scalar(.int(let amount)) = element else {
          throw line.error(
            "the entries of \"\(name)\" in \"append\" must be integers")
        }
        edit.append(amount, memo: nil)
      }
      try add(.append(edit), to: key, "append", line)
    }
  }

  private mutating func takeGaps(
    _ line: inout ScriptLine, _ schema: ScriptSchema
  ) throws(ScriptError) {
    for (name, json) in try line.object("move") {
      let key = try schema.field(name, of: id, in: line)
      guard schema.schema.isQuiet(key, in: id.entity) else {
        throw line.error(
          "\"\(name)\" has no position; declare it as \"position\" in the first "
            + "line")
      }
      guard case .array(let ends) = json, ends.count == 2 else {
        throw line.error(
          "\"\(name)\" in \"move\" must be the records on both sides of a gap, "
            + "or null at an end of the list")
      }
      var gap: [RecordID?] = []
      for end in ends {
        switch end {
        case .scalar(.null): gap.append(nil)
        case .scalar(.string(let text)):
          gap.append(try schema.record(text, in: line))
        default:
          throw line.error(
            "\"\(name)\" in \"move\" must name records, and not "
              + "\(end.typeName)")
        }
      }
      moves.append((key, gap))
    }
  }

  private static func clearing(_ kind: FieldKind) -> FieldEdit {
    switch kind {
    case .register: .write(nil)
    case .counter: .count(CounterEdit(by: 0, isReset: true))
    case .set: .members(.clearing)
    case .ledger: .append(.cancelling)
    case .existence: preconditionFailure("A schema has no such field.")
    }
  }
}
