// SPDX-License-Identifier: Apache-2.0

/// A type that a ``RecordEditor`` edits: a transaction, an editing context or a
/// draft.
package protocol EditTarget: AnyObject {
  func ensureExists(_ id: RecordID)
  func delete(_ id: RecordID)
  func perform(_ edit: FieldEdit, on key: FieldKey, of id: RecordID)

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
struct FieldHandle {
  let key: FieldKey
  let id: RecordID
  let target: any EditTarget

  /// The field with the edits so far.
  var edited: EditedField { target.edited(key, of: id) }

  func perform(_ edit: FieldEdit) { target.perform(edit, on: key, of: id) }
}
