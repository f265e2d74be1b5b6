// SPDX-License-Identifier: Apache-2.0

/// An editor of one record within a save or an editing context.
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

  /// The editor of a field.
  public subscript<Kind: FieldType>(
    dynamicMember field: KeyPath<Owner, Field<Owner, Kind>>
  ) -> Kind.Editor { Kind.editor(of: fields[field], in: self) }

  /// The value of a register after the edits so far.
  ///
  /// To unset the register, assign `nil`.
  public subscript<V: FieldValue>(
    dynamicMember field: KeyPath<Owner, Field<Owner, MVRegister<V>>>
  ) -> V? {
    get { read(field) }
    nonmutating set {
      handle(fields[field]).perform(.write(newValue?.fieldValue))
    }
  }

  /// Returns the content of a field after the edits so far.
  package func read<Kind: FieldType>(
    _ field: KeyPath<Owner, Field<Owner, Kind>>
  ) -> Kind.Reading { Kind.read(fields[field], in: self) }

  func handle<Kind: FieldType>(_ field: Field<Owner, Kind>) -> FieldHandle {
    FieldHandle(key: field.key, id: id, target: target)
  }
}
