// SPDX-License-Identifier: Apache-2.0

import Rejoin

// What a purge has dropped.
extension OracleReplica {
  /// Returns whether a purge dropped the contents of a record.
  ///
  /// If a save creates a record again and then deletes it, it also purges it.
  func isPurged(_ id: RecordID) -> Bool {
    let path = FieldPath(id, .existence)
    return deletions(of: id).contains {
      history.saves[$0].edits[path]?.isPurge ?? false
    }
  }

  /// Whether a save with these verbs must be refused: it would bring back what was
  /// purged.
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
