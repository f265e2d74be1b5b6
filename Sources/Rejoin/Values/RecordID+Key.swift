// SPDX-License-Identifier: Apache-2.0

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
