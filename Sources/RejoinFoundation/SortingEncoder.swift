// SPDX-License-Identifier: Apache-2.0

import Foundation

extension JSONEncoder {
  /// Encodes a value so that equal values have equal bytes.
  ///
  /// A `Set`, and a dictionary whose keys are not keys in JSON, list their
  /// elements in the order of their hashes, which differs between processes.
  /// This method lists them in the order of their bytes. All else is encoded as
  /// by `encode(_:)`.
  func encodeSorted(_ value: some Encodable) throws -> Data {
    try encodeSorted(value, SortedLists(standIn: UUID().uuidString))
  }

  fileprivate func encodeSorted(
    _ value: some Encodable, _ lists: SortedLists
  ) throws -> Data {
    outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try lists.inserted(into: encode(lists.sorting(value)))
  }
}

/// The sorted lists in a value.
///
/// Each list is encoded once, apart from the value around it. In the value, a
/// text stands in for the list.
private final class SortedLists {
  /// A text that no value contains, followed by the number of a list.
  private let standIn: String
  private var lists: [Data] = []

  init(standIn: String) { self.standIn = standIn }

  /// Returns a value that encodes another one with sorted lists.
  ///
  /// Values that `JSONEncoder` encodes in a form of its own stay as they are.
  func sorting(_ value: some Encodable) -> any Encodable {
    switch value {
    case is Date, is Data, is URL, is Decimal, is Bool, is String,
      is any BinaryInteger, is any BinaryFloatingPoint:
      value
    default: Sorting(value: value, lists: self)
    }
  }

  /// Encodes a list of groups, such as keys with their values, in the order of
  /// their bytes.
  ///
  /// - Returns: The text that stands in for the list.
  func add(_ groups: [[any Encodable]]) throws -> String {
    let texts = try groups.map { group in
      try JSONEncoder()
        .encodeSorted(Group(elements: group), SortedLists(standIn: standIn))
        .dropFirst().dropLast()
    }
    let list = texts.sorted { $0.lexicographicallyPrecedes($1) }
      .joined(separator: CollectionOfOne(UInt8(ascii: ",")))
    lists.append(Data("[".utf8) + list + Data("]".utf8))
    return standIn + "\(lists.count - 1)"
  }

  /// Inserts the lists where texts stand in for them.
  func inserted(into data: Data) -> Data {
    if lists.isEmpty { return data }
    var (result, rest) = (Data(), data[...])
    while let found = rest.range(of: Data("\"\(standIn)".utf8)) {
      result += rest[..<found.lowerBound]
      let digits = rest[found.upperBound...].prefix { $0 != UInt8(ascii: "\"") }
      result +=
        Int(String(decoding: digits, as: UTF8.self)).map { lists[$0] }
        ?? Data()
      rest = rest[digits.endIndex...].dropFirst()
    }
    return result + rest
  }
}

/// Elements that are encoded one after another.
private struct Group: Encodable {
  let elements: [any Encodable]

  func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    for element in elements { try container.encode(element) }
  }
}

private struct Sorting<Value: Encodable>: Encodable {
  let value: Value
  let lists: SortedLists

  func encode(to encoder: any Encoder) throws {
    guard let groups = (value as? any HashOrdered)?.groups else {
      return try value.encode(to: SortingEncoder(base: encoder, lists: lists))
    }
    var container = encoder.singleValueContainer()
    try container.encode(lists.add(groups))
  }
}

/// A collection that is encoded as a list in the order of hashes.
private protocol HashOrdered {
  /// The elements to list, or `nil` if the collection is not encoded as a list.
  var groups: [[any Encodable]]? { get }
}

extension Set: HashOrdered where Element: Encodable {
  fileprivate var groups: [[any Encodable]]? { map { [$0] } }
}

extension Dictionary: HashOrdered where Key: Encodable, Value: Encodable {
  /// The keys, each followed by its value.
  fileprivate var groups: [[any Encodable]]? {
    switch Key.self {
    case is String.Type, is Int.Type, is any CodingKeyRepresentable.Type: nil
    default: map { [$0, $1] }
    }
  }
}

/// An encoder that passes everything on, with sorted elements.
private struct SortingEncoder: Encoder {
  let base: any Encoder
  let lists: SortedLists

  var codingPath: [any CodingKey] { base.codingPath }
  var userInfo: [CodingUserInfoKey: Any] { base.userInfo }

  func container<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(
      SortingKeyed(base: base.container(keyedBy: type), lists: lists))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    SortingList(base: base.unkeyedContainer(), lists: lists)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    SortingSingle(base: base.singleValueContainer(), lists: lists)
  }
}

private struct SortingKeyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
  var base: KeyedEncodingContainer<Key>
  let lists: SortedLists

  var codingPath: [any CodingKey] { base.codingPath }

  mutating func encodeNil(forKey key: Key) throws {
    try base.encodeNil(forKey: key)
  }

  mutating func encode(_ value: some Encodable, forKey key: Key) throws {
    try base.encode(lists.sorting(value), forKey: key)
  }

  mutating func nestedContainer<Nested>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    KeyedEncodingContainer(
      SortingKeyed<Nested>(
        base: base.nestedContainer(keyedBy: type, forKey: key), lists: lists))
  }

  mutating func nestedUnkeyedContainer(
    forKey key: Key
  ) -> any UnkeyedEncodingContainer {
    SortingList(base: base.nestedUnkeyedContainer(forKey: key), lists: lists)
  }

  mutating func superEncoder() -> any Encoder {
    SortingEncoder(base: base.superEncoder(), lists: lists)
  }

  mutating func superEncoder(forKey key: Key) -> any Encoder {
    SortingEncoder(base: base.superEncoder(forKey: key), lists: lists)
  }
}

private struct SortingList: UnkeyedEncodingContainer {
  var base: any UnkeyedEncodingContainer
  let lists: SortedLists

  var codingPath: [any CodingKey] { base.codingPath }
  var count: Int { base.count }

  mutating func encodeNil() throws { try base.encodeNil() }

  mutating func encode(_ value: some Encodable) throws {
    try base.encode(lists.sorting(value))
  }

  mutating func nestedContainer<Nested>(
    keyedBy type: Nested.Type
  ) -> KeyedEncodingContainer<Nested> {
    KeyedEncodingContainer(
      SortingKeyed<Nested>(
        base: base.nestedContainer(keyedBy: type), lists: lists))
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    SortingList(base: base.nestedUnkeyedContainer(), lists: lists)
  }

  mutating func superEncoder() -> any Encoder {
    SortingEncoder(base: base.superEncoder(), lists: lists)
  }
}

private struct SortingSingle: SingleValueEncodingContainer {
  var base: any SingleValueEncodingContainer
  let lists: SortedLists

  var codingPath: [any CodingKey] { base.codingPath }

  mutating func encodeNil() throws { try base.encodeNil() }

  mutating func encode(_ value: some Encodable) throws {
    try base.encode(lists.sorting(value))
  }
}
