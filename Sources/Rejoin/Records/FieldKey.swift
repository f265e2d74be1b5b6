//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

/// The name of a field within a record.
///
/// The kind is part of the name: where it changed between versions of a schema,
/// both fields are kept.
public struct FieldKey: Sendable {
  /// The name in the schema.
  public let name: String

  /// What the field is.
  public let kind: FieldKind

  /// Creates the name of a field.
  ///
  /// - Precondition: The name is not empty.
  public init(_ name: String, _ kind: FieldKind) {
    precondition(!name.isEmpty, "a field needs a name")
    self.name = name
    self.kind = kind
  }

  private init() { (name, kind) = ("", .register) }

  /// The field that says whether the record exists: a register of truth values.
  package static let existence = FieldKey()
}

extension FieldKey: Hashable {
  public static func == (a: FieldKey, b: FieldKey) -> Bool {
    a.kind == b.kind && UTF8Order.equal(a.name, b.name)
  }

  public func hash(into hasher: inout Hasher) {
    UTF8Order.hash(name, into: &hasher)
    hasher.combine(kind)
  }
}

extension FieldKey: Comparable {
  public static func < (a: FieldKey, b: FieldKey) -> Bool {
    switch UTF8Order.compare(a.name, b.name) {
    case 0: a.kind < b.kind
    case let order: order < 0
    }
  }
}
