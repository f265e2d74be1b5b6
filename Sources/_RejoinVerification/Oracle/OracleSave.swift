// SPDX-License-Identifier: Apache-2.0
import Rejoin

/// One save's edit of one field, with what its author had observed of the field.
struct OracleEdit: Hashable {
  /// The saves of the field that the author was shown.
  let seen: SaveSet
  /// Whether everything seen was dropped first.
  let drops: Bool
  /// What was done, in order.
  let verbs: [FieldEdit]
  /// The time of a write, later than that of the save where the field demands it.
  let stamp: Timestamp
  /// Of a set, the saves whose marks of an element are taken back.
  var retracted: [Value: Int] = [:]
  /// The saves of the record that the author of a deletion had seen, and the deletion.
  var covered: VectorClock?
  /// Whether a deletion also dropped the contents.
  var isPurge = false
}

/// One save, as a global observer records it.
struct OracleSave: Hashable {
  let dot: Dot
  let time: Timestamp
  var edits: [FieldPath: OracleEdit] = [:]
}

/// All saves of all devices, in all branches of what might have happened.
final class OracleHistory {
  private(set) var saves: [OracleSave] = []
  private var places: [OracleSave: Int] = [:]
  /// The devices that stand for rows that were brought in.
  var imports: Set<DeviceID> = []
  let schema: Schema

  init(schema: Schema) { self.schema = schema }

  /// The place of a save, which is added if it is new.
  func place(of save: OracleSave) -> Int {
    if let place = places[save] { return place }
    places[save] = saves.count
    saves.append(save)
    return saves.count - 1
  }
}
