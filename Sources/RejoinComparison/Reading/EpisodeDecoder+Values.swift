// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension EpisodeDecoder {
  func record(
    _ json: JSONValue, _ path: String, _ kinds: [String: FieldKind]
  ) throws(EpisodeFileError) -> PlainRecord? {
    if json == .scalar(.null) { return nil }
    var record: PlainRecord = [:]
    for (field, json) in try object(json, path) {
      record[field] =
        try content(json, "\(path).\(field)", kinds[field] ?? .register)
    }
    return record
  }

  func content(
    _ json: JSONValue, _ path: String, _ kind: FieldKind
  ) throws(EpisodeFileError) -> Content {
    switch kind {
    case .counter: .count(try integer(json, path))
    case .set: .elements(Set(try texts(json, path).map(Value.string)))
    default: .value(try scalar(json, path))
    }
  }

  func scalar(
    _ json: JSONValue, _ path: String
  ) throws(EpisodeFileError) -> Value {
    guard case .scalar(let value) = json else {
      throw wrongType(
        json, path,
        "a string, a number, a boolean or null, or declare the field a set in "
          + "\"kinds\"")
    }
    return value
  }

  func integer(
    _ json: JSONValue, _ path: String
  ) throws(EpisodeFileError) -> Int64 {
    guard case .scalar(.int(let number)) = json else {
      throw wrongType(json, path, "an integer")
    }
    return number
  }

  func text(
    _ json: JSONValue, _ path: String
  ) throws(EpisodeFileError) -> String {
    guard case .scalar(.string(let text)) = json else {
      throw wrongType(json, path, "a string")
    }
    return text
  }

  func optionalText(
    _ json: JSONValue?, _ path: String
  ) throws(EpisodeFileError) -> String? {
    guard let json else { return nil }
    return try text(json, path)
  }

  func texts(
    _ json: JSONValue, _ path: String
  ) throws(EpisodeFileError) -> [String] {
    var texts: [String] = []
    for (index, item) in try array(json, path).enumerated() {
      texts.append(try text(item, "\(path)[\(index)]"))
    }
    return texts
  }

  func array(
    _ json: JSONValue, _ path: String
  ) throws(EpisodeFileError) -> [JSONValue] {
    guard case .array(let items) = json else {
      throw wrongType(json, path, "an array")
    }
    return items
  }

  func object(
    _ json: JSONValue, _ path: String?
  ) throws(EpisodeFileError) -> [String: JSONValue] {
    guard case .object(let object) = json else {
      throw wrongType(json, path, "an object")
    }
    // `SchemaName` compares bytes, but `String` compares canonical equivalence,
    // so two keys may become equal here.
    let members = object.map { ($0.key.text, $0.value) }
    let fields = Dictionary(members) { first, _ in first }
    guard fields.count == object.count else {
      throw error(
        .malformed, path, "two keys differ only in Unicode normalization",
        "rename one of them")
    }
    return fields
  }

  func required(
    _ key: String, of json: [String: JSONValue], in path: String?
  ) throws(EpisodeFileError) -> JSONValue {
    guard let value = json[key] else {
      throw error(
        .missingKey, joined(path, key), "the key is missing",
        "add it")
    }
    return value
  }

  func check(
    _ keys: some Sequence<String>, against known: Set<String>, in path: String?
  ) throws(EpisodeFileError) {
    guard let key = keys.filter({ !known.contains($0) }).min() else { return }
    let names = known.sorted().joined(separator: ", ")
    throw error(
      .unknownKey, joined(path, key), "unknown key",
      "remove it, or use one of \(names)")
  }

  func wrongType(
    _ json: JSONValue, _ path: String?, _ wanted: String
  ) -> EpisodeFileError {
    error(.wrongType, path, "found \(json.typeName)", "write \(wanted)")
  }

  private func joined(_ path: String?, _ key: String) -> String {
    path.map { "\($0).\(key)" } ?? key
  }
}
