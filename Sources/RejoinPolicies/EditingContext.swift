// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A context that edits records apart from their replica and saves them under a
/// merge policy.
///
/// It corresponds to a managed object context in Core Data.
///
///     let context = EditingContext(
///       phone, mergePolicy: .mergeByPropertyObjectTrump)
///     context.fetch(Person.self, key: "taylor").phone = "1-800-275-2273"
///     let report = try context.save()
///
/// A write supersedes only the siblings that the context had seen, unless the
/// policy supersedes more. The policy is consulted once per save and never when
/// a delta is received. The verbs on a record apply in order: a write after a
/// deletion creates the record again.
public final class EditingContext {
  /// The rule for saving records that are in conflict.
  ///
  /// The default is ``MergePolicy/error``.
  public var mergePolicy: MergePolicy

  /// Whether unedited fields follow the replica without a call of
  /// ``refresh()``.
  ///
  /// The default is `false`.
  public var automaticallyMergesChangesFromParent = false

  /// The conflicts that ``MergePolicy/manual`` and custom rules queued.
  ///
  ///     for conflict in context.pendingConflicts {
  ///       try context.resolve(conflict.record, choices(conflict))
  ///     }
  ///
  /// Conflicts are `Codable`. To resolve them after another launch, store them
  /// and set them on a context of the same replica.
  ///
  /// - Complexity: O(*n*), where *n* is the number of conflicts.
  public var pendingConflicts: [EditConflict] {
    get { queue.all }
    set { queue = ConflictQueue(newValue) }
  }

  var queue = ConflictQueue()

  let replica: Replica
  var records: [RecordID: EditedRecord] = [:]

  /// Creates a context that edits records of a replica.
  public init(_ replica: Replica, mergePolicy: MergePolicy = .error) {
    self.replica = replica
    self.mergePolicy = mergePolicy
  }

  /// Fetches a record of a declared entity for editing.
  ///
  ///     let ada = context.fetch(Profile.self, key: "ada")
  ///     ada.tags.insert("runner")
  ///     ada.tags.elements  // ["runner"]; not in the replica yet
  ///
  /// Editing a record that does not exist inserts it. A record that is already
  /// in the context keeps its edits.
  public func fetch<E: Entity>(
    _ entity: E.Type, key: String
  ) -> RecordEditor<E> {
    let id = RecordID(E.entityName, key)
    fetch(id)
    return RecordEditor(
      id: id, target: self, fields: replica.schema.fields(of: entity))
  }

  /// Fetches a record for editing, unless it is already in the context.
  public func fetch(_ id: RecordID) {
    if records[id] == nil { records[id] = EditedRecord(id, from: replica) }
  }

  /// Updates the unedited fields to their state in the replica.
  ///
  /// Edited fields keep the fetched value, so their conflicts are still
  /// detected. A deletion counts as an edit of every field.
  public func refresh() {
    for id in Array(records.keys) { records[id]?.refresh(from: replica) }
  }

  /// Discards all records of the context and their edits.
  public func rollback() { records = [:] }

  /// Whether the context has edits to save.
  public var hasChanges: Bool {
    records.values.contains(where: \.hasChanges)
  }

  /// Sets a register in the context, or unsets it if `value` is `nil`.
  public func set(_ value: Value?, for key: FieldKey, in id: RecordID) {
    apply(.write(value), to: key, in: id)
  }

  /// Edits a field in the context.
  ///
  /// - Returns: `false`, without a change, if a counter's sums would overflow.
  /// - Precondition: The edit fits the kind of the field.
  @discardableResult
  public func apply(
    _ edit: FieldEdit, to key: FieldKey, in id: RecordID
  ) -> Bool {
    demand(
      edit.kind == key.kind,
      "\(edit) cannot edit \(key.name), which is a \(key.kind.rawValue)")
    return update(id) { $0.perform(edit, on: key) }
  }

  func current(_ id: RecordID) -> EditedRecord {
    prepare(id)
    return records[id] ?? EditedRecord(id, from: replica)
  }

  /// Fetches a record, or updates it if the context follows the replica.
  private func prepare(_ id: RecordID) {
    fetch(id)
    if automaticallyMergesChangesFromParent {
      records[id]?.refresh(from: replica)
    }
  }

  private func update<Result>(
    _ id: RecordID, _ change: (inout EditedRecord) -> Result
  ) -> Result {
    prepare(id)
    // Change the record in place: a copy would also copy its edits.
    return change(&records[id, default: EditedRecord(id, from: replica)])
  }
}

extension EditingContext: EditForm {
  package func assign(
    _ value: Value?, to key: FieldKey, of id: RecordID,
    shown: (_ withEdits: Bool) -> Value?
  ) {
    let (now, before) = (shown(true), shown(false))
    update(id) { $0.assign(value, to: key, shown: now, without: before) }
  }
}

extension EditingContext: EditTarget {
  /// Creates a record, or keeps it alive against a concurrent deletion, without
  /// editing a field.
  public func ensureExists(_ id: RecordID) {
    update(id) { $0.changes.isTouched = true }
  }

  /// Deletes a record in the context.
  public func delete(_ id: RecordID) { update(id) { $0.delete() } }

  package func perform(
    _ edit: FieldEdit, on key: FieldKey, of id: RecordID
  ) {
    if !apply(edit, to: key, in: id) {
      update(id) { $0.failure = .counterOverflow(id, field: key.name) }
    }
  }

  package func place(
    _ key: FieldKey, of id: RecordID, between left: Position?,
    and right: Position?
  ) {
    update(id) { $0.place(key, in: .init(left: left, right: right)) }
  }

  package var form: (any EditForm)? { self }

  package func edited(_ key: FieldKey, of id: RecordID) -> EditedField {
    current(id).edited(key)
  }

  package func hidden(_ key: FieldKey, of id: RecordID) -> FieldState {
    current(id).hidden(key)
  }

  /// Returns the value of a register in the context, or `nil` if it is unset.
  public func value(of key: FieldKey, in id: RecordID) -> Value? {
    current(id).value(of: key)
  }

  /// Returns the value of a counter in the context.
  public func count(of key: FieldKey, in id: RecordID) -> Int64 {
    current(id).count(of: key)
  }

  /// Returns the sorted elements of a set in the context.
  public func elements(of key: FieldKey, in id: RecordID) -> [Value] {
    current(id).elements(of: key)
  }

  /// Returns the total of a ledger in the context.
  public func total(of key: FieldKey, in id: RecordID) -> Int64 {
    current(id).total(of: key)
  }
}
