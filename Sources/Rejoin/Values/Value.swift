// SPDX-License-Identifier: Apache-2.0

/// A value that a field of a record can store.
///
/// Values are compared in canonical form: text by its UTF-8 bytes, and numbers
/// by their IEEE bits, with one NaN and no negative zero. A write makes a value
/// canonical, so −0 reads as 0 even on the device that wrote it.
///
///     Value.double(-0.0) == .double(0.0)         // true
///     Value.string("e\u{301}") == .string("é")   // false: other bytes
///     Value.int(1) == .double(1)                 // false: another type
public enum Value: Sendable {
  /// An explicit null, which is different from an unset field.
  case null
  /// A Boolean.
  case bool(Bool)
  /// A signed integer.
  case int(Int64)
  /// A floating-point number.
  case double(Double)
  /// Text.
  case string(String)
  /// Bytes.
  case bytes([UInt8])
  /// A point in time, in microseconds since 1970.
  case date(Int64)
  /// The ID of another record.
  indirect case reference(RecordID)
}

extension Value {
  /// Returns the IEEE bits of a number, with one form for all NaNs and one for
  /// both zeros.
  static func canonicalBits(_ number: Double) -> UInt64 {
    if number.isNaN { return Double.nan.bitPattern }
    return number == 0 ? 0 : number.bitPattern
  }

  /// The stored form of the value, with one NaN and no negative zero.
  package var canonical: Value {
    guard case .double(let number) = self else { return self }
    return .double(Double(bitPattern: Value.canonicalBits(number)))
  }

  /// Whether the value is the ID of a record.
  var isReference: Bool { if case .reference = self { true } else { false } }

  /// Whether the value equals its stored form.
  var isCanonical: Bool {
    guard case .double(let number) = self else { return true }
    return number.bitPattern == Value.canonicalBits(number)
  }

  /// Returns the bits of a number, mapped so they sort in numerical order.
  private static func sortKey(_ number: Double) -> UInt64 {
    // IEEE bits sort positive numbers in order and negative ones in reverse.
    let bits = canonicalBits(number)
    return bits >> 63 == 1 ? ~bits : bits | 1 << 63
  }

  /// The rank of a value's type in the canonical order.
  var tag: UInt8 {
    switch self {
    case .null: 0
    case .bool: 1
    case .int: 2
    case .double: 3
    case .string: 4
    case .bytes: 5
    case .date: 6
    case .reference: 7
    }
  }
}

extension Value: Hashable {
  public static func == (a: Value, b: Value) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.int(let a), .int(let b)), (.date(let a), .date(let b)): a == b
    case (.double(let a), .double(let b)):
      canonicalBits(a) == canonicalBits(b)
    case (.string(let a), .string(let b)): UTF8Order.equal(a, b)
    case (.bytes(let a), .bytes(let b)): a == b
    case (.reference(let a), .reference(let b)): a == b
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    // Texts, which are the most common elements of sets, need no tag.
    if case .string(let text) = self {
      return UTF8Order.hash(text, into: &hasher)
    }
    hasher.combine(tag)
    switch self {
    case .null, .string: break
    case .bool(let flag): hasher.combine(flag)
    case .int(let number), .date(let number): hasher.combine(number)
    case .double(let number): hasher.combine(Value.canonicalBits(number))
    case .bytes(let bytes): hasher.combine(bytes)
    case .reference(let id): hasher.combine(id)
    }
  }
}

extension Value: Comparable {
  /// Orders values by type and then by content.
  ///
  /// Numbers are in numerical order, with NaN last.
  public static func < (a: Value, b: Value) -> Bool {
    switch (a, b) {
    case (.bool(let a), .bool(let b)): !a && b
    case (.int(let a), .int(let b)), (.date(let a), .date(let b)): a < b
    case (.double(let a), .double(let b)): sortKey(a) < sortKey(b)
    case (.string(let a), .string(let b)): UTF8Order.compare(a, b) < 0
    case (.bytes(let a), .bytes(let b)): UTF8Order.compare(a, b) < 0
    case (.reference(let a), .reference(let b)): a < b
    default: a.tag < b.tag
    }
  }
}

extension Value? {
  /// Returns whether this value sorts before `other`.
  ///
  /// `nil` sorts before every value.
  func isBefore(_ other: Value?) -> Bool {
    guard let other else { return false }
    return map { $0 < other } ?? true
  }
}

extension Value: CustomStringConvertible {
  /// The value as text, for example in a script.
  public var description: String {
    switch self {
    case .null: "null"
    case .bool(let flag): "\(flag)"
    case .int(let number): "\(number)"
    case .double(let number): "\(number)"
    case .string(let text): "\"\(text)\""
    case .bytes(let bytes): "\(bytes)"
    case .date(let microseconds): "\(microseconds)µs"
    case .reference(let id): "→\(id)"
    }
  }
}

extension Value: ExpressibleByStringLiteral {
  /// Creates text.
  public init(stringLiteral text: String) { self = .string(text) }
}

extension Value: ExpressibleByIntegerLiteral {
  /// Creates a signed integer.
  public init(integerLiteral number: Int64) { self = .int(number) }
}

extension Value: ExpressibleByFloatLiteral {
  /// Creates a floating-point number.
  public init(floatLiteral number: Double) {
    self = Value.double(number).canonical
  }
}

extension Value: ExpressibleByBooleanLiteral {
  /// Creates a Boolean.
  public init(booleanLiteral flag: Bool) { self = .bool(flag) }
}

extension Value {
  /// A number that sorts like the value and is equal for few other values.
  fileprivate var rank: UInt64 {
    let prefix =
      if case .string(let text) = self { UTF8Order.prefix(of: text) } else {
        0 as UInt64
      }
    return UInt64(tag) << 56 | prefix >> 8
  }
}

extension Sequence {
  /// Returns the elements, sorted by a value of each.
  ///
  /// Few comparisons read a whole text, because its first bytes decide most of
  /// them.
  func sorted(byValue value: (Element) -> Value) -> [Element] {
    let all = Array(self)
    var order = all.indices.map { (rank: value(all[$0]).rank, index: $0) }
    order.sort { a, b in
      a.rank == b.rank
        ? value(all[a.index]) < value(all[b.index]) : a.rank < b.rank
    }
    return order.map { all[$0.index] }
  }
}

extension Value: Codable {
  private enum CodingKeys: CodingKey {
    case null, bool, int, double, string, bytes, date, reference
  }

  /// Encodes the content under the name of its type, such as `{"int": 5}`.
  ///
  /// Encodes numbers that JSON cannot represent as text: `"inf"`, `"-inf"`,
  /// `"nan"`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .null: try container.encode(true, forKey: .null)
    case .bool(let flag): try container.encode(flag, forKey: .bool)
    case .int(let number): try container.encode(number, forKey: .int)
    case .double(let number) where number.isFinite:
      try container.encode(number == 0 ? 0 : number, forKey: .double)
    case .double(let number):
      let name = number.isNaN ? "nan" : "\(number)"
      try container.encode(name, forKey: .double)
    case .string(let text): try container.encode(text, forKey: .string)
    case .bytes(let bytes): try container.encode(bytes, forKey: .bytes)
    case .date(let number): try container.encode(number, forKey: .date)
    case .reference(let id): try container.encode(id, forKey: .reference)
    }
  }

  /// Decodes the content under the name of its type.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    guard let key = container.allKeys.first, container.allKeys.count == 1 else {
      throw decoder.corrupted(
        "expected one key, the name of the value's type, such as \"int\"")
    }
    self =
      switch key {
      case .null: .null
      case .bool: .bool(try container.decode(Bool.self, forKey: key))
      case .int: .int(try container.decode(Int64.self, forKey: key))
      case .double: .double(try Value.double(in: container))
      case .string: .string(try container.decode(String.self, forKey: key))
      case .bytes: .bytes(try container.decode([UInt8].self, forKey: key))
      case .date: .date(try container.decode(Int64.self, forKey: key))
      case .reference:
        .reference(try container.decode(RecordID.self, forKey: key))
      }
  }

  private static func double(
    in container: KeyedDecodingContainer<CodingKeys>
  ) throws -> Double {
    let names: [String: Double] = [
      "inf": .infinity, "-inf": -.infinity, "nan": .nan,
    ]
    if let name = try? container.decode(String.self, forKey: .double),
      let number = names[name]
    {
      return number
    }
    let number = try container.decode(Double.self, forKey: .double)
    return Double(bitPattern: canonicalBits(number))
  }
}
