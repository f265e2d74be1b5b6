//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

/// A field of an entity, as its declaration names it.
public struct Field<Owner: Entity, Kind: FieldType>: Sendable {
  /// The name and kind under which the field is stored.
  public let key: FieldKey

  /// Creates a field; entities do this with `register(_:of:)` and its like.
  public init(_ name: String) { key = FieldKey(name, Kind.kind) }
}

/// What a kind of field is read as.
///
/// The types that conform are never instantiated.
public protocol FieldType: Sendable {
  /// What reading the field gives.
  associatedtype Reading
  /// The kind under which the field is stored.
  static var kind: FieldKind { get }
  /// Reads the field of a record.
  static func read(_ name: String, of record: Record) -> Reading
}

/// A register of values of one type, which keeps concurrent writes.
public enum Register<Element: FieldValue>: FieldType {
  public static var kind: FieldKind { .register }

  public static func read(_ name: String, of record: Record) -> Element? {
    record.value(of: name, .register).flatMap { Element($0) }
  }
}

/// A register of values of one type, which keeps the last write.
public enum LastWrite<Element: FieldValue>: FieldType {
  public static var kind: FieldKind { .lww }

  public static func read(_ name: String, of record: Record) -> Element? {
    record.value(of: name, .lww).flatMap { Element($0) }
  }
}

/// A counter.
public enum Counter: FieldType {
  public static var kind: FieldKind { .counter }

  public static func read(_ name: String, of record: Record) -> Int64 {
    record.count(of: name)
  }
}

/// A set in which a concurrent insertion wins.
public enum AddWins<Element: FieldValue>: FieldType {
  public static var kind: FieldKind { .set }

  public static func read(_ name: String, of record: Record) -> [Element] {
    record.elements(of: name, .set).compactMap { Element($0) }
  }
}

/// A set in which a concurrent removal wins.
public enum RemoveWins<Element: FieldValue>: FieldType {
  public static var kind: FieldKind { .removeWinsSet }

  public static func read(_ name: String, of record: Record) -> [Element] {
    record.elements(of: name, .removeWinsSet).compactMap { Element($0) }
  }
}

/// A ledger.
public enum Entries: FieldType {
  public static var kind: FieldKind { .ledger }

  public static func read(_ name: String, of record: Record) -> Int64 {
    record.total(of: name)
  }
}
