// SPDX-License-Identifier: Apache-2.0

/// A type of record, whose stored properties are its fields.
///
///     struct Profile: Entity {
///       let name  = register("name", of: String.self)
///       let steps = counter("steps")
///       let tags  = set("tags", of: String.self)
///     }
///
/// Declaring the property declares the field. A ``Schema`` reflects on an
/// instance once to find the fields; reading and editing use key paths.
///
///     replica[Profile.self, "ada"]?.steps               // Int64
///     replica[Profile.self, "ada"]?.conflicts(\.name)   // [String]
///
/// Every register reads as an optional, since no version of an app can rely on
/// what another one has written. A field may be added at any time. One that is
/// no longer declared is kept and passed on. A public entity needs a `public
/// init() {}`.
public protocol Entity: Sendable {
  /// Creates an instance, which describes the fields.
  init()

  /// The name under which the records are stored; by default, that of the type.
  static var entityName: String { get }

  /// Whether a deletion or a concurrent edit wins; by default, the edit.
  static var deletion: DeletionRule { get }
}

extension Entity {
  /// The name of the type.
  public static var entityName: String { "\(Self.self)" }

  /// A concurrent edit wins.
  public static var deletion: DeletionRule { .updateWins }
}

// These functions are static, since they are called in property initializers,
// before there is an instance.
extension Entity {
  /// Declares a register, the default kind of field.
  ///
  /// It reads as `nil` if it is unset, or holds a value of another type, such
  /// as an explicit null. Writing `nil` unsets it. To write a null, or to
  /// distinguish it from an unset register, declare the field `of: Value.self`.
  ///
  /// - Parameters:
  ///   - name: The name under which the field is stored.
  ///   - type: The type of its values.
  ///   - older: The fields of older versions of the app to read while this one
  ///     has not been written.
  public static func register<V: FieldValue>(
    _ name: String, of type: V.Type = V.self,
    readingAlso older: OlderField<V>...
  ) -> Field<Self, Register<V>> { Field(name, readingAlso: older) }

  /// Declares the same register as with the wrapped type, since every register
  /// is optional.
  public static func register<V: FieldValue>(
    _ name: String, of type: V?.Type, readingAlso older: OlderField<V>...
  ) -> Field<Self, Register<V>> { Field(name, readingAlso: older) }

  /// Declares a *quiet* register: its concurrent writes are neither listed as
  /// conflicts nor reported.
  ///
  /// Use it for a position, a cursor or a last-seen time: only the latest write
  /// matters. The field is stored, joined and read like any other register, so
  /// a later version of the app can change the declaration without a migration.
  /// In an editing context, a write of the field supersedes all concurrent
  /// writes that have arrived, and neither the write nor theirs causes a
  /// conflict. If another field or a deletion causes one, the policies `error`,
  /// `rollback` and `serverWins` treat the write like any other edit.
  ///
  /// The field stores and sends its concurrent writes, up to one of each device.
  /// If a clock is ahead by more than the maximum skew, a write that lost can be
  /// shown again after the winner is overwritten. If a server is the authority
  /// for the field, declare it with `register`: a pull of the server's value
  /// does not overwrite a local edit, and a quiet register does not list the
  /// conflict.
  public static func lww<V: FieldValue>(
    _ name: String, of type: V.Type = V.self,
    readingAlso older: OlderField<V>...
  ) -> Field<Self, Register<V>> {
    Field(name, isQuiet: true, readingAlso: older)
  }

  /// Declares the same register as with the wrapped type, since every register
  /// is optional.
  public static func lww<V: FieldValue>(
    _ name: String, of type: V?.Type, readingAlso older: OlderField<V>...
  ) -> Field<Self, Register<V>> {
    Field(name, isQuiet: true, readingAlso: older)
  }

  /// Declares a counter.
  public static func counter(_ name: String) -> Field<Self, Counter> {
    Field(name)
  }

  /// Declares a set in which a concurrent insertion wins.
  public static func set<V: FieldValue>(
    _ name: String, of type: V.Type = V.self
  ) -> Field<Self, AddWins<V>> { Field(name) }

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
