// SPDX-License-Identifier: Apache-2.0

/// A record, read by the fields that its entity declares.
///
///     replica[Profile.self, "ada"]?.name   // String?
///     replica[Profile.self, "ada"]?.steps  // Int64
@dynamicMemberLookup
public struct TypedRecord<Owner: Entity>: Sendable {
  /// The record itself, read by the names of fields.
  public let record: Record

  let fields: DeclaredFields<Owner>

  /// Reads a field.
  public subscript<Kind: FieldType>(
    dynamicMember field: KeyPath<Owner, Field<Owner, Kind>>
  ) -> Kind.Reading {
    Kind.read(fields[field], of: record)
  }
}

extension Record {
  /// The record by the fields of its entity; `nil` if it does not exist.
  package func typed<E: Entity>(
    _ fields: DeclaredFields<E>
  ) -> TypedRecord<E>? {
    exists ? TypedRecord(record: self, fields: fields) : nil
  }
}
