// SPDX-License-Identifier: Apache-2.0

/// The ID of a record: an entity and a key within the entity.
///
///     RecordID("Profile", "ada")
///
/// IDs are equal if their UTF-8 bytes are. Unicode equivalence does not count.
public struct RecordID: Codable, Sendable {
  /// The name of the entity.
  public let entity: String

  /// The key within the entity.
  public let key: String

  /// The maximum number of UTF-8 bytes in the key of a saved record: 1,024.
  ///
  /// A save of a longer key throws ``SaveError/keyTooLong(_:limit:)``. The name of an
  /// entity has at most 255 bytes.
  public static var keyByteLimit: Int { Limits.keyBytes }

  /// Creates the ID of a record.
  public init(_ entity: String, _ key: String) {
    self.entity = entity
    self.key = key
  }
}

extension RecordID: Hashable {
  public static func == (a: RecordID, b: RecordID) -> Bool {
    UTF8Order.equal(a.key, b.key) && UTF8Order.equal(a.entity, b.entity)
  }

  public func hash(into hasher: inout Hasher) {
    UTF8Order.hash(key, into: &hasher)
    UTF8Order.hash(entity, into: &hasher)
  }
}

extension RecordID: Comparable {
  public static func < (a: RecordID, b: RecordID) -> Bool {
    switch UTF8Order.compare(a.entity, b.entity) {
    case 0: UTF8Order.compare(a.key, b.key) < 0
    case let order: order < 0
    }
  }
}

extension RecordID: CustomStringConvertible {
  /// The entity and the key, for example `Profile/ada`.
  public var description: String { "\(entity)/\(key)" }
}

extension RecordID {
  /// Creates the ID of a record with a unique key.
  ///
  ///     RecordID("Contact", key: "ada@example.com").key  // "s15:ada@example.com"
  ///     RecordID("Seat", key: 12, "A").key               // "i2:12s1:A"
  ///
  /// Use this initializer if no two records of an entity may have the same
  /// values in certain fields. Devices that create a record with the same key
  /// then create the same record, and their edits merge.
  ///
  /// Different values always result in different IDs, because the ID contains
  /// each value with its type and length. It is not a hash: a collision would
  /// unite two records permanently. The order of the values counts. The key has
  /// at most ``keyByteLimit`` bytes in a save.
  ///
  /// - Parameters:
  ///   - entity: The name of the entity.
  ///   - first: The first value of the key.
  ///   - others: The other values of the key.
  /// - Complexity: O(*n*), where *n* is the number of bytes in the values.
  public init(
    _ entity: String, key first: any FieldValue, _ others: any FieldValue...
  ) {
    let values = ([first] + others).map { $0.fieldValue.canonical }
    self.init(entity, values.map(\.keyPart).joined())
  }
}

extension Value {
  /// The value as part of a key: the letter of its type, its length in bytes, a
  /// colon, and its text.
  fileprivate var keyPart: String {
    let (letter, text) =
      switch self {
      case .null: ("n", "")
      case .bool(let flag): ("b", flag ? "1" : "0")
      case .int(let number): ("i", "\(number)")
      case .double(let number):
        ("d", String(Value.canonicalBits(number), radix: 16))
      case .string(let text): ("s", text)
      case .bytes(let bytes):
        (
          "x",
          bytes.map { String(UInt16($0) | 256, radix: 16).dropFirst() }.joined()
        )
      case .date(let microseconds): ("t", "\(microseconds)")
      case .reference(let id):
        ("r", "\(id.entity.utf8.count):\(id.entity)\(id.key)")
      }
    return "\(letter)\(text.utf8.count):\(text)"
  }
}

/// Sorts many records by ID.
///
/// Most comparisons read no text: each entity is ranked once, and the first
/// bytes of the keys decide most other comparisons.
struct RecordOrder {
  private struct Item {
    let prefix: UInt64
    var entity: UInt32
    let index: UInt32
  }

  /// Returns the indices of the IDs, sorted by ID, or `nil` if the IDs are
  /// already sorted.
  static func indices(_ count: Int, _ id: (Int) -> RecordID) -> [UInt32]? {
    if count < 2 { return nil }
    var entities = RunMap<SchemaName, Void>()
    var items: [Item] = []
    items.reserveCapacity(count)
    for index in 0..<count {
      let id = id(index)
      items.append(
        Item(
          prefix: UTF8Order.prefix(of: id.key),
          entity: UInt32(entities.intern(SchemaName(id.entity), default: ())),
          index: UInt32(index)))
    }
    if entities.entries.count > 1 {
      var ranks = Array(repeating: 0 as UInt32, count: entities.entries.count)
      for (rank, index) in entities.order.enumerated() {
        ranks[index] = UInt32(rank)
      }
      for i in items.indices { items[i].entity = ranks[Int(items[i].entity)] }
    }
    func isLess(_ a: Item, _ b: Item) -> Bool {
      if a.entity != b.entity { return a.entity < b.entity }
      if a.prefix != b.prefix { return a.prefix < b.prefix }
      return UTF8Order.compare(id(Int(a.index)).key, id(Int(b.index)).key) < 0
    }
    let isSorted = items.indices.dropFirst().allSatisfy {
      !isLess(items[$0], items[$0 - 1])
    }
    if isSorted { return nil }
    items.sort(by: isLess)
    return items.map(\.index)
  }
}
