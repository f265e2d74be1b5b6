//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

@testable import Rejoin

/// A field of a record.
struct FieldPath: Hashable {
  let id: RecordID
  let key: FieldKey
}

/// What a test asks of a save.
enum HistoryVerb: CustomStringConvertible {
  case touch(RecordID)
  case delete(RecordID)
  case edit(RecordID, FieldKey, FieldEdit)

  var description: String {
    switch self {
    case .touch(let id): "touch \(id)"
    case .delete(let id): "delete \(id)"
    case .edit(let id, let key, let edit): "\(id).\(key.name) \(edit)"
    }
  }
}

/// What one save did to one field, with what its author knew of the field.
struct OracleEdit {
  /// The saves of the field that the author held.
  let seen: SaveSet
  /// Whether everything seen was dropped first.
  let drops: Bool
  /// What was done, in order.
  let verbs: [FieldEdit]
  /// The time of a write, later than that of the save where the field demands it.
  let stamp: Timestamp
  /// The elements that the author was shown.
  let shown: [Value]
}

/// One save, as somebody who watches everybody would write it down.
struct OracleSave {
  let dot: Dot
  let time: Timestamp
  var edits: [FieldPath: OracleEdit] = [:]
}

/// All saves of all devices.
final class OracleHistory {
  var saves: [OracleSave] = []
  let schema: Schema

  init(schema: Schema) { self.schema = schema }

  func time(of dot: Dot) -> Timestamp {
    saves.first { $0.dot == dot }?.time ?? .zero
  }
}
