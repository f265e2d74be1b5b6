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

/// A kind of field with one visible value: ``Register`` or ``LastWrite``.
public protocol RegisterType: FieldType where Reading == Element? {}

extension RegisterType {
  /// The value of the write that is shown; `nil` where the register is unset, or
  /// holds what is no value of the type.
  public static func read<Owner>(
    _ field: Field<Owner, Self>, of record: Record
  ) -> Element? {
    // Most fields have no older version.
    if field.older.isEmpty {
      return record.value(of: field.key.name, kind).flatMap { Element($0) }
    }
    return field.element(record.shown)
  }
}

/// A kind of field that holds elements: ``AddWins`` or ``RemoveWins``.
public protocol SetType: FieldType where Reading == [Element] {}

extension SetType {
  /// The elements that are values of the type, sorted.
  public static func read<Owner>(
    _ field: Field<Owner, Self>, of record: Record
  ) -> [Element] {
    record.elements(of: field.key.name, kind).compactMap { Element($0) }
  }
}

/// A register that keeps concurrent writes.
public enum Register<Element: FieldValue>: RegisterType {
  public static var kind: FieldKind { .register }
}

/// A last-writer-wins register.
public enum LastWrite<Element: FieldValue>: RegisterType {
  public static var kind: FieldKind { .lww }
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
public enum AddWins<Element: FieldValue>: SetType {
  public static var kind: FieldKind { .set }
}

/// A set in which a removal wins over a concurrent insertion.
public enum RemoveWins<Element: FieldValue>: SetType {
  public static var kind: FieldKind { .removeWinsSet }
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
