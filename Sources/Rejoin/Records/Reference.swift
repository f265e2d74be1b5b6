// SPDX-License-Identifier: Apache-2.0

/// The ID of a record of a given entity.
public struct Reference<Target: Entity>: FieldValue, Hashable {
  /// The key within the entity.
  public let key: String

  /// Creates a reference to the record with a key.
  public init(_ key: String) { self.key = key }

  /// The ID of the record.
  public var id: RecordID { RecordID(Target.entityName, key) }

  public var fieldValue: Value { .reference(id) }

  public init?(_ value: Value) {
    guard case .reference(let id) = value,
      UTF8Order.equal(id.entity, Target.entityName)
    else { return nil }
    key = id.key
  }
}
