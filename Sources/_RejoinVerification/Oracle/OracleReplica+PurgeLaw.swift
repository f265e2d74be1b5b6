// SPDX-License-Identifier: Apache-2.0

import Rejoin

// The law of purges: a history and the same history without its purges show the
// same records.
extension OracleReplica {
  /// Compares a record with the one that the received saves show without
  /// purges.
  ///
  /// If deletions win, a purge may drop a value that a deletion hid, and that
  /// would show again after a save that created the record anew without having
  /// seen the deletion.
  func checkPurges(
    of id: RecordID, named name: String
  ) throws(ScriptMismatch) {
    try agree(
      "law of purges: \(id) exists on \(name)", exists(id),
      existsWithoutPurges(id))
    if !exists(id) { return }
    for location in held.keys.sorted()
    where location.record == id && location.field != .existence {
      let (real, plain) = (field(location), fieldWithoutPurges(location))
      switch rule(id) {
      case .updateWins:
        try agree(
          "law of purges: \(location) on \(name)", real.reading, plain.reading)
      case .deleteWins:
        try agree(
          "law of purges: \(location) on \(name) shows nothing else",
          real.isPart(of: plain), true)
      }
    }
  }

  private func existsWithoutPurges(_ id: RecordID) -> Bool {
    let deletions = deletions(of: id)
    let edits = edits(of: id).filter { mark($0, of: id)?.kind != .purge }
    return switch rule(id) {
    case .updateWins:
      edits.contains { edit in
        let dot = history.saves[edit].dot
        return !deletions.contains { isSeen(dot, by: $0, of: id) }
      }
    case .deleteWins: deletions.isEmpty && !edits.isEmpty
    }
  }

  /// Returns a field without the effects of purges.
  ///
  /// A save that created the record again after a purge drops the same contents
  /// as the purge.
  private func fieldWithoutPurges(_ location: FieldLocation) -> OracleField {
    let existence = FieldLocation(record: location.record, field: .existence)
    let followers = (held[existence]?.members ?? []).compactMap { index in
      let edit = history.saves[Int(index)].edits[existence]
      return [nil, .touch].contains(edit?.mark?.kind) ? edit : nil
    }
    let saves = (held[location] ?? SaveSet()).filter { index in
      mark(index, of: location.record)?.kind != .purge
        || followers.contains { $0.seen.contains(index) }
    }
    return OracleField(location, held: saves, in: history)
  }
}

extension OracleField {
  /// Returns whether the field shows nothing but content of another one.
  ///
  /// Sums are not compared: without a part of their changes, they are neither
  /// smaller nor greater.
  fileprivate func isPart(of other: OracleField) -> Bool {
    let siblings = Set(other.siblings.map(\.dot))
    let insertions = other.insertions
    return self.siblings.allSatisfy { siblings.contains($0.dot) }
      && self.insertions.allSatisfy {
        $1.isSubset(of: insertions[$0, default: []])
      }
  }
}
