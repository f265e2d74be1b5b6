// SPDX-License-Identifier: Apache-2.0

/// The fields of a record as they were when it was fetched, to be edited and
/// written back later.
public struct RecordSnapshot: Sendable {
  /// Whether the record existed.
  public let exists: Bool

  /// The record's existence, as a register of Booleans.
  public internal(set) var existence: FieldState

  /// The fields, without the existence.
  public internal(set) var fields: [FieldKey: FieldState]

  /// The field as it was fetched; empty if no save had changed it.
  public subscript(key: FieldKey) -> FieldState {
    fields[key] ?? FieldState(key.kind)
  }

  /// Replaces a field by its state in a later fetch.
  public mutating func refresh(_ key: FieldKey, from later: RecordSnapshot) {
    fields[key] = later.fields[key]
  }

  /// Whether the record had existed and was deleted.
  public var isDead: Bool { !exists && !existence.writes.isEmpty }
}
