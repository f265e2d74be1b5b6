// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A ``RecordDraft`` whose fields are read and edited by their declarations.
///
///     var draft = replica.draft(Profile.self, "ada")
///     draft.name = "Ada"
///     draft.edit { $0.steps.increment(by: 1200) }
///     draft.steps  // 1200
///     let report = try context.commit(&draft)
@dynamicMemberLookup
public struct TypedDraft<Owner: Entity>: Sendable {
  /// The draft without types.
  public var draft: RecordDraft

  let fields: DeclaredFields<Owner>

  /// Reads a field.
  public subscript<Kind: FieldType>(
    dynamicMember field: KeyPath<Owner, Field<Owner, Kind>>
  ) -> Kind.Reading { editor.read(field) }

  /// Reads or sets a register; `nil` unsets it.
  public subscript<V: FieldValue>(
    dynamicMember field: KeyPath<Owner, Field<Owner, MVRegister<V>>>
  ) -> V? {
    get { editor.read(field) }
    set { edit { $0[dynamicMember: field] = newValue } }
  }

  /// Settles a register in conflict with a value, which may be the shown one.
  ///
  ///     draft.resolve(\.name, with: draft.name)
  ///
  /// - Parameters:
  ///   - field: The field.
  ///   - value: The value, or `nil` to unset the field.
  public mutating func resolve<V: FieldValue>(
    _ field: KeyPath<Owner, Field<Owner, MVRegister<V>>>, with value: V?
  ) {
    draft.resolve([fields[field].key: value?.fieldValue])
  }

  /// Edits the draft with the verbs of a save.
  ///
  /// - Returns: What `body` returns.
  public mutating func edit<Result>(
    _ body: (RecordEditor<Owner>) -> Result
  ) -> Result {
    let target = DraftTarget(draft)
    // Released, so the edits are changed in place.
    draft.record.changes = EditedRecord.Changes()
    defer { draft = target.draft }
    return body(RecordEditor(id: draft.id, target: target, fields: fields))
  }

  /// An editor for reading.
  ///
  /// It edits a copy of the draft.
  private var editor: RecordEditor<Owner> {
    RecordEditor(id: draft.id, target: DraftTarget(draft), fields: fields)
  }
}

/// Drafts of records.
extension Replica {
  /// Makes a draft of the current state of a record of a declared entity.
  ///
  /// Editing the draft of a record that does not exist inserts it.
  public func draft<E: Entity>(_ entity: E.Type, _ key: String) -> TypedDraft<E>
  {
    TypedDraft(
      draft: draft(RecordID(E.entityName, key)),
      fields: schema.fields(of: entity))
  }
}

extension EditingContext {
  /// Saves a draft under the context's policy.
  ///
  /// Pending edits in the context are not saved.
  ///
  /// - Parameter draft: The draft, which can be committed once.
  /// - Returns: The report of the save.
  /// - Throws: ``DraftError``. If an error is thrown, nothing is saved.
  @discardableResult
  public func commit<E: Entity>(
    _ draft: inout TypedDraft<E>
  ) throws(DraftError) -> ContextReport {
    try commit(&draft.draft)
  }
}

/// A draft while it is edited with the verbs of a save, which need a class.
private final class DraftTarget: EditTarget {
  var draft: RecordDraft

  init(_ draft: RecordDraft) { self.draft = draft }

  func touch(_ id: RecordID) { draft.touch() }
  func delete(_ id: RecordID) { draft.delete() }

  func perform(_ edit: FieldEdit, on key: FieldKey, of id: RecordID) {
    if !draft.apply(edit, to: key) {
      draft.record.failure = .counterOverflow(id, field: key.name)
    }
  }

  func edited(_ key: FieldKey, of id: RecordID) -> EditedField {
    draft.record.edited(key)
  }
}
