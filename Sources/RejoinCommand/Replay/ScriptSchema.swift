// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinComparison

/// The first line of a script: the entities and their fields.
struct ScriptSchema {
  private(set) var entities: [SchemaName: Schema.Definition] = [:]

  /// The schema of the library.
  var schema: Schema { Schema(entities) }

  init(_ line: consuming ScriptLine) throws(ScriptError) {
    guard line.has("entities") else {
      throw line.error(
        "a script begins with its schema; write {\"entities\": {…}}")
    }
    for (name, json) in try line.object("entities") {
      var entity = try ScriptLine(
        json, number: line.number, of: "entity \"\(name)\"")
      guard !name.isEmpty, !name.contains("/"), !name.hasPrefix("rejoin.")
      else {
        throw line.error(
          "\"\(name)\" cannot name an entity; use a name that is not empty, "
            + "with no \"/\", and with no \"rejoin.\" at its start")
      }
      try ScriptSchema.checkLength(of: name, entity)
      entities[SchemaName(name)] = try ScriptSchema.definition(&entity)
      try entity.finish()
    }
    try line.finish()
  }

  /// The names for the kinds of fields in a script.
  private static let declarations: [String: (kind: FieldKind, isQuiet: Bool)] =
    FieldKind.allCases.reduce(
      into: ["lww": (.register, true), "position": (.register, true)]
    ) { $0[$1.rawValue] = ($1, false) }

  private static func definition(
    _ entity: inout ScriptLine
  ) throws(ScriptError) -> Schema.Definition {
    var definition = Schema.Definition()
    for (field, json) in try entity.object("fields") {
      guard !field.isEmpty, case .scalar(.string(let name)) = json,
        let (kind, isQuiet) = declarations[name]
      else {
        let kinds = declarations.keys.sorted()
        throw entity.error(
          "field \"\(field)\" needs a name that is not empty, and one of the "
            + "kinds " + kinds.joined(separator: ", "))
      }
      try checkLength(of: field, entity)
      let key = FieldKey(field, kind)
      definition.fields.insert(key)
      if isQuiet { definition.quietFields.insert(key) }
    }
    if let rule = try entity.optionalText("deletion") {
      guard let rule = DeletionRule(rawValue: rule) else {
        throw entity.error(
          "unknown deletion rule \"\(rule)\"; use updateWins or deleteWins")
      }
      definition.deletion = rule
    }
    return definition
  }

  private static func checkLength(
    of name: String, _ line: ScriptLine
  ) throws(ScriptError) {
    let (count, limit) = (name.utf8.count, Limits.nameBytes)
    guard count > limit else { return }
    throw line.error(
      "the name \"\(name.prefix(20))…\" has \(count) bytes; shorten it to "
        + "\(limit) bytes")
  }

  /// Reads the ID of a record, `Entity/key`.
  func record(
    _ text: String, in line: ScriptLine
  ) throws(ScriptError) -> RecordID {
    guard let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) else {
      throw line.error("\"\(text)\" is no record ID; write Entity/key")
    }
    let entity = String(text[..<slash])
    guard entities[SchemaName(entity)] != nil else {
      throw line.error(
        "entity \"\(entity)\" is not in the schema; add it to the first line")
    }
    return RecordID(entity, String(text[text.utf8.index(after: slash)...]))
  }

  /// The key of a field, by the entity and the field's name.
  func field(
    _ name: String, of id: RecordID, in line: ScriptLine
  ) throws(ScriptError) -> FieldKey {
    guard let key = entities[SchemaName(id.entity)]?.field(named: name) else {
      throw line.error(
        "\(id.entity) has no field \"\(name)\" in the schema; add it to the "
          + "first line")
    }
    return key
  }
}
