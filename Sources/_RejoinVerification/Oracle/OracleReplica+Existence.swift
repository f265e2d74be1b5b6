// SPDX-License-Identifier: Apache-2.0
import Rejoin

// A record exists if the author of every deletion had not seen some received
// edit or touch. With the rule `deleteWins`, a deletion that no save follows
// always wins.
extension OracleReplica {
  /// The effect of a save on the existence of a record.
  enum ExistenceEdit {
    case deletion
    case touch
    /// An edit of a field, by an author who had seen a deletion.
    case edit
  }

  func exists(_ id: RecordID) -> Bool {
    let deletions = deletions(of: id)
    return rule(id) == .deleteWins && !deletions.isEmpty
      ? false : isEdited(id, beside: deletions)
  }

  /// Returns whether a record is deleted.
  func isDead(_ id: RecordID) -> Bool {
    !deletions(of: id).isEmpty && !exists(id)
  }

  /// Returns whether some edit or touch was unseen by the authors of all
  /// deletions.
  private func isEdited(_ id: RecordID, beside deletions: [Int]) -> Bool {
    edits(of: id).contains { edit in
      let dot = history.saves[edit].dot
      return !deletions.contains { isCovered(dot, by: $0, of: id) }
    }
  }

  /// Returns the received edits of a record, and the touches that no save
  /// follows.
  private func edits(of id: RecordID) -> [Int] {
    let path = FieldPath(id, .existence)
    var edits = unfollowed(path) { $0 == ExistenceEdit.touch }
    for (field, saves) in held where field.id == id && field != path {
      edits += saves.members.map { Int($0) }
    }
    return edits
  }

  /// Returns the last edit of each device, sorted by device.
  func lastEdits(of id: RecordID) -> [Dot] {
    var last = VectorClock()
    for edit in edits(of: id) { last.advance(to: history.saves[edit].dot) }
    return last.entries.map { Dot($0.device, $0.count) }
  }

  /// Returns whether the author of a deletion had seen an edit.
  func isCovered(_ edit: Dot, by deletion: Int, of id: RecordID) -> Bool {
    history.saves[deletion].edits[FieldPath(id, .existence)]?
      .covered?.contains(edit) ?? false
  }

  /// Returns the received deletions of a record that no received save follows.
  func deletions(of id: RecordID) -> [Int] {
    unfollowed(FieldPath(id, .existence)) { $0 == .deletion }
  }

  func isPurgeable(_ id: RecordID, below cut: VectorClock) -> Bool {
    let marks = unfollowed(FieldPath(id, .existence)) { $0 != .edit }
    return isDead(id)
      && marks.allSatisfy { cut.contains(history.saves[$0].dot) }
      && !contents(of: id).isEmpty
  }

  /// Returns the received deletions or touches of a record that no received
  /// save follows.
  ///
  /// A save follows the saves that its author had seen. An edit follows only
  /// deletions.
  private func unfollowed(
    _ path: FieldPath, _ isMeant: (ExistenceEdit) -> Bool
  ) -> [Int] {
    let heard = (held[path]?.members ?? []).map { Int($0) }
    func edit(_ place: Int) -> OracleEdit? { history.saves[place].edits[path] }
    return heard.filter { place in
      guard let kind = edit(place)?.existence, isMeant(kind) else {
        return false
      }
      return !heard.contains { later in
        guard let edit = edit(later), edit.seen.contains(place) else {
          return false
        }
        return kind == .deletion || edit.existence != .edit
      }
    }
  }

  /// Returns the edit of a record's existence, or `nil` if the save doesn't
  /// change it.
  func edit(
    ofExistenceOf id: RecordID, _ record: OraclePending, at dot: Dot,
    time: Timestamp
  ) -> OracleEdit? {
    let path = FieldPath(id, .existence)
    let seen = record.shown[.existence] ?? held[path] ?? SaveSet()
    var verbs: [FieldEdit] = []
    var covered: VectorClock?
    switch record.mark {
    case false?:
      verbs = [.write(.bool(false))]
      var saves = record.covered ?? dots(record.saw ?? saves(of: id))
      if record.saw == nil || !record.verbs.isEmpty { saves.advance(to: dot) }
      covered = saves
    case true? where record.verbs.values.allSatisfy(\.isEmpty):
      verbs = [.write(.bool(true))]
    default:
      let isTakenBack = record.verbs[.existence] != nil
      guard record.mark != nil || isTakenBack,
        deletions(of: id).contains(where: seen.contains)
      else { return nil }
    }
    return OracleEdit(
      seen: seen, drops: false, verbs: verbs, stamp: time, covered: covered,
      isPurge: record.mark == false && (record.drops || record.isPurge))
  }

  /// Returns the received saves that changed a record.
  private func saves(of id: RecordID) -> SaveSet {
    held.reduce(into: SaveSet()) { all, field in
      if field.key.id == id { all.formUnion(field.value) }
    }
  }

  /// Returns the last of some saves for each device.
  ///
  /// An author who had seen a save counts as having seen the device's earlier
  /// ones.
  private func dots(_ saves: SaveSet) -> VectorClock {
    saves.members.reduce(into: VectorClock()) {
      $0.advance(to: history.saves[Int($1)].dot)
    }
  }
}

extension OracleEdit {
  /// The effect of an edit of a record's existence.
  fileprivate var existence: OracleReplica.ExistenceEdit {
    switch written {
    case .some(.bool(false)?): .deletion
    case .some: .touch
    case nil: .edit
    }
  }
}
