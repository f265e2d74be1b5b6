// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A record that a context edited and that has changed in the store since it
/// was fetched.
///
/// A conflict is `Codable`. Store those that ``MergePolicy/manual`` queued, and
/// resolve them in another context, also after the app was launched again.
public struct EditConflict: Hashable, Codable, Sendable {
  /// The record.
  public let record: RecordID

  /// The registers that either side changed, sorted by field.
  public let fields: [FieldDifference]

  /// The contested counters, sets, ledgers and `lww` fields, sorted.
  ///
  /// They conflict only with a deletion. If the context deletes the record,
  /// these are the counters, sets and ledgers that changed in the store; if the
  /// record was deleted in the store, those fields that the context edits.
  public let others: [FieldKey]

  /// Whether the context deletes the record.
  ///
  /// Every field that changed in the store is then contested.
  public let isDeletion: Bool

  /// For each of `fields`, the saves that the conflict displayed.
  ///
  /// Resolving supersedes these and no later ones.
  let displayed: [Displayed]

  /// The saves of the record's existence that the conflict displayed.
  private(set) var marks: VectorClock

  /// All saves of the record that the conflict displayed.
  ///
  /// If the conflict is resolved by deleting the record, the deletion covers them.
  private(set) var seen: VectorClock

  /// The saves of one field that the conflict displayed.
  struct Displayed: Hashable, Codable, Sendable {
    let field: FieldKey
    let seen: VectorClock
  }

  /// The registers that both sides changed; a deletion changes every field.
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
    others: [FieldKey], isDeletion: Bool, displayed now: Record
  ) {
    let fields = fields.filter {
      $0.value.isChangedInContext || $0.value.isChangedInStore
    }
    .sorted { $0.key < $1.key }
    self.init(
      record: record, fields: fields.map(\.value), others: others,
      isDeletion: isDeletion,
      displayed: fields.map {
        Displayed(field: $0.key, seen: now[$0.key].clock)
      }, marks: now[.existence].clock, seen: now.clock)
  }

  /// The saves of a field that the conflict displayed; `nil` for a field that
  /// is not part of it.
  func displayed(_ key: FieldKey) -> VectorClock? {
    // By name: where the kind changed between versions of a schema, one of the
    // two fields of that name is listed, and the other displayed nothing.
    guard
      fields.contains(where: { SchemaName($0.field) == SchemaName(key.name) })
    else { return nil }
    return displayed.first { $0.field == key }?.seen ?? VectorClock()
  }

  /// The conflict without the settled fields; `nil` if no field is left.
  func without(_ settled: (SchemaName) -> Bool) -> EditConflict? {
    let rest = fields.filter { !settled(SchemaName($0.field)) }
    if rest.isEmpty { return nil }
    return EditConflict(
      record: record, fields: rest, others: others, isDeletion: isDeletion,
      displayed: displayed, marks: marks, seen: seen)
  }

  /// The conflict after the save that queued it.
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

/// The error of a save that ``MergePolicy/error`` refused.
///
/// Nothing was written. The edits stay in the context.
public struct MergeConflictError: Error, Sendable, CustomStringConvertible {
  /// The records in conflict.
  public let conflicts: [EditConflict]

  /// The fields in conflict, and what to do.
  public var description: String {
    let fields = conflicts.flatMap { conflict in
      let names =
        conflict.fields.map { SchemaName($0.field) }
        + conflict.others.map { SchemaName($0.name) }
      return names.isEmpty
        ? ["\(conflict.record)"] : names.map { "\(conflict.record).\($0)" }
    }
    return "changed in the store since they were fetched: "
      + fields.joined(separator: ", ")
      + "; save under another merge policy, or roll the context back and edit "
      + "again"
  }
}

/// The error of a context's save.
///
/// Nothing was written.
public enum ContextSaveError: Error, Sendable {
  /// There are conflicts, and the policy is ``MergePolicy/error``.
  case conflict(MergeConflictError)
  /// The replica refused the save as a whole.
  case save(SaveError)
}
