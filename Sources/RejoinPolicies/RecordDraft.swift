// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A record that is edited apart from its replica, as a `Sendable` value.
///
/// The user can edit a draft in a form on the main actor, and the app can later
/// save it where the replica is.
///
///     var draft = replica.draft(of: Profile.self, key: "ada")
///     draft.name = "Ada"                           // on any actor
///     draft.edit { $0.steps.increment(by: 1200) }
///     draft.steps                                  // 1200
///     let report = try context.commit(&draft)      // with the replica
///
/// A draft remembers the state that it started with. Committing the draft
/// supersedes only that state, and the context's policy decides about later
/// changes.
///
/// If the entity is known only at run time, use a draft of type
/// `RecordDraft<AnyEntity>`, which reads and edits fields by key.
@dynamicMemberLookup
public struct RecordDraft<Owner: Entity>: Sendable {
  var record: EditedRecord
  let fields: DeclaredFields<Owner>

  /// Whether the draft was committed, so that committing it again throws.
  public internal(set) var isCommitted = false

  /// Reads a field.
  public subscript<Kind: FieldType>(
    dynamicMember field: KeyPath<Owner, Field<Owner, Kind>>
  ) -> Kind.Reading { editor.read(field) }

  /// Reads or sets a register, or unsets it if the new value is `nil`.
  public subscript<V: FieldValue>(
    dynamicMember field: KeyPath<Owner, Field<Owner, MVRegister<V>>>
  ) -> V? {
    get { editor.read(field) }
    set { edit { $0[dynamicMember: field] = newValue } }
  }

  /// Unsets a register, even if it contains a value that reads as `nil`.
  ///
  /// Assigning `nil` keeps such a value.
  public mutating func unset<V: FieldValue>(
    _ field: KeyPath<Owner, Field<Owner, MVRegister<V>>>
  ) {
    edit { $0.unset(field) }
  }

  /// Edits the draft with the verbs of a save.
  ///
  /// - Returns: The result of `body`.
  public mutating func edit<Result>(
    _ body: (RecordEditor<Owner>) -> Result
  ) -> Result {
    let target = DraftTarget(record)
    // Release the edits, so they are changed in place.
    record.changes = EditedRecord.Changes()
    defer { record = target.record }
    return body(RecordEditor(id: id, target: target, fields: fields))
  }

  /// An editor for reading, which edits a copy of the draft.
  private var editor: RecordEditor<Owner> {
    RecordEditor(id: id, target: DraftTarget(record), fields: fields)
  }

  /// Resolves a register in conflict with a value, which may be the shown one.
  ///
  ///     draft.resolve(\.name, with: draft.name)
  ///
  /// Setting a field to its shown value is not an edit, but resolving the field
  /// with this value is. Committing the draft then supersedes the siblings that
  /// the draft has seen, under every policy that keeps the edits of counters. A
  /// sibling that arrives later stays in conflict. If you set the field
  /// afterward, the value changes and the field is still resolved.
  ///
  /// - Parameters:
  ///   - field: The field.
  ///   - value: The value, or `nil` to unset the field. If the field shows the
  ///     value, its content stays, even if the app cannot read all of it.
  public mutating func resolve<V: FieldValue>(
    _ field: KeyPath<Owner, Field<Owner, MVRegister<V>>>, with value: V?
  ) {
    let key = fields[field].key
    let isShown =
      editor.read(field)?.fieldValue.canonical == value?.fieldValue.canonical
    record.resolve(
      key, with: (isShown ? record.value(of: key) : nil) ?? value?.fieldValue)
  }

  /// The record.
  public var id: RecordID { record.id }

  /// Whether the draft has edits to commit.
  public var hasChanges: Bool { record.hasChanges }

  /// Returns the value of a register, or `nil` if it is unset.
  public func value(of key: FieldKey) -> Value? { record.value(of: key) }

  /// Returns the value of a counter.
  public func count(of key: FieldKey) -> Int64 { record.count(of: key) }

  /// Returns the sorted elements of a set.
  public func elements(of key: FieldKey) -> [Value] { record.elements(of: key) }

  /// Returns the total of a ledger.
  public func total(of key: FieldKey) -> Int64 { record.total(of: key) }

  /// Sets a register, or unsets it if `value` is `nil`.
  public mutating func set(_ value: Value?, for key: FieldKey) {
    apply(.write(value), to: key)
  }

  /// Resolves registers in conflict with values that the user chose.
  ///
  ///     let name = FieldKey("name", .register)
  ///     draft.resolve([name: draft.value(of: name)])
  ///
  /// For the effect, see ``resolve(_:with:)``.
  ///
  /// - Parameter values: The values by field, or `nil` for a field to unset.
  /// - Precondition: The fields are registers.
  public mutating func resolve(_ values: [FieldKey: Value?]) {
    for (key, value) in values {
      demand(
        key.kind == .register,
        "`resolve` needs registers, and \"\(key.name)\" is a "
          + "\(key.kind.rawValue). Edit it instead.")
      record.resolve(key, with: value)
    }
  }

  /// Edits a field.
  ///
  /// - Returns: `false`, without a change, if a counter's sums would overflow.
  /// - Precondition: The edit fits the kind of the field.
  @discardableResult
  public mutating func apply(_ edit: FieldEdit, to key: FieldKey) -> Bool {
    demand(
      edit.kind == key.kind,
      "\(edit) cannot edit \(key.name), which is a \(key.kind.rawValue)")
    return record.perform(edit, on: key)
  }

  /// Creates the record, or keeps it alive against a concurrent deletion,
  /// without editing a field.
  public mutating func ensureExists() { record.changes.isTouched = true }

  /// Deletes the record.
  ///
  /// A later edit of the draft creates the record again.
  public mutating func delete() { record.delete() }
}

/// The entity of a draft whose fields are edited only by key.
public struct AnyEntity: Entity {
  public init() {}
}

extension RecordDraft<AnyEntity> {
  /// Creates the same draft without its entity.
  ///
  /// Use it to commit drafts of several entities under one dot.
  public init(_ draft: RecordDraft<some Entity>) {
    self.init(
      record: draft.record, fields: DeclaredFields(AnyEntity()),
      isCommitted: draft.isCommitted)
  }
}

/// Drafts of records.
extension ReplicaView {
  /// Creates a draft of the current state of a record of a declared entity.
  ///
  ///     var draft = await store.read { $0.draft(of: Item.self, key: "milk") }
  ///     draft.amount = 2
  ///     try await store.commit(draft, under: .merge)
  ///
  /// Editing the draft of a record that does not exist inserts it.
  public func draft<E: Entity>(
    of entity: E.Type, key: String
  ) -> RecordDraft<E> {
    replica.draft(of: entity, key: key)
  }

  /// Creates a draft of the current state of a record.
  ///
  /// Editing the draft of a record that does not exist inserts it.
  public func draft(_ id: RecordID) -> RecordDraft<AnyEntity> {
    replica.draft(id)
  }
}

/// Drafts of records.
extension Replica {
  /// Creates a draft of the current state of a record of a declared entity.
  ///
  /// Editing the draft of a record that does not exist inserts it.
  public func draft<E: Entity>(
    of entity: E.Type, key: String
  ) -> RecordDraft<E> {
    RecordDraft(
      record: EditedRecord(RecordID(E.entityName, key), from: self),
      fields: schema.fields(of: entity))
  }

  /// Creates a draft of the current state of a record.
  ///
  /// Editing the draft of a record that does not exist inserts it.
  public func draft(_ id: RecordID) -> RecordDraft<AnyEntity> {
    RecordDraft(
      record: EditedRecord(id, from: self), fields: DeclaredFields(AnyEntity()))
  }
}

extension EditingContext {
  /// Saves a draft under the context's policy.
  ///
  ///     var draft = replica.draft(of: Profile.self, key: "ada")
  ///     draft.name = "Ada"
  ///     let report = try context.commit(&draft)
  ///     draft.isCommitted  // true
  ///
  /// Pending edits in the context are not saved. If an edit of the draft would
  /// overflow a counter, the draft is not committed, and
  /// ``ContextReport/failedRecords`` lists it.
  ///
  /// - Parameters:
  ///   - draft: The draft, which can be committed once.
  ///   - name: The name in the Undo menu, or `nil` if `Replica.undo()` should
  ///     not undo the save. The default is `nil`.
  /// - Returns: The report of the save.
  /// - Throws: ``DraftError``. If an error is thrown, nothing is saved.
  @discardableResult
  public func commit<E: Entity>(
    _ draft: inout RecordDraft<E>, undoable name: String? = nil
  ) throws(DraftError) -> ContextReport {
    var drafts = [draft]
    defer { draft = drafts[0] }
    return try commit(&drafts, undoable: name)
  }

  /// Saves drafts of different records under one dot and the context's policy.
  ///
  /// If a draft cannot be saved, ``ContextReport/failedRecords`` lists it. The
  /// other drafts are saved.
  ///
  /// - Parameters:
  ///   - drafts: The drafts, each of which can be committed once.
  ///   - name: The name in the Undo menu, or `nil` if `Replica.undo()` should
  ///     not undo the save. The default is `nil`.
  /// - Returns: The report of the save.
  /// - Throws: ``DraftError``. If an error is thrown, no draft is saved.
  /// - Precondition: Each draft is of a different record.
  @discardableResult
  public func commit<E: Entity>(
    _ drafts: inout [RecordDraft<E>], undoable name: String? = nil
  ) throws(DraftError) -> ContextReport {
    demand(
      Set(drafts.map(\.id)).count == drafts.count,
      "Two of the drafts are of one record. Commit them one after the other.")
    for draft in drafts { try check(draft) }
    let (report, saved): (ContextReport, Set<RecordID>)
    do {
      (report, saved) = try save(drafts.map(\.record), undoable: name)
    } catch {
      throw DraftError(error)
    }
    for i in drafts.indices where saved.contains(drafts[i].id) {
      drafts[i].isCommitted = true
    }
    for id in saved where records[id]?.hasChanges == false {
      records[id]?.refresh(from: replica)
    }
    return report
  }

  /// Throws an error if the draft cannot be committed to the replica.
  private func check(_ draft: RecordDraft<some Entity>) throws(DraftError) {
    if draft.isCommitted { throw .committed(draft.id) }
    let missing = draft.record.savesMissing(in: replica)
    if !missing.isEmpty { throw .missingSaves(draft.id, missing) }
  }
}

/// A class that holds a draft while the verbs of a save edit it.
private final class DraftTarget: EditTarget, EditForm {
  var record: EditedRecord

  init(_ record: EditedRecord) { self.record = record }

  var form: (any EditForm)? { self }

  func ensureExists(_ id: RecordID) { record.changes.isTouched = true }
  func delete(_ id: RecordID) { record.delete() }

  func perform(_ edit: FieldEdit, on key: FieldKey, of id: RecordID) {
    if !record.perform(edit, on: key) {
      record.failure = .counterOverflow(id, field: key.name)
    }
  }

  func place(
    _ key: FieldKey, of id: RecordID, between left: Position?,
    and right: Position?
  ) {
    record.place(key, in: .init(left: left, right: right))
  }

  func assign(
    _ value: Value?, to key: FieldKey, of id: RecordID,
    shown: (_ withEdits: Bool) -> Value?
  ) {
    record.assign(value, to: key, shown: shown(true), without: shown(false))
  }

  func edited(_ key: FieldKey, of id: RecordID) -> EditedField {
    record.edited(key)
  }

  func hidden(_ key: FieldKey, of id: RecordID) -> FieldState {
    record.hidden(key)
  }
}
