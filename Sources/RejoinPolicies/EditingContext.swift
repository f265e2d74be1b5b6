//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

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
/// here, once per save, and never when a delta is received.
public final class EditingContext {
  /// What to do about conflicts at save.
  public var mergePolicy: MergePolicy

  /// Whether fields that were not edited follow the replica by themselves.
  public var automaticallyMergesChangesFromParent = false

  /// The conflicts that await a decision, under ``MergePolicy/manual``.
  public internal(set) var conflicts: [Conflict] = []

  let replica: Replica
  var records: [RecordID: EditedRecord] = [:]

  /// Creates a context on a replica.
  public init(_ replica: Replica, mergePolicy: MergePolicy = .error) {
    self.replica = replica
    self.mergePolicy = mergePolicy
  }

  /// Fetches a record of a declared entity for editing.
  ///
  /// Editing a record that does not exist inserts it. A record that is already in
  /// the context is returned as it is there.
  public func fetch<E: Entity>(
    _ entity: E.Type, _ key: String
  ) -> ContextRecord<E> {
    let id = RecordID(E.entityName, key)
    fetch(id)
    return ContextRecord(
      id: id, context: self, fields: replica.schema.fields(of: entity))
  }

  /// Fetches a record, unless it is already in the context.
  public func fetch(_ id: RecordID) {
    if records[id] == nil { records[id] = EditedRecord(id, from: replica) }
  }

  /// Moves the fields that were not edited forward to how the replica has them.
  ///
  /// Of fields that were, what was fetched and shown stays as it was.
  public func refresh() {
    for id in Array(records.keys) { records[id]?.refresh(from: replica) }
  }

  /// Forgets all edits.
  public func rollback() { records = [:] }

  /// Whether there is anything to save.
  public var hasChanges: Bool {
    records.values.contains(where: \.hasChanges)
  }

  /// The value of a register in the context.
  public func value(of key: FieldKey, in id: RecordID) -> Value? {
    current(id).value(key)
  }

  /// Sets a register in the context; `nil` unsets it.
  public func set(_ value: Value?, for key: FieldKey, in id: RecordID) {
    update(id) { $0.values[key] = .some(value?.canonical) }
  }

  /// Edits a counter, a set or a ledger in the context.
  ///
  /// - Returns: Whether a counter's sums bear it.
  @discardableResult
  public func apply(
    _ edit: FieldEdit, to key: FieldKey, in id: RecordID
  ) -> Bool {
    if case .write(let value) = edit {
      set(value, for: key, in: id)
      return true
    }
    var isBorne = true
    update(id) { record in
      let edit = edit.canonical
      guard var earlier = record.edits[key] else {
        return record.edits[key] = edit
      }
      isBorne = earlier.append(edit)
      record.edits[key] = earlier
    }
    return isBorne
  }

  /// Deletes a record in the context.
  public func delete(_ id: RecordID) { update(id) { $0.isDeleted = true } }

  func current(_ id: RecordID) -> EditedRecord {
    fetch(id)
    if automaticallyMergesChangesFromParent {
      records[id]?.refresh(from: replica)
    }
    return records[id] ?? EditedRecord(id, from: replica)
  }

  private func update(_ id: RecordID, _ change: (inout EditedRecord) -> Void) {
    var record = current(id)
    change(&record)
    records[id] = record
  }
}
