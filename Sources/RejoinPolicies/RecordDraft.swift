// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A record that is edited apart from its replica, as a value: it can cross to the
/// main actor, fill a form there, and come back to be saved.
///
///     var draft = replica.draft(RecordID("Profile", "ada"))
///     draft.set("Ada", for: FieldKey("name", .register))  // on any actor
///     let report = try context.commit(draft)              // with the replica
///
/// A draft keeps what was shown when it was made. Committing it supersedes that
/// and nothing else, and the context's policy decides about what changed since.
public struct RecordDraft: Sendable {
  var record: EditedRecord

  /// The record.
  public var id: RecordID { record.id }

  /// Whether committing would do anything.
  public var hasChanges: Bool { record.hasChanges }

  /// The value of a register.
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
  /// - Returns: Whether a counter's sums bear it; otherwise nothing changes.
  /// - Precondition: The edit is one for the kind of field.
  @discardableResult
  public mutating func apply(_ edit: FieldEdit, to key: FieldKey) -> Bool {
    precondition(
      FieldState(key.kind).accepts(edit),
      "\(edit) is no edit of a field of the kind \(key.kind)")
    return record.perform(edit, on: key)
  }

  /// Creates the record, or keeps it alive, without editing a field.
  public mutating func touch() { record.changes.isTouched = true }

  /// Deletes the record; what is written after that creates it again.
  public mutating func delete() { record.delete() }
}

extension Replica {
  /// Makes a draft of a record, its aliases aside, as it is now.
  ///
  /// Editing the draft of a record that does not exist inserts it.
  public func draft(_ id: RecordID) -> RecordDraft {
    RecordDraft(record: EditedRecord(id, from: self))
  }
}

extension EditingContext {
  /// Saves drafts under one dot, by the context's policy; the records in the
  /// context stay as they are.
  ///
  /// A draft that cannot be saved is in the report's failures; where the save
  /// throws, none is saved. The caller still has the drafts.
  ///
  /// - Throws: As ``save()`` does.
  /// - Precondition: The drafts are of different records.
  @discardableResult
  public func commit(
    _ drafts: RecordDraft...
  ) throws(ContextSaveError) -> ContextReport {
    precondition(
      Set(drafts.map(\.id)).count == drafts.count,
      "two drafts of one record: commit one after the other")
    let (report, saved) = try save(drafts.map(\.record))
    for id in saved where records[id]?.hasChanges == false {
      records[id]?.refresh(from: replica)
    }
    return report
  }
}
