// SPDX-License-Identifier: Apache-2.0

/// A kind of record, whose stored properties are its fields.
///
///     struct Profile: Entity {
///       let name  = register("name", of: String.self)
///       let steps = counter("steps")
///       let tags  = set("tags", of: String.self)
///     }
///
/// A property is one line and nothing else: a ``Schema`` reads the properties of
/// an instance, once, and readers and editors find a field by its key path.
///
///     replica[Profile.self, "ada"]?.steps               // Int64
///     replica[Profile.self, "ada"]?.conflicts(\.name)   // [String]
///
/// Every register is optional: no version of the app can rely on what another one
/// writes. A field may be added at any time; one that is no longer declared is
/// kept and passed on. A public entity needs a `public init() {}`.
public protocol Entity: Sendable {
  /// Creates the description of the fields.
  init()

  /// The name under which the records are stored; by default the type's.
  static var entityName: String { get }

  /// What becomes of a record that is deleted and edited at the same time; by
  /// default the edit wins.
  static var deletion: DeletionRule { get }
}

extension Entity {
  /// The name of the type.
  public static var entityName: String { "\(Self.self)" }

  /// The edit wins.
  public static var deletion: DeletionRule { .updateWins }
}

// Static, since a property is initialized before there is an instance.
extension Entity {
  /// Declares a register that keeps concurrent writes: the default kind.
  ///
  /// It reads `nil` where it is unset, and where it holds what is no value of the
  /// type, such as an explicit null. Writing `nil` unsets it. Declare it
  /// `of: Value.self` to write a null, and to tell the two apart.
  ///
  /// - Parameters:
  ///   - name: The name under which the field is stored.
  ///   - type: The type of its values.
  ///   - older: The fields of older versions of the app to read where nobody has
  ///     written this one.
  public static func register<V: FieldValue>(
    _ name: String, of type: V.Type = V.self,
    readingAlso older: OlderField<V>...
  ) -> Field<Self, Register<V>> { Field(name, readingAlso: older) }

  /// Declares the same register as with the wrapped type: every register is
  /// optional.
  public static func register<V: FieldValue>(
    _ name: String, of type: V?.Type, readingAlso older: OlderField<V>...
  ) -> Field<Self, Register<V>> { Field(name, readingAlso: older) }

  /// Declares a register that keeps only the last write.
  ///
  /// It reads and unsets like one that keeps concurrent writes.
  public static func lww<V: FieldValue>(
    _ name: String, of type: V.Type = V.self,
    readingAlso older: OlderField<V>...
  ) -> Field<Self, LastWrite<V>> { Field(name, readingAlso: older) }

  /// Declares the same register as with the wrapped type: every register is
  /// optional.
  public static func lww<V: FieldValue>(
    _ name: String, of type: V?.Type, readingAlso older: OlderField<V>...
  ) -> Field<Self, LastWrite<V>> { Field(name, readingAlso: older) }

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
