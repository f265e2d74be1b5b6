// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A record that is edited apart from its replica, as a `Sendable` value: it
/// can be edited in a form on the main actor and saved later, where the replica
/// is.
///
///     var draft = replica.draft(RecordID("Profile", "ada"))
///     draft.set("Ada", for: FieldKey("name", .register))  // on any actor
///     let report = try context.commit(draft)              // with the replica
///
/// A draft remembers the state that it was made from. Committing it supersedes
/// that state only, and the context's policy decides about later changes.
public struct RecordDraft: Sendable {
  var record: EditedRecord

  /// The record.
  public var id: RecordID { record.id }

  /// Whether there is anything to commit.
  public var hasChanges: Bool { record.hasChanges }

  /// The value of a register; `nil` if it is unset.
  public func value(of key: FieldKey) -> Value? { record.value(of: key) }

  /// The value of a counter.
  public func count(of key: FieldKey) -> Int64 { record.count(of: key) }

  /// The elements of a set, sorted.
  public func elements(of key: FieldKey) -> [Value] { record.elements(of: key) }

  /// The total of a ledger.
  public func total(of key: FieldKey) -> Int64 { record.total(of: key) }

  /// Sets a register; `nil` unsets it.
  public mutating func set(_ value: Value?, for key: FieldKey) {
    apply(.write(value), to: key)
  }

  /// Edits a field.
  ///
  /// - Returns: `false` if a counter's sums would overflow. Nothing is then
  ///   changed.
  /// - Precondition: The edit fits the kind of the field.
  @discardableResult
  public mutating func apply(_ edit: FieldEdit, to key: FieldKey) -> Bool {
    precondition(
      key.kind.accepts(edit),
      "\(edit) cannot edit \(key.name), which is a \(key.kind.rawValue)")
    return record.perform(edit, on: key)
  }

  /// Creates the record, or keeps it alive against a concurrent deletion,
  /// without editing a field.
  public mutating func touch() { record.changes.isTouched = true }

  /// Deletes the record.
  ///
  /// A later edit of the draft creates it again.
  public mutating func delete() { record.delete() }
}

/// Drafts of records.
extension Replica {
  /// Creates a draft of the current state of a record.
  ///
  /// Editing the draft of a record that does not exist inserts it.
  public func draft(_ id: RecordID) -> RecordDraft {
    RecordDraft(record: EditedRecord(id, from: self))
  }
}

extension EditingContext {
  /// Saves drafts under one dot and under the context's policy.
  ///
  /// Pending edits in the context are not saved.
  ///
  /// A draft that cannot be saved is in ``ContextReport/failures``, and the
  /// others are saved. The caller still has the drafts.
  ///
  /// - Returns: What was written, what the policy dropped, and what was in
  ///   conflict.
  /// - Throws: The same errors as ``save()``. No draft is then saved.
  /// - Precondition: The drafts are of different records.
  @discardableResult
  public func commit(
    _ drafts: RecordDraft...
  ) throws(ContextSaveError) -> ContextReport {
    precondition(
      Set(drafts.map(\.id)).count == drafts.count,
      "two of the drafts are of one record: commit them one after the other")
    let (report, saved) = try save(drafts.map(\.record))
    for id in saved where records[id]?.hasChanges == false {
      records[id]?.refresh(from: replica)
    }
    return report
  }
}
