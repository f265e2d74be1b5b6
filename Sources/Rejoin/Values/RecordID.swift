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
