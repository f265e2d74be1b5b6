// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A record that a context edited and that changed in the store after the
/// context fetched it.
///
/// A conflict is `Codable`. You can store the conflicts that
/// ``MergePolicy/manual`` queued and resolve them in another context, even
/// after the next launch of the app.
public struct EditConflict: Hashable, Codable, Sendable {
  /// The record.
  public let record: RecordID

  /// The registers that either side changed, sorted by field.
  public let fields: [FieldDifference]

  /// The contested counters, sets, ledgers and `lww` fields, sorted.
  ///
  /// These fields conflict only with a deletion. If the context deletes the
  /// record, the list contains the counters, sets and ledgers that changed in
  /// the store. If the store deleted the record, the list contains the fields
  /// of these kinds that the context edited.
  public let others: [FieldKey]

  /// Whether the context deletes the record.
  ///
  /// If so, every field that changed in the store is contested.
  public let isDeletion: Bool

  /// Whether the record was deleted in the store after the context fetched it.
  public let isDeletedInStore: Bool

  /// The saves that the conflict displayed for each of `fields`.
  ///
  /// A resolution supersedes these saves and no later ones.
  let displayed: [Displayed]

  /// The saves of the record's existence that the conflict displayed.
  private(set) var marks: VectorClock

  /// All saves of the record that the conflict displayed.
  ///
  /// If the user resolves the conflict by deleting the record, the deletion
  /// covers them.
  private(set) var seen: VectorClock

  /// The saves of one field that the conflict displayed.
  struct Displayed: Hashable, Codable, Sendable {
    let field: FieldKey
    let seen: VectorClock
  }

  /// The registers that both sides changed, where a deletion changes every
  /// field.
  public var contested: [FieldDifference] {
    fields.filter {
      $0.isChangedInStore && ($0.isChangedInContext || isDeletion)
    }
  }

  /// The names of all contested fields: ``contested`` and ``others``.
  public var contestedNames: Set<SchemaName> {
    Set(
      contested.map { SchemaName($0.field) }
        + others.map { SchemaName($0.name) })
  }
}

extension EditConflict {
  init(
    _ record: RecordID, fields: [FieldKey: FieldDifference],
    others: [FieldKey], isDeletion: Bool, isDeletedInStore: Bool,
    displayed now: Record
  ) {
    let fields = fields.filter {
      $0.value.isChangedInContext || $0.value.isChangedInStore
    }
    .sorted { $0.key < $1.key }
    self.init(
      record: record, fields: fields.map(\.value), others: others,
      isDeletion: isDeletion, isDeletedInStore: isDeletedInStore,
      displayed: fields.map {
        Displayed(field: $0.key, seen: now[$0.key].clock)
      }, marks: now[.existence].clock, seen: now.clock)
  }

  /// Returns the saves of a field that the conflict displayed, or `nil` if the
  /// field is not part of it.
  func displayed(_ key: FieldKey) -> VectorClock? {
    // Compare names: if the kind changed between versions of a schema, only one
    // of the two fields with the name is listed, and the other displayed
    // nothing.
    guard
      fields.contains(where: { SchemaName($0.field) == SchemaName(key.name) })
    else { return nil }
    return displayed.first { $0.field == key }?.seen ?? VectorClock()
  }

  /// Returns the conflict without the settled fields, or `nil` if no field is
  /// left.
  func without(_ settled: (SchemaName) -> Bool) -> EditConflict? {
    let rest = fields.filter { !settled(SchemaName($0.field)) }
    if rest.isEmpty { return nil }
    return EditConflict(
      record: record, fields: rest, others: others, isDeletion: isDeletion,
      isDeletedInStore: isDeletedInStore, displayed: displayed, marks: marks,
      seen: seen)
  }

  /// Returns the conflict as displayed after the save that queued it.
  func displayed(after dot: Dot?) -> EditConflict {
    var conflict = self
    // The save that queues the conflict may write other fields of the record. A
    // resolution must also supersede its mark and cover its edits.
    if let dot {
      conflict.marks.advance(to: dot)
      conflict.seen.advance(to: dot)
    }
    return conflict
  }
}

/// An error that lists the conflicts of a save under ``MergePolicy/error``.
///
/// Nothing was written, and the edits stay in the context.
public struct MergeConflictError: Error, Sendable, CustomStringConvertible {
  /// The records in conflict.
  public let conflicts: [EditConflict]

  /// The changes in the store, and the remedy.
  public var description: String {
    "The context could not be saved because the store changed after the records "
      + "were fetched: \(conflicts.map(\.change).joined(separator: ", ")). Save "
      + "under another merge policy, or roll the context back and edit again."
  }
}

extension EditConflict {
  /// The record with its changed fields, or that it was deleted.
  fileprivate var change: String {
    if isDeletedInStore { return "\(record) was deleted" }
    let names =
      fields.filter(\.isChangedInStore).map(\.field) + others.map(\.name)
    // A save can change nothing that is shown, for example if it keeps the
    // record alive.
    return names.isEmpty
      ? "\(record)"
      : names.map { "\(record).\(SchemaName($0))" }.joined(separator: ", ")
  }
}

/// An error that describes why a context could not save.
///
/// If it is thrown, nothing is written.
public enum ContextSaveError: Error, Sendable {
  /// Records are in conflict, and the policy is ``MergePolicy/error``.
  case conflict(MergeConflictError)
  /// The replica refused the save as a whole.
  case save(SaveError)
}
