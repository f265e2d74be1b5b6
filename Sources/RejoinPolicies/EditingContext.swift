// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A place to edit records apart from the replica, and to save them under a merge
/// policy: what a managed object context is in Core Data.
///
///     let context = EditingContext(
///       phone, mergePolicy: .mergeByPropertyObjectTrump)
///     context.fetch(Person.self, "taylor").phone = "1-800-275-2273"
///     let report = try context.save()
///
/// What a context writes supersedes only what it had shown. A policy is consulted
/// here, once per save, and never when a delta is received. The verbs on a record
/// apply in their order: what is written after a deletion creates the record
/// again.
public final class EditingContext {
  /// What to do about conflicts at save.
  ///
  /// A context inherits no policy; the default is ``MergePolicy/error``.
  public var mergePolicy: MergePolicy

  /// Whether fields that were not edited follow the replica by themselves.
  public var automaticallyMergesChangesFromParent = false

  /// The conflicts that await a decision, under ``MergePolicy/manual``.
  ///
  /// They are values: store them, and go on in another context on the same replica.
  public var conflicts: [Conflict] = []

  let replica: Replica
  var records: [RecordID: EditedRecord] = [:]

  /// Creates a context on a replica.
  public init(_ replica: Replica, mergePolicy: MergePolicy = .error) {
    self.replica = replica
    self.mergePolicy = mergePolicy
  }

  /// Fetches a record of a declared entity for editing.
  ///
  ///     let ada = context.fetch(Profile.self, "ada")
  ///     ada.tags.insert("runner")
  ///     ada.tags.elements  // ["runner"], which the replica has not heard of yet
  ///
  /// Editing a record that does not exist inserts it. A record that is already in
  /// the context is returned as it is there.
  public func fetch<E: Entity>(
    _ entity: E.Type, _ key: String
  ) -> RecordEditor<E> {
    let id = RecordID(E.entityName, key)
    fetch(id)
    return RecordEditor(
      id: id, target: self, fields: replica.schema.fields(of: entity))
  }

  /// Fetches a record, unless it is already in the context.
  public func fetch(_ id: RecordID) {
    if records[id] == nil { records[id] = EditedRecord(id, from: replica) }
  }

  /// Moves the fields that were not edited forward to how the replica has them.
  ///
  /// Of fields that were, what was fetched and shown stays as it was; a deletion
  /// edits every field.
  public func refresh() {
    for id in Array(records.keys) { records[id]?.refresh(from: replica) }
  }

  /// Forgets all edits.
  public func rollback() { records = [:] }

  /// Whether there is anything to save.
  public var hasChanges: Bool {
    records.values.contains(where: \.hasChanges)
  }

  /// Sets a register in the context; `nil` unsets it.
  public func set(_ value: Value?, for key: FieldKey, in id: RecordID) {
    apply(.write(value), to: key, in: id)
  }

  /// Edits a field in the context.
  ///
  /// - Returns: Whether a counter's sums bear it; otherwise nothing changes.
  /// - Precondition: The edit is one for the kind of field.
  @discardableResult
  public func apply(
    _ edit: FieldEdit, to key: FieldKey, in id: RecordID
  ) -> Bool {
    precondition(
      FieldState(key.kind).accepts(edit),
      "\(edit) is no edit of a field of the kind \(key.kind)")
    return update(id) { $0.perform(edit, on: key) }
  }

  func current(_ id: RecordID) -> EditedRecord {
    fetch(id)
    if automaticallyMergesChangesFromParent {
      records[id]?.refresh(from: replica)
    }
    return records[id] ?? EditedRecord(id, from: replica)
  }

  private func update<Result>(
    _ id: RecordID, _ change: (inout EditedRecord) -> Result
  ) -> Result {
    var record = current(id)
    defer { records[id] = record }
    return change(&record)
  }
}

extension EditingContext: EditTarget {
  /// Creates a record, or keeps it alive, without editing a field.
  public func touch(_ id: RecordID) {
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

  package func fail(_ error: SaveError) {
    guard let id = error.record else { return }
    update(id) { $0.failure = error }
  }

  package func shown(_ key: FieldKey, in id: RecordID) -> Value?? {
    current(id).written(key)
  }

  /// The value of a register in the context.
  public func value(of key: FieldKey, in id: RecordID) -> Value? {
    current(id).value(of: key)
  }

  /// The value of a counter in the context.
  public func count(of key: FieldKey, in id: RecordID) -> Int64 {
    current(id).count(of: key)
  }

  /// The elements of a set in the context, sorted.
  public func elements(of key: FieldKey, in id: RecordID) -> [Value] {
    current(id).elements(of: key)
  }

  /// The total of a ledger in the context.
  public func total(of key: FieldKey, in id: RecordID) -> Int64 {
    current(id).total(of: key)
  }
}
