// SPDX-License-Identifier: Apache-2.0

import Rejoin

// Purged records.
extension OracleReplica {
  /// Returns whether a purge dropped the contents of a record.
  ///
  /// A save that creates a record again and then deletes it also purges it.
  func isPurged(_ id: RecordID) -> Bool {
    let path = FieldPath(id, .existence)
    return deletions(of: id).contains {
      history.saves[$0].edits[path]?.isPurge ?? false
    }
  }

  /// Returns whether a save must be refused because it would restore a purged
  /// record.
  func mustRefuse(_ verbs: [ScriptVerb]) -> Bool {
    var pending: [RecordID: OraclePending] = [:]
    for verb in verbs {
      if case .undelete(let id) = verb,
        !(pending[id]?.mark ?? exists(id)), pending[id] == nil, isDead(id),
        isPurged(id)
      {
        return true
      }
      note(verb, in: &pending)
    }
    return false
  }
}
