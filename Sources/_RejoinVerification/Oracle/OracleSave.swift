// SPDX-License-Identifier: Apache-2.0
import Rejoin

/// A save's edit of one field, with the knowledge of its author.
struct OracleEdit: Hashable {
  /// The saves of the field that the author was shown.
  let seen: SaveSet
  /// Whether the edit first drops everything seen.
  let drops: Bool
  /// The changes, in order.
  let verbs: [FieldEdit]
  /// The timestamp of a write, which can differ from the time of the save.
  let stamp: Timestamp
  /// For a set, the save whose insertion of an element is retracted.
  var retracted: [Value: Int] = [:]
  /// The decisions which changes of a counter or a ledger are canceled, by
  /// device.
  var decisions: [DeviceID: OracleDecision.Change] = [:]
  /// The mark of the record's existence, or `nil` for an edit of a field.
  var mark: OracleMark?
}

/// A mark of a record's existence.
struct OracleMark: Hashable {
  enum Kind: Hashable { case touch, deletion, announcement, purge }

  let kind: Kind
  /// The saves of the record that the author had seen.
  ///
  /// For a deletion or a purge, they include the save itself.
  var seen = VectorClock()
  /// Whether a deletion cannot be undone.
  var isFinal = false
}

/// A save, as a global observer records it.
struct OracleSave: Hashable {
  let dot: Dot
  let time: Timestamp
  var edits: [FieldLocation: OracleEdit] = [:]
}

/// All saves of all devices, in every possible course of events.
final class OracleHistory {
  private(set) var saves: [OracleSave] = []
  private var indices: [OracleSave: Int] = [:]
  /// The devices that stand for imported rows.
  var imports: Set<DeviceID> = []
  let schema: Schema

  init(schema: Schema) { self.schema = schema }

  /// Returns the index of a save, and adds the save if it is new.
  func index(of save: OracleSave) -> Int {
    if let index = indices[save] { return index }
    indices[save] = saves.count
    saves.append(save)
    return saves.count - 1
  }
}
