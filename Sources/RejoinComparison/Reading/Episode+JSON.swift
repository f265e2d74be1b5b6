// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension Episode {
  /// Returns the episode as a line of a file, without the line break.
  ///
  /// - Parameter isAnswered: Whether the line contains the resolution, the
  ///   group and the source, which a contender must not see.
  package func line(isAnswered: Bool) -> String {
    var members: [String: JSONValue] = [
      "id": .text(id), "base": base.json,
      "edits": .array(edits.map { $0.json(of: kinds) }),
      "arrival": .array((arrival ?? devices).map(JSONValue.text)),
    ]
    if !earlier.isEmpty {
      members["earlier"] = .array(earlier.map { $0.json(of: kinds) })
    }
    if !kinds.isEmpty {
      members["kinds"] = .members(kinds.mapValues { .text($0.rawValue) })
    }
    if isAnswered {
      switch resolution {
      case nil: break
      case .deleted: members["resolution"] = .scalar(.null)
      case .record(let record): members["resolution"] = Optional(record).json
      }
      members["resolvedBy"] = resolvedBy.map { .text($0.rawValue) }
      members["group"] = group.map(JSONValue.text)
      members["source"] = source.map(JSONValue.text)
    }
    return JSONValue.members(members).description
  }
}

extension Outcome {
  /// Returns the ending as a contender's line, without the line break.
  package func line(for episode: Episode) -> String {
    var members: [String: JSONValue] = ["id": .text(episode.id)]
    if states.count == 1 {
      members["record"] = states[0].json
    } else {
      members["records"] = .members(
        Dictionary(
          uniqueKeysWithValues: zip(episode.devices, states.map(\.json))))
    }
    let kept = kept.mapValues { contents in
      contents.map { $0?.json ?? .scalar(.null) }.sorted {
        $0.description < $1.description
      }
    }.filter { !$0.value.isEmpty }
    if !kept.isEmpty {
      members["kept"] = .members(kept.mapValues { .array($0) })
    }
    return JSONValue.members(members).description
  }
}

extension Episode.Edit {
  fileprivate func json(of kinds: [String: FieldKind]) -> JSONValue {
    var members: [String: JSONValue] = [
      "device": .text(device), "at": .scalar(.int(at)),
    ]
    func add(_ key: String, _ fields: [String: JSONValue]) {
      if !fields.isEmpty { members[key] = .members(fields) }
    }
    add("set", set.mapValues(\.json))
    add("insert", insert.mapValues { .array($0.map(\.json)) })
    add("remove", remove.mapValues { .array($0.map(\.json)) })
    add("increment", increment.mapValues { .scalar(.int($0)) })
    if !clear.isEmpty { members["clear"] = .array(clear.map(JSONValue.text)) }
    if isDeletion { members["delete"] = .scalar(.bool(true)) }
    return .members(members)
  }
}

extension PlainRecord? {
  fileprivate var json: JSONValue {
    guard let self else { return .scalar(.null) }
    return .members(self.mapValues(\.json))
  }
}

extension Content {
  fileprivate var json: JSONValue {
    switch self {
    case .value(let value): value.json
    case .count(let count): .scalar(.int(count))
    case .elements(let elements): .array(elements.sorted().map(\.json))
    }
  }
}

extension Value {
  /// The value in JSON, where bytes and infinities are texts that stay equal if
  /// the values are equal.
  fileprivate var json: JSONValue {
    switch self {
    case .bytes(let bytes):
      .text("#b:" + bytes.map { String(format: $0) }.joined())
    case .double(let number) where !number.isFinite: .text("#n:\(number)")
    default: .scalar(self)
    }
  }
}

extension String {
  /// Creates the two hexadecimal digits of a byte.
  fileprivate init(format byte: UInt8) {
    let digits = String(byte, radix: 16)
    self = digits.count == 1 ? "0" + digits : digits
  }
}
