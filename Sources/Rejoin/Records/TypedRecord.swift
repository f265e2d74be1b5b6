// SPDX-License-Identifier: Apache-2.0

/// A record with the fields that its entity declares.
///
///     replica[Profile.self, "ada"]?.name   // String?
///     replica[Profile.self, "ada"]?.steps  // Int64
///
/// Two records are equal if they have the same ``id``, and each declared field
/// shows the same content and lists the same conflicts. The author and the time
/// of a write do not matter.
@dynamicMemberLookup
public struct TypedRecord<Owner: Entity>: Sendable {
  /// The untyped record, which you read by the names of fields.
  public let record: Record

  let fields: DeclaredFields<Owner>

  /// The content of a field.
  public subscript<Kind: FieldType>(
    dynamicMember field: KeyPath<Owner, Field<Owner, Kind>>
  ) -> Kind.Reading {
    Kind.read(fields[field], of: record)
  }
}

extension TypedRecord: Identifiable {
  /// The key of the record within its entity.
  public var id: String { record.id.key }
}

extension TypedRecord: Equatable {
  public static func == (a: TypedRecord, b: TypedRecord) -> Bool {
    a.record.id == b.record.id
      && a.fields.all.allSatisfy { $0.showsSame(in: a.record, b.record) }
  }
}

extension Record {
  /// Returns the record with the fields of its entity, or `nil` if it does not
  /// exist.
  package func typed<E: Entity>(
    _ fields: DeclaredFields<E>
  ) -> TypedRecord<E>? {
    exists ? TypedRecord(record: self, fields: fields) : nil
  }
}
