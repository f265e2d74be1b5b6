//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

import Rejoin

/// A record that a context and somebody else changed at the same time.
public struct Conflict: Sendable {
  /// The record.
  public let record: RecordID

  /// The register and `lww` fields that either side changed.
  public let fields: [FieldDifference]

  /// Whether the context deletes the record, which contests every field that
  /// somebody changed.
  public let isDeletion: Bool

  /// What was displayed with the conflict: resolving supersedes that, and nothing
  /// that has come since.
  let displayed: [FieldKey: FieldState]

  /// The fields that both sides changed.
  public var contested: [FieldDifference] {
    fields.filter { $0.isChanged && ($0.isDirty || isDeletion) }
  }

  /// A field of the conflict as it was displayed with it.
  func displayed(_ key: FieldKey) -> FieldState? {
    fields.contains { Name($0.field) == Name(key.name) }
      ? displayed[key] ?? FieldState(key.kind) : nil
  }

  /// What is left of the conflict without some fields, if anything.
  func without(_ settled: (Name) -> Bool) -> Conflict? {
    let rest = fields.filter { !settled(Name($0.field)) }
    if rest.isEmpty { return nil }
    return Conflict(
      record: record, fields: rest, isDeletion: isDeletion,
      displayed: displayed)
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
      conflict.fields.map { "\(conflict.record).\($0.field)" }
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
