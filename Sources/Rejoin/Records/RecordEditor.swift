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
  ///
  /// A form can assign every field as it reads. In a context or a draft, this is
  /// not an edit, even if the app cannot read the value, reads only a part of
  /// it, or shows an older field. In a save, every assignment is an edit. But if
  /// a register reads as `nil` and contains a value, such as one of a newer app
  /// version or a reference to a record that has not arrived, assigning `nil`
  /// writes that value again. To remove it, call ``unset(_:)``.
  public subscript<V: FieldValue>(
    dynamicMember field: KeyPath<Owner, Field<Owner, MVRegister<V>>>
  ) -> V? {
    get { read(field) }
    nonmutating set {
      let (field, value) = (fields[field], newValue?.fieldValue)
      let handle = handle(field)
      if let form = target.form {
        handle.assign(value, in: form, field.versions)
      } else {
        handle.perform(.write(value ?? handle.hidden(by: field.versions)))
      }
    }
  }

  /// Unsets a register, even if it contains a value that reads as `nil`.
  ///
  ///     item.aisle           // nil, although a newer app version wrote a value
  ///     item.aisle = nil     // keeps the value
  ///     item.unset(\.aisle)  // removes it
  public func unset<V: FieldValue>(
    _ field: KeyPath<Owner, Field<Owner, MVRegister<V>>>
  ) {
    let (field, handle) = (fields[field].versions, handle(fields[field]))
    // If the register shows a value, `nil` removes it, even that of an older
    // field.
    let isShown = handle.shown(by: field, withEdits: false) != nil
    if isShown, let form = target.form {
      handle.assign(nil, in: form, field)
    } else {
      handle.perform(.write(nil))
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
