// SPDX-License-Identifier: Apache-2.0

/// The declaration of a field of an entity.
public struct Field<Owner: Entity, Kind: FieldType>: Sendable {
  /// The stored name and kind of the field.
  @inlinable public var key: FieldKey { versions.key }

  /// The field, and the fields of older versions of the app.
  @usableFromInline let versions: FieldVersions<Kind.Element>
  /// Whether the register's concurrent writes are neither listed nor reported.
  let isQuiet: Bool

  /// Creates a field.
  ///
  /// Entities create their fields with `register(_:of:)` and similar functions.
  public init(_ name: String) { self.init(name, fallingBackTo: []) }

  init(
    _ name: String, isQuiet: Bool = false,
    fallingBackTo older: [OlderField<Kind.Element>]
  ) {
    versions = FieldVersions(key: FieldKey(name, Kind.kind), older: older)
    self.isQuiet = isQuiet
  }
}

/// A field of any entity and kind.
protocol DeclaredField: Sendable {
  var key: FieldKey { get }
  var isQuiet: Bool { get }
  /// The keys of older versions of the field that are also read.
  var olderKeys: Set<FieldKey> { get }
  /// Returns whether two records show the same content of the field and list
  /// the same conflicts.
  func showsSame(in a: Record, _ b: Record) -> Bool
}

extension Field: DeclaredField {
  var olderKeys: Set<FieldKey> { Set(versions.olderKeys) }

  func showsSame(in a: Record, _ b: Record) -> Bool {
    Kind.showsSame(self, in: a, b)
  }
}

/// A CRDT that can be the type of a field.
///
/// It defines how the field is read and edited. ``MVRegister``, ``PNCounter``,
/// ``ORSet`` and ``Ledger`` conform.
public protocol FieldType: Sendable {
  /// The type of a value, an element or an amount.
  associatedtype Element: FieldValue
  /// The type of the field's content when you read it.
  associatedtype Reading
  /// The type that edits the field.
  associatedtype Editor
  /// The kind of the stored field.
  static var kind: FieldKind { get }
  /// Returns the content of the field in a record.
  static func read<Owner>(
    _ field: Field<Owner, Self>, of record: Record
  ) -> Reading
  /// Returns whether two records show the same content of the field and list
  /// the same conflicts.
  static func showsSame<Owner>(
    _ field: Field<Owner, Self>, in a: Record, _ b: Record
  ) -> Bool
  /// Returns the content of the field in a record after the edits so far.
  static func read<Owner>(
    _ field: Field<Owner, Self>, in record: RecordEditor<Owner>
  ) -> Reading
  /// Returns an editor of the field in a record.
  static func editor<Owner>(
    of field: Field<Owner, Self>, in record: RecordEditor<Owner>
  ) -> Editor
}
