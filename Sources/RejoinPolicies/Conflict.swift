// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A record that a context and somebody else changed at the same time.
///
/// A conflict is a value that can be stored: those that ``MergePolicy/manual``
/// queued can be settled by another context, after another launch.
public struct Conflict: Hashable, Codable, Sendable {
  /// The record.
  public let record: RecordID

  /// The register and `lww` fields that either side changed.
  public let fields: [FieldDifference]

  /// The counters, sets and ledgers that are contested: those that somebody
  /// changed, where the context deletes the record; those that the context edits,
  /// where somebody deleted it.
  public let others: [FieldKey]

  /// Whether the context deletes the record, which contests everything that
  /// somebody changed.
  public let isDeletion: Bool

  /// What was displayed with the conflict: resolving supersedes that, and nothing
  /// that has come since.
  let displayed: [Displayed]

  /// The marks of the record's existence that were displayed.
  private(set) var marks: VectorClock

  /// The saves of one field that were displayed.
  struct Displayed: Hashable, Codable, Sendable {
    let field: FieldKey
    let seen: VectorClock
  }

  /// The register and `lww` fields that both sides changed.
  public var contested: [FieldDifference] {
    fields.filter { $0.isChanged && ($0.isDirty || isDeletion) }
  }

  /// The names of all fields that are contested.
  public var contestedNames: Set<Name> {
    Set(contested.map { Name($0.field) } + others.map { Name($0.name) })
  }
}

extension Conflict {
  init(
    _ record: RecordID, fields: [FieldKey: FieldDifference],
    others: [FieldKey], isDeletion: Bool, displayed now: RecordSnapshot
  ) {
    let fields = fields.filter { $0.value.isDirty || $0.value.isChanged }
      .sorted { $0.key < $1.key }
    self.init(
      record: record, fields: fields.map(\.value), others: others,
      isDeletion: isDeletion,
      displayed: fields.map {
        Displayed(field: $0.key, seen: now[$0.key].clock)
      }, marks: now.existence.clock)
  }

  /// The saves of a field that were displayed with the conflict.
  func displayed(_ key: FieldKey) -> VectorClock? {
    guard fields.contains(where: { Name($0.field) == Name(key.name) })
    else { return nil }
    return displayed.first { $0.field == key }?.seen ?? VectorClock()
  }

  /// What is left of the conflict without some fields, if anything.
  func without(_ settled: (Name) -> Bool) -> Conflict? {
    let rest = fields.filter { !settled(Name($0.field)) }
    if rest.isEmpty { return nil }
    return Conflict(
      record: record, fields: rest, others: others, isDeletion: isDeletion,
      displayed: displayed, marks: marks)
  }

  /// The conflict as it is displayed after a save of the context's own.
  func displayed(after dot: Dot?) -> Conflict {
    var conflict = self
    if let dot { conflict.marks.insert(dot) }
    return conflict
  }
}

/// A save that the policy ``MergePolicy/error`` refused.
///
/// Nothing was written, and the edits stay in the context.
public struct MergeConflict: Error, Sendable, CustomStringConvertible {
  /// What is in conflict.
  public let conflicts: [Conflict]

  /// The fields in conflict, and how to mend it.
  public var description: String {
    let fields = conflicts.flatMap { conflict in
      let names =
        conflict.fields.map { Name($0.field) }
        + conflict.others.map { Name($0.name) }
      return names.isEmpty
        ? ["\(conflict.record)"] : names.map { "\(conflict.record).\($0)" }
    }
    return "changed in the store since they were fetched: "
      + fields.joined(separator: ", ")
      + "; refresh the context, or save under another merge policy"
  }
}

/// Why a context could not save.
public enum ContextSaveError: Error, Sendable {
  /// The policy refuses conflicts.
  case conflict(MergeConflict)
  /// The replica refused the save.
  case save(SaveError)
}
