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

extension Replica {
  /// Fetches a record to edit and write it back later, without its aliases.
  public func fetch(_ id: RecordID) -> RecordSnapshot {
    guard let position = stored.positions[id] else {
      return RecordSnapshot(
        exists: false, existence: FieldState(.register), fields: [:])
    }
    let record = stored.records[position]
    var fields: [FieldKey: FieldState] = [:]
    for slot in record.slots where slot.name != 0 {
      fields[stored.names.keys[Int(slot.name)]] = slot.state
    }
    return RecordSnapshot(
      exists: record.exists(schema[id.entity].deletion),
      existence: record[0] ?? FieldState(.register), fields: fields)
  }
}
