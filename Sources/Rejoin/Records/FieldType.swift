// SPDX-License-Identifier: Apache-2.0

/// A kind of field, with the type of its elements and the type it reads as.
///
/// Conforming types are markers and never instantiated.
public protocol FieldType: Sendable {
  /// The type of a value, an element or an amount.
  associatedtype Element: FieldValue
  /// The type of the field's content as it is read.
  associatedtype Reading
  /// The kind under which the field is stored.
  static var kind: FieldKind { get }
  /// Reads the field of a record.
  static func read<Owner>(
    _ field: Field<Owner, Self>, of record: Record
  ) -> Reading
}

/// A register.
public enum Register<Element: FieldValue>: FieldType {
  public static var kind: FieldKind { .register }

  /// The value of the write that is shown; `nil` where the register is unset, or
  /// holds what is no value of the type.
  public static func read<Owner>(
    _ field: Field<Owner, Self>, of record: Record
  ) -> Element? {
    // Most fields have no older version.
    if field.older.isEmpty {
      return record.value(of: field.key.name).flatMap { Element($0) }
    }
    return field.element(record.shown)
  }
}

/// A counter.
public enum Counter: FieldType {
  public typealias Element = Int64

  public static var kind: FieldKind { .counter }

  public static func read<Owner>(
    _ field: Field<Owner, Self>, of record: Record
  ) -> Int64 {
    record.count(of: field.key.name)
  }
}

/// A set in which an insertion wins over a concurrent removal.
public enum AddWins<Element: FieldValue>: FieldType {
  public static var kind: FieldKind { .set }

  /// The elements that are values of the type, sorted.
  public static func read<Owner>(
    _ field: Field<Owner, Self>, of record: Record
  ) -> [Element] {
    record.elements(of: field.key.name).compactMap { Element($0) }
  }
}

/// A ledger.
public enum Entries: FieldType {
  public typealias Element = Int64

  public static var kind: FieldKind { .ledger }

  public static func read<Owner>(
    _ field: Field<Owner, Self>, of record: Record
  ) -> Int64 {
    record.total(of: field.key.name)
  }
}
