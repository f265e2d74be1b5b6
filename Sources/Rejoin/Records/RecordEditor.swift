// SPDX-License-Identifier: Apache-2.0

/// An editor of one record within a save or an editing context.
@dynamicMemberLookup
public struct RecordEditor<Owner: Entity> {
  let id: RecordID
  let target: any EditTarget
  @usableFromInline let fields: DeclaredFields<Owner>

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
  @inlinable
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
    @inlinable nonmutating set {
      let field = fields[field]
      handle(field).assign(newValue?.fieldValue, field.versions)
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
    let field = fields[field]
    let handle = handle(field)
    // If the register shows a value, `nil` removes it, even that of an older
    // field. An edit that reads as `nil` would be kept.
    let isShown = [false, true].allSatisfy {
      handle.shown(by: field.versions, withEdits: $0) != nil
    }
    if isShown, target.form != nil {
      handle.assign(nil, field.versions)
    } else {
      handle.perform(.write(nil))
    }
  }

  /// Moves the record between two others of a list.
  ///
  ///     draft.edit { $0.move(by: \.position, between: milk.position, and: nil) }
  ///
  /// In a context or a draft, the position is made when the edits are saved, and reads as
  /// unset until then. Use ``Transaction/move(_:by:between:and:)`` to move several
  /// records in an order, or beside records without a position. If a move turns out to be
  /// wrong, assign the former position again: ``unset(_:)`` leaves the record without a
  /// position, and assigning `nil` changes nothing.
  ///
  /// - Parameters:
  ///   - field: The field with the position.
  ///   - left: The position of the record before, or `nil` at the start of the list.
  ///   - right: The position of the record behind, or `nil` at the end of the list.
  /// - Precondition: In a context or a draft, the field is declared with `lww`.
  public func move(
    by field: KeyPath<Owner, Field<Owner, MVRegister<Position>>>,
    between left: Position?, and right: Position?
  ) {
    target.place(fields[field].key, of: id, between: left, and: right)
  }

  /// Returns the content of a field after the edits so far.
  package func read<Kind: FieldType>(
    _ field: KeyPath<Owner, Field<Owner, Kind>>
  ) -> Kind.Reading { Kind.read(fields[field], in: self) }

  @inlinable
  func handle<Kind: FieldType>(_ field: Field<Owner, Kind>) -> FieldHandle {
    handle(field.key)
  }

  @usableFromInline
  func handle(_ key: FieldKey) -> FieldHandle {
    FieldHandle(key: key, id: id, target: target)
  }
}

/// A type that a ``RecordEditor`` edits: a transaction, an editing context or a
/// draft.
package protocol EditTarget: AnyObject {
  func ensureExists(_ id: RecordID)
  func delete(_ id: RecordID)
  func perform(_ edit: FieldEdit, on key: FieldKey, of id: RecordID)

  /// Sets a register to a position in a gap, which is made in the save.
  func place(
    _ key: FieldKey, of id: RecordID, between left: Position?,
    and right: Position?)

  /// The target as a form, or `nil` for a save, where every assignment is an
  /// edit.
  var form: (any EditForm)? { get }

  /// Returns a field with the edits so far.
  func edited(_ key: FieldKey, of id: RecordID) -> EditedField

  /// Returns the content of a field that is not shown because the record is
  /// deleted, or is created again by the edits so far.
  func hidden(_ key: FieldKey, of id: RecordID) -> FieldState
}

/// A target where assigning what a register shows changes nothing.
package protocol EditForm {
  /// Assigns a value to a register.
  ///
  /// - Parameter shown: A closure that returns what the register shows, with or
  ///   without the edits so far.
  func assign(
    _ value: Value?, to key: FieldKey, of id: RecordID,
    shown: (_ withEdits: Bool) -> Value?)
}

/// A field and its unsaved edits.
///
/// Each type of field has a property that combines both.
package struct EditedField {
  /// The field without the edits.
  package let stored: FieldState
  /// The edits, or `nil` without edits.
  package let edit: FieldEdit?
  /// Returns whether a record exists, so that references to it are shown, or
  /// `nil` if all references are shown.
  private let exists: ((RecordID) -> Bool)?

  package init(
    _ stored: FieldState, _ edit: FieldEdit?,
    showing exists: ((RecordID) -> Bool)? = nil
  ) {
    (self.stored, self.edit, self.exists) = (stored, edit, exists)
  }

  /// The field without the edits.
  var unedited: EditedField { EditedField(stored, nil, showing: exists) }

  /// Returns whether a value refers to a record that does not exist.
  func hides(_ value: Value?) -> Bool {
    guard let exists, case .reference(let id) = value else { return false }
    return !exists(id)
  }

  /// Returns the value, or `nil` if it refers to a record that does not exist.
  func visible(_ value: Value?) -> Value? { hides(value) ? nil : value }
}

/// A field of a record and the target of its edits.
@usableFromInline
struct FieldHandle {
  let key: FieldKey
  let id: RecordID
  let target: any EditTarget

  /// The field with the edits so far.
  var edited: EditedField { target.edited(key, of: id) }

  func perform(_ edit: FieldEdit) { target.perform(edit, on: key, of: id) }
}
