// SPDX-License-Identifier: Apache-2.0

/// A type that a ``RecordEditor`` edits: a transaction, an editing context or a
/// draft.
package protocol EditTarget: AnyObject {
  func ensureExists(_ id: RecordID)
  func delete(_ id: RecordID)
  func perform(_ edit: FieldEdit, on key: FieldKey, of id: RecordID)

  /// Returns a field with the edits so far.
  func edited(_ key: FieldKey, of id: RecordID) -> EditedField

  /// Returns the content of a field that is not shown because the record is
  /// deleted, or is created again by the edits so far.
  func hidden(_ key: FieldKey, of id: RecordID) -> FieldState
}

/// A field and its unsaved edits.
///
/// Each type of field has a property that combines both.
package struct EditedField {
  /// The field without the edits.
  package let stored: FieldState
  /// The edits, or `nil` without edits.
  package let edit: FieldEdit?
  /// The records that do not exist, so that references to them are hidden.
  let dangling: Set<RecordID>

  package init(
    _ stored: FieldState, _ edit: FieldEdit?, dangling: Set<RecordID> = []
  ) {
    (self.stored, self.edit, self.dangling) = (stored, edit, dangling)
  }

  /// Returns the value, or `nil` if it refers to a record that does not exist.
  func visible(_ value: Value?) -> Value? {
    dangling.hides(value) ? nil : value
  }
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
