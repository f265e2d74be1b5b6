// SPDX-License-Identifier: Apache-2.0

/// What a ``RecordEditor`` edits: a transaction, an editing context or a draft.
package protocol EditTarget: AnyObject {
  func ensureExists(_ id: RecordID)
  func delete(_ id: RecordID)
  func perform(_ edit: FieldEdit, on key: FieldKey, of id: RecordID)

  /// Returns a field with the edits so far.
  func edited(_ key: FieldKey, of id: RecordID) -> EditedField
}

/// A field, and the edits of it that are not saved yet.
///
/// Each type of field has a property that shows both.
package struct EditedField {
  /// The field without the edits.
  package let stored: FieldState
  /// The edits, or `nil` if there are none.
  package let edit: FieldEdit?
  /// The records that do not exist: references to them are not shown.
  let dangling: Set<RecordID>

  package init(
    _ stored: FieldState, _ edit: FieldEdit?, dangling: Set<RecordID> = []
  ) {
    (self.stored, self.edit, self.dangling) = (stored, edit, dangling)
  }

  /// Returns the value, unless it is a reference to a record that does not exist.
  func visible(_ value: Value?) -> Value? {
    dangling.hides(value) ? nil : value
  }
}

/// A field of a record, and where its edits go.
struct FieldHandle {
  let key: FieldKey
  let id: RecordID
  let target: any EditTarget

  /// The field with the edits so far.
  var edited: EditedField { target.edited(key, of: id) }

  func perform(_ edit: FieldEdit) { target.perform(edit, on: key, of: id) }
}
