// SPDX-License-Identifier: Apache-2.0

/// A record field by field, as it was when somebody fetched it in order to write
/// it back later.
public struct RecordSnapshot: Sendable {
  /// Whether the record existed.
  public let exists: Bool

  /// The marks that said so, as a register of truth values.
  public internal(set) var existence: FieldState

  /// The fields, existence aside.
  public internal(set) var fields: [FieldKey: FieldState]

  /// The field as it was fetched; one that no save had touched is empty.
  public subscript(key: FieldKey) -> FieldState {
    fields[key] ?? FieldState(key.kind)
  }

  /// Moves a field forward to how it is in a later fetch.
  public mutating func refresh(_ key: FieldKey, from later: RecordSnapshot) {
    fields[key] = later.fields[key]
  }

  /// Whether the record had been deleted.
  public var isDead: Bool { !exists && !existence.writes.isEmpty }
}
