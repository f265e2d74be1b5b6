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

  /// The values of concurrent writes that differ from the visible one, sorted.
  ///
  ///     replica[Profile.self, "ada"]?.conflicts(\.name)  // [nil, "Ada L."]
  ///
  /// The first is `nil` if a write unset the field. A field declared with `lww`
  /// lists none.
  public func conflicts<V: FieldValue>(
    _ field: KeyPath<Owner, Field<Owner, Register<V>>>
  ) -> [V?] {
    let field = fields[field]
    if field.isQuiet { return [] }
    return record.conflicts(of: field.key.name).converted {
      field.element($0, of: field.key)
    }
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

// Who wrote what.
extension TypedRecord {
  /// The visible write of a register: who made it, and when.
  public func provenance<V: FieldValue>(
    _ field: KeyPath<Owner, Field<Owner, Register<V>>>
  ) -> Write? {
    record.provenance(of: fields[field].key.name)
  }

  /// The writes of a register that no other has superseded, the visible one
  /// first.
  public func authors<V: FieldValue>(
    of field: KeyPath<Owner, Field<Owner, Register<V>>>
  ) -> [Write] {
    record.writes(of: fields[field].key.name)
  }

  /// The elements of a set, sorted, each with the saves that inserted it.
  public func authors<V: FieldValue>(
    of field: KeyPath<Owner, Field<Owner, AddWins<V>>>
  ) -> [(element: V, saves: Set<Dot>)] {
    let saves = record.insertions(of: fields[field].key.name)
    return saves.sorted { $0.key < $1.key }.compactMap { value, saves in
      V(value).map { ($0, saves) }
    }
  }

  /// The sum of each device's changes that no reset has cancelled.
  public func authors(
    of field: KeyPath<Owner, Field<Owner, Counter>>
  ) -> [DeviceID: Int128] {
    record.amounts(of: fields[field].key.name)
  }

  /// The entries of a ledger that are not folded, ordered by time, each with
  /// the save that appended it.
  public func authors(
    of field: KeyPath<Owner, Field<Owner, Entries>>
  ) -> [LedgerEntry] {
    record.entries(of: fields[field].key.name)
  }
}
