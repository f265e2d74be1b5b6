// SPDX-License-Identifier: Apache-2.0

import Rejoin

// Purged records.
extension OracleReplica {
  /// Returns whether a record is deleted, and the deletion cannot be undone.
  func isPurged(_ id: RecordID) -> Bool {
    isDead(id) && namesEveryDeletion(of: id)
  }

  /// Returns whether the author of a purge or of its announcement had seen each
  /// deletion of a record.
  ///
  /// - Parameter held: The saves whose marks count, or `nil` for all.
  func namesEveryDeletion(
    of id: RecordID, heldBy held: VectorClock? = nil
  ) -> Bool {
    func isCounted(_ index: Int) -> Bool {
      held?.contains(history.saves[index].dot) ?? true
    }
    let names = marks(of: id, [.announcement, .purge]).filter(isCounted)
    return deletions(of: id).allSatisfy { deletion in
      names.contains { isSeen(history.saves[deletion].dot, by: $0, of: id) }
        || mark(deletion, of: id)?.isFinal == true && isCounted(deletion)
    }
  }

  /// Returns the mark that a purge writes, or `nil` if it leaves the record
  /// alone.
  func purge(of id: RecordID, below cut: VectorClock) -> OracleMark.Kind? {
    if !isDead(id) || contents(of: id).isEmpty { return nil }
    if namesEveryDeletion(of: id, heldBy: cut) { return .purge }
    if namesEveryDeletion(of: id) { return nil }
    let marks = marks(of: id, [.touch, .deletion, .announcement, .purge])
    return marks.allSatisfy { cut.contains(history.saves[$0].dot) }
      ? .announcement : nil
  }

  /// Returns whether the edits of a fetched record must be refused, because the
  /// record was purged, and its author did not see a deletion.
  func mustRefuse(editOf id: RecordID, fetchedBy seen: OracleReplica) -> Bool {
    isPurged(id)
      && marks(of: id, [.deletion, .purge]).contains {
        !seen.marks(of: id, [.deletion, .purge]).contains($0)
      }
  }

  /// Checks that an undo does not restore a purged record.
  func checkExistence(
    after undo: UndoneSave
  ) throws(ScriptMismatch) {
    for (id, fields) in undo.reversals where isPurged(id) {
      let existence = fields[.existence]
      let isRestored = existence?.retraction != nil && existence?.mark != false
      try agree("an undo restores \(id), which is purged", isRestored, false)
    }
  }

  /// Returns whether a save must be refused because it would restore a purged
  /// record.
  func mustRefuse(_ verbs: [ScriptVerb]) -> Bool {
    var pending: [RecordID: OraclePending] = [:]
    var moves = 0
    for verb in placed(verbs, &moves) {
      if case .undelete(let id) = verb,
        pending[id] == nil, !exists(id), isDead(id),
        isPurged(id)
      {
        return true
      }
      add(verb, to: &pending)
    }
    return false
  }
}
