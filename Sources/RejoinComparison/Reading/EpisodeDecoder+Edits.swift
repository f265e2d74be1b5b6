// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension EpisodeDecoder {
  private static let editKeys: Set = [
    "at", "clear", "delete", "device", "increment", "insert", "remove", "set",
  ]

  func edits(
    _ json: JSONValue, _ path: String, _ kinds: [String: FieldKind]
  ) throws(EpisodeFileError) -> [Episode.Edit] {
    var edits: [Episode.Edit] = []
    for (index, item) in try array(json, path).enumerated() {
      edits.append(try edit(item, "\(path)[\(index)]", kinds))
    }
    return edits
  }

  private func edit(
    _ json: JSONValue, _ path: String, _ kinds: [String: FieldKind]
  ) throws(EpisodeFileError) -> Episode.Edit {
    let json = try object(json, path)
    try check(json.keys, against: Self.editKeys, in: path)
    var edit = Episode.Edit(
      try text(required("device", of: json, in: path), "\(path).device"),
      at: try integer(required("at", of: json, in: path), "\(path).at"))
    edit.set = try set(json["set"], "\(path).set", kinds)
    edit.clear =
      try json["clear"].map { [self] json throws(EpisodeFileError) in
        try texts(json, "\(path).clear")
      } ?? []
    edit.insert = try elements(json["insert"], "\(path).insert", kinds)
    edit.remove = try elements(json["remove"], "\(path).remove", kinds)
    edit.increment = try amounts(json["increment"], "\(path).increment", kinds)
    try readDeletion(json["delete"], "\(path).delete", into: &edit)
    return edit
  }

  private func readDeletion(
    _ json: JSONValue?, _ path: String, into edit: inout Episode.Edit
  ) throws(EpisodeFileError) {
    guard let json else { return }
    guard json == .scalar(.bool(true)) else {
      throw wrongType(json, path, "true, or leave out the key")
    }
    guard edit.isEmpty else {
      throw error(
        .contradiction, path, "the edit also changes fields",
        "write the deletion as a separate edit")
    }
    edit.isDeletion = true
  }

  private func set(
    _ json: JSONValue?, _ path: String, _ kinds: [String: FieldKind]
  ) throws(EpisodeFileError) -> [String: Value] {
    guard let json else { return [:] }
    var values: [String: Value] = [:]
    for (field, json) in try object(json, path) {
      let path = "\(path).\(field)"
      if kinds[field] == .set {
        throw error(
          .contradiction, path, "the field is a set",
          "use \"insert\" and \"remove\"")
      }
      if kinds[field] == .counter {
        values[field] = .int(try integer(json, path))
      } else {
        values[field] = try scalar(json, path)
      }
    }
    return values
  }

  private func elements(
    _ json: JSONValue?, _ path: String, _ kinds: [String: FieldKind]
  ) throws(EpisodeFileError) -> [String: [Value]] {
    guard let json else { return [:] }
    var elements: [String: [Value]] = [:]
    for (field, json) in try object(json, path) {
      try demand(.set, of: field, "\(path).\(field)", kinds)
      elements[field] = try texts(json, "\(path).\(field)").map(Value.string)
    }
    return elements
  }

  private func amounts(
    _ json: JSONValue?, _ path: String, _ kinds: [String: FieldKind]
  ) throws(EpisodeFileError) -> [String: Int64] {
    guard let json else { return [:] }
    var amounts: [String: Int64] = [:]
    for (field, json) in try object(json, path) {
      try demand(.counter, of: field, "\(path).\(field)", kinds)
      amounts[field] = try integer(json, "\(path).\(field)")
    }
    return amounts
  }

  private func demand(
    _ kind: FieldKind, of field: String, _ path: String,
    _ kinds: [String: FieldKind]
  ) throws(EpisodeFileError) {
    guard kinds[field] != kind else { return }
    throw error(
      .contradiction, path, "the field is not a \(kind.rawValue)",
      "add \"\(field)\": \"\(kind.rawValue)\" to \"kinds\"")
  }
}
