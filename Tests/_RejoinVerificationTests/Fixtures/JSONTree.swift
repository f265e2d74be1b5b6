// SPDX-License-Identifier: Apache-2.0

import RejoinTesting

/// A JSON text in parts, which a test can replace.
enum JSONTree: Hashable, Sendable {
  case null
  case bool(Bool)
  case unsigned(UInt64)
  case signed(Int64)
  case text(String)
  case list([JSONTree])
  case object([String: JSONTree])

  /// The tree and all its parts.
  var parts: [JSONTree] {
    switch self {
    case .list(let parts): [self] + parts.flatMap(\.parts)
    case .object(let parts):
      [self] + parts.sorted { $0.key < $1.key }.flatMap(\.value.parts)
    default: [self]
    }
  }

  /// Replaces one part, counted as in `parts`.
  ///
  /// - Parameter number: The number of the part, which is negative after the
  ///   replacement.
  mutating func replace(
    _ number: inout Int, with body: (inout JSONTree) -> Void
  ) {
    if number == 0 { body(&self) }
    number -= 1
    if number < 0 { return }
    switch self {
    case .list(var parts):
      for i in parts.indices where number >= 0 {
        parts[i].replace(&number, with: body)
      }
      self = .list(parts)
    case .object(var parts):
      for key in parts.keys.sorted() where number >= 0 {
        parts[key]?.replace(&number, with: body)
      }
      self = .object(parts)
    default: break
    }
  }
}

extension JSONTree: Codable {
  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let flag = try? container.decode(Bool.self) {
      self = .bool(flag)
    } else if let number = try? container.decode(UInt64.self) {
      self = .unsigned(number)
    } else if let number = try? container.decode(Int64.self) {
      self = .signed(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let parts = try? container.decode([JSONTree].self) {
      self = .list(parts)
    } else {
      self = .object(try container.decode([String: JSONTree].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let flag): try container.encode(flag)
    case .unsigned(let number): try container.encode(number)
    case .signed(let number): try container.encode(number)
    case .text(let text): try container.encode(text)
    case .list(let parts): try container.encode(parts)
    case .object(let parts): try container.encode(parts)
    }
  }
}
