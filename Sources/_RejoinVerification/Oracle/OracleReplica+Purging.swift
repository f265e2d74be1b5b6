// SPDX-License-Identifier: Apache-2.0

import Rejoin

// What a purge has dropped.
extension OracleReplica {
  /// Whether a purge has dropped what a dead record held.
  ///
  /// Deleting a record that the same save has created again is a purge, too, of the
  /// fields that the save did not edit. What is there nevertheless came with an edit
  /// that the purge had not seen.
  func isPurged(_ id: RecordID) -> Bool {
    wasEmptied(id) { $0.drops && $0.verbs.isEmpty }
  }

  /// Whether the save that deleted a record also changed what it held, so that it
  /// can be taken for a purge.
  func isTakenForPurged(_ id: RecordID) -> Bool {
    isDead(id) && !isPurged(id) && wasEmptied(id) { _ in true }
  }

  private func wasEmptied(
    _ id: RecordID, by isMeant: (OracleEdit) -> Bool
  ) -> Bool {
    let path = FieldPath(id, .existence)
    let field = field(path)
    let isLeft =
      contents(of: id).isEmpty
      || field.siblings.contains { $0.value == .bool(true) }
    guard isLeft else { return false }
    return (held[path]?.members ?? []).contains { place in
      let save = history.saves[Int(place)]
      return field.siblings.contains {
        $0.dot == save.dot && $0.value != .bool(true)
      }
        && save.edits.contains { field, edit in
          // A part of a field that was refused has not arrived with the mark.
          field.id == id && field != path
            && held[field]?.contains(Int(place)) == true
            && isLast(save.dot, in: field) && isMeant(edit)
        }
    }
  }

  /// Whether no later save of the device has edited the field.
  ///
  /// Such a save hides the drop: a field keeps only the last save of each device.
  /// It is one of a context that had not seen the purge, because every other save
  /// supersedes the mark of the purge.
  private func isLast(_ dot: Dot, in field: FieldPath) -> Bool {
    !(held[field]?.members ?? []).contains { place in
      let later = history.saves[Int(place)].dot
      return later.device == dot.device && later.sequence > dot.sequence
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
