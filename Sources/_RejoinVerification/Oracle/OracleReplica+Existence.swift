// SPDX-License-Identifier: Apache-2.0
import Rejoin

// A record exists if the authors of all deletions and purges had not seen some
// received edit or touch. With the rule `deleteWins`, a deletion that no save
// follows always wins, and a purge does not matter.
extension OracleReplica {
  func exists(_ id: RecordID) -> Bool {
    switch rule(id) {
    case .updateWins:
      isEdited(id, unseenBy: marks(of: id, [.deletion, .purge]))
    case .deleteWins:
      deletions(of: id).isEmpty && isEdited(id, unseenBy: [])
    }
  }

  /// Returns whether a record is deleted or purged.
  func isDead(_ id: RecordID) -> Bool {
    !marks(of: id, [.deletion, .purge]).isEmpty && !exists(id)
  }

  /// Returns whether some edit or touch was unseen by the authors of some
  /// marks.
  private func isEdited(_ id: RecordID, unseenBy marks: [Int]) -> Bool {
    edits(of: id).contains { edit in
      let dot = history.saves[edit].dot
      return !marks.contains { isSeen(dot, by: $0, of: id) }
    }
  }

  /// Returns the received edits of a record, and the touches that no save
  /// follows.
  func edits(of id: RecordID) -> [Int] {
    let location = FieldLocation(record: id, field: .existence)
    var edits = marks(of: id, [.touch])
    for (field, saves) in held where field.record == id && field != location {
      edits += saves.members.map { Int($0) }
    }
    return edits
  }

  /// Returns the last edit of each device, sorted by device, except edits that
  /// the author of a purge had seen.
  func lastEdits(of id: RecordID) -> [Dot] {
    var last = VectorClock()
    for edit in edits(of: id) { last.advance(to: history.saves[edit].dot) }
    let purges = marks(of: id, [.purge])
    return last.entries.map { Dot($0.device, $0.count) }.filter { edit in
      !purges.contains { isSeen(edit, by: $0, of: id) }
    }
  }

  /// Returns the mark that a save made, or `nil` if it made none.
  func mark(_ index: Int, of id: RecordID) -> OracleMark? {
    history.saves[index].edits[FieldLocation(record: id, field: .existence)]?
      .mark
  }

  /// Returns whether the author of a mark had seen a save.
  func isSeen(_ save: Dot, by mark: Int, of id: RecordID) -> Bool {
    self.mark(mark, of: id)?.seen.contains(save) ?? false
  }

  /// Returns the received deletions of a record that no received save follows.
  func deletions(of id: RecordID) -> [Int] { marks(of: id, [.deletion]) }

  /// Returns the received saves with some kinds of marks that no received save
  /// follows.
  func marks(of id: RecordID, _ kinds: Set<OracleMark.Kind>) -> [Int] {
    let location = FieldLocation(record: id, field: .existence)
    let heard = (held[location]?.members ?? []).map { Int($0) }
    return heard.filter { index in
      guard let kind = mark(index, of: id)?.kind, kinds.contains(kind) else {
        return false
      }
      return !heard.contains { later in
        (history.saves[later].edits[location]?.seen.contains(index) ?? false)
          && follows(mark(later, of: id)?.kind, kind)
      }
    }
  }

  /// Returns whether a save, by an author who had seen a mark, follows the
  /// mark.
  ///
  /// - Parameter later: The mark of the save, or `nil` if it edits the record or
  ///   undoes the mark.
  private func follows(
    _ later: OracleMark.Kind?, _ mark: OracleMark.Kind
  ) -> Bool {
    switch later {
    case nil: mark != .touch
    case .touch, .deletion: true
    case .announcement: false
    case .purge: mark == .announcement || mark == .purge
    }
  }

  /// Returns the edit of a record's existence, or `nil` if the save doesn't
  /// change it.
  func edit(
    ofExistenceOf id: RecordID, _ record: OraclePending, at dot: Dot,
    time: Timestamp
  ) -> OracleEdit? {
    let location = FieldLocation(record: id, field: .existence)
    let seen = record.shown[.existence] ?? held[location] ?? SaveSet()
    let mark = mark(of: id, record, at: dot)
    if mark == nil {
      let isUndone = record.verbs[.existence] != nil
      guard record.mark != nil || isUndone,
        marks(of: id, [.deletion, .announcement, .purge])
          .contains(where: seen.contains)
      else { return nil }
    }
    return OracleEdit(
      seen: seen, drops: false, verbs: [], stamp: time, mark: mark)
  }

  /// Returns the mark of a save, or `nil` if the save makes none.
  private func mark(
    of id: RecordID, _ record: OraclePending, at dot: Dot
  ) -> OracleMark? {
    guard let kind = record.mark else { return nil }
    var seen = record.covered ?? dots(record.saw ?? saves(of: id))
    switch kind {
    case .touch:
      return record.verbs.values.allSatisfy(\.isEmpty)
        ? OracleMark(kind: .touch) : nil
    case .deletion:
      if record.saw == nil || !record.verbs.isEmpty { seen.advance(to: dot) }
    case .announcement: break
    case .purge: seen.advance(to: dot)
    }
    return OracleMark(kind: kind, seen: seen, isFinal: record.isFinal)
  }

  /// Returns the received saves that changed a record.
  private func saves(of id: RecordID) -> SaveSet {
    held.reduce(into: SaveSet()) { all, field in
      if field.key.record == id { all.formUnion(field.value) }
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
