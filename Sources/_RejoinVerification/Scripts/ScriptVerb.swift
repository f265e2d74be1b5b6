// SPDX-License-Identifier: Apache-2.0
import Rejoin

/// A verb of a save.
public enum ScriptVerb: Hashable, Sendable {
  /// Creates a record, or keeps it against a concurrent deletion.
  case touch(RecordID)
  /// Deletes a record.
  case delete(RecordID)
  /// Restores a deleted record with its content.
  case undelete(RecordID)
  /// Edits a field.
  case edit(RecordID, FieldKey, FieldEdit)
  /// Moves a record between two others, by the positions that they had before the save or
  /// got in it.
  case move(RecordID, FieldKey, after: RecordID?, before: RecordID?)

  /// The record of the verb.
  public var id: RecordID {
    switch self {
    case .touch(let id), .delete(let id), .undelete(let id),
      .edit(let id, _, _), .move(let id, _, _, _):
      id
    }
  }
}

extension Transaction {
  /// Performs verbs.
  public func perform(_ verbs: [ScriptVerb]) {
    var made: [FieldLocation: Position] = [:]
    func position(_ id: RecordID?, _ key: FieldKey) -> Position? {
      guard let id else { return nil }
      let location = FieldLocation(record: id, field: key)
      let shown = replica.record(id).flatMap { $0.exists ? $0[key].value : nil }
      return made[location] ?? shown.flatMap(Position.init)
    }
    for verb in verbs {
      switch verb {
      case .touch(let id): ensureExists(id)
      case .delete(let id): delete(id)
      case .undelete(let id): undelete(id)
      case .edit(let id, let key, let change):
        apply(change, to: key, of: id)
      case .move(let id, let key, let left, let right):
        let position = self.position(
          between: position(left, key), and: position(right, key))
        made[FieldLocation(record: id, field: key)] = position
        apply(.write(position.fieldValue), to: key, of: id)
      }
    }
  }
}
