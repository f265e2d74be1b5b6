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

  /// The record of the verb.
  public var id: RecordID {
    switch self {
    case .touch(let id), .delete(let id), .undelete(let id),
      .edit(let id, _, _):
      id
    }
  }
}

extension Transaction {
  /// Performs a verb.
  public func perform(_ verb: ScriptVerb) {
    switch verb {
    case .touch(let id): ensureExists(id)
    case .delete(let id): delete(id)
    case .undelete(let id): undelete(id)
    case .edit(let id, let key, let change): apply(change, to: key, of: id)
    }
  }
}
