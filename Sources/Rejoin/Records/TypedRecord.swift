//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

/// A record that is read by the fields its entity declares.
///
///     replica[Profile.self, "ada"]?.name   // String?
///     replica[Profile.self, "ada"]?.steps  // Int64
@dynamicMemberLookup
public struct TypedRecord<Owner: Entity>: Sendable {
  /// The record itself, which also tells conflicts and who wrote what.
  public let record: Record

  /// Reads a field.
  public subscript<Kind: FieldType>(
    dynamicMember field: KeyPath<Owner.Type, Field<Owner, Kind>>
  ) -> Kind.Reading {
    Kind.read(Owner.self[keyPath: field].key.name, of: record)
  }

  /// The values of concurrent writes that a register does not show.
  public func conflicts<V: FieldValue>(
    _ field: Field<Owner, Register<V>>
  ) -> [V] {
    record.conflicts(of: field.key.name).compactMap { V($0) }
  }

  /// Who wrote the shown value of a register, and when.
  public func provenance<Kind: FieldType>(
    _ field: Field<Owner, Kind>
  ) -> Provenance? {
    record.provenance(of: field.key.name, Kind.kind)
  }
}
