// SPDX-License-Identifier: Apache-2.0

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
