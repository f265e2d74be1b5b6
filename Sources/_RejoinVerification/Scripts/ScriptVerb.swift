// SPDX-License-Identifier: Apache-2.0
import Rejoin

/// One verb of a save.
public enum ScriptVerb: Hashable, Sendable {
  /// Creates a record, or keeps it alive.
  case touch(RecordID)
  /// Deletes a record.
  case delete(RecordID)
  /// Brings a deleted record back as it was.
  case undelete(RecordID)
  /// Edits a field.
  case edit(RecordID, FieldKey, FieldEdit)

  /// The record that the verb is about.
  public var id: RecordID {
    switch self {
    case .touch(let id), .delete(let id), .undelete(let id),
      .edit(let id, _, _):
      id
    }
  }
}

extension Transaction {
  /// Carries out a verb.
  public func perform(_ verb: ScriptVerb) {
    switch verb {
    case .touch(let id): ensureExists(id)
    case .delete(let id): delete(id)
    case .undelete(let id): undelete(id)
    case .edit(let id, let key, let change): apply(change, to: key, of: id)
    }
  }
}
