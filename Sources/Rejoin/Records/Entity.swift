//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

/// A kind of record, with its fields declared as static properties.
///
///     enum Profile: Entity {
///       static let name  = register("name", of: String.self)
///       static let steps = counter("steps")
///       static let tags  = set("tags", of: String.self)
///     }
public protocol Entity {
  /// The name under which the records are stored; by default the type's.
  static var entityName: String { get }

  /// What becomes of a record that is deleted and edited at the same time; by
  /// default the edit wins.
  static var deletion: DeletionRule { get }

  /// Whether the records stay on the device; by default they travel.
  static var isLocalOnly: Bool { get }
}

extension Entity {
  /// The name of the type.
  public static var entityName: String { "\(Self.self)" }

  /// The edit wins.
  public static var deletion: DeletionRule { .updateWins }

  /// The records travel.
  public static var isLocalOnly: Bool { false }

  /// Declares a register that keeps concurrent writes: the default kind.
  public static func register<V: FieldValue>(
    _ name: String, of type: V.Type = V.self
  ) -> Field<Self, Register<V>> { Field(name) }

  /// Declares a register that keeps only the last write.
  public static func lww<V: FieldValue>(
    _ name: String, of type: V.Type = V.self
  ) -> Field<Self, LastWrite<V>> { Field(name) }

  /// Declares a counter.
  public static func counter(_ name: String) -> Field<Self, Counter> {
    Field(name)
  }

  /// Declares a set in which a concurrent insertion wins.
  public static func set<V: FieldValue>(
    _ name: String, of type: V.Type = V.self
  ) -> Field<Self, AddWins<V>> { Field(name) }

  /// Declares a set in which a concurrent removal wins.
  public static func removeWinsSet<V: FieldValue>(
    _ name: String, of type: V.Type = V.self
  ) -> Field<Self, RemoveWins<V>> { Field(name) }

  /// Declares a ledger.
  public static func ledger(_ name: String) -> Field<Self, Entries> {
    Field(name)
  }

  /// Declares a reference to a record of another entity, or of this one.
  public static func toOne<E: Entity>(
    _ name: String, _ entity: E.Type
  ) -> Field<Self, Register<Reference<E>>> { Field(name) }

  /// Declares a set of references.
  public static func toMany<E: Entity>(
    _ name: String, _ entity: E.Type
  ) -> Field<Self, AddWins<Reference<E>>> { Field(name) }
}

/// The name of a record of a given entity.
public struct Reference<Target: Entity>: FieldValue, Hashable {
  /// The key within the entity.
  public let key: String

  /// Creates a reference to the record with this key.
  public init(_ key: String) { self.key = key }

  /// The name of the record.
  public var id: RecordID { RecordID(Target.entityName, key) }

  public var fieldValue: Value { .reference(id) }

  public init?(_ value: Value) {
    guard case .reference(let id) = value,
      UTF8Order.equal(id.entity, Target.entityName)
    else { return nil }
    key = id.key
  }
}
