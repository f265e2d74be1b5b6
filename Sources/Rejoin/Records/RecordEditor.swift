// SPDX-License-Identifier: Apache-2.0

/// Edits one record within a save, or in an editing context.
@dynamicMemberLookup
public struct RecordEditor<Owner: Entity> {
  let id: RecordID
  let target: any EditTarget
  let fields: DeclaredFields<Owner>

  package init(
    id: RecordID, target: any EditTarget, fields: DeclaredFields<Owner>
  ) {
    self.id = id
    self.target = target
    self.fields = fields
  }

  /// Creates the record without setting a field, or keeps it alive.
  public func ensureExists() { target.ensureExists(id) }

  /// Deletes the record.
  public func delete() { target.delete(id) }

  /// Edits a field.
  public subscript<Kind: FieldType>(
    dynamicMember field: KeyPath<Owner, Field<Owner, Kind>>
  ) -> Kind.Editor { Kind.editor(of: fields[field], in: self) }

  /// Reads or writes a register; `nil` unsets it.
  public subscript<V: FieldValue>(
    dynamicMember field: KeyPath<Owner, Field<Owner, MVRegister<V>>>
  ) -> V? {
    get { read(field) }
    nonmutating set {
      handle(fields[field]).perform(.write(newValue?.fieldValue))
    }
  }

  /// Reads a field with the edits so far.
  package func read<Kind: FieldType>(
    _ field: KeyPath<Owner, Field<Owner, Kind>>
  ) -> Kind.Reading { Kind.read(fields[field], in: self) }

  func handle<Kind: FieldType>(_ field: Field<Owner, Kind>) -> FieldHandle {
    FieldHandle(key: field.key, id: id, target: target)
  }
}
