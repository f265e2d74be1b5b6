// SPDX-License-Identifier: Apache-2.0

/// The data about a record's existence that the undo of a save needs.
struct ExistenceContent: Sendable {
  private let exists: Bool
  /// Whether the record is deleted, and the deletion cannot be undone.
  private let isPurged: Bool
  private let rule: DeletionRule
  private let marks: Siblings<ExistenceMark>
  private let hasFields: Bool
  /// The last save of each device that touched the record.
  private let clock: VectorClock
  /// The last save of each device that edited the record.
  private let edits: VectorClock

  init(_ record: RecordState, _ rule: DeletionRule) {
    (exists, self.rule) = (record.exists(rule), rule)
    isPurged = record.isPurged(rule)
    (marks, clock, edits) = (record.marks, record.clock, record.edits)
    hasFields = record.slots.contains { $0.name != 0 }
  }

  /// Returns the change that a save made to the record, or `nil` if the save
  /// did not touch it.
  func change(
    to after: ExistenceContent, by save: UndoStep.Point
  ) -> UndoStep.Existence? {
    let device = save.dot.device
    guard after.clock[device] == save.dot.sequence else { return nil }
    // An edit of a record that exists can supersede the mark of an earlier
    // purge, which hides nothing.
    let gone = Siblings(
      sorted: marks.filter {
        after.marks[$0.dot] == nil && !(exists && $0.payload.kind == .purge)
      })
    let covered = gone.covered ?? VectorClock()
    // An undo does not restore a mark that kept the record alive, so it must
    // not restore the deletions that the mark outlived.
    let isKeptAlive =
      exists
      && gone.contains {
        $0.payload.kind == .alive && !covered.contains($0.dot)
      }
    let deletions = gone.deletions
    return UndoStep.Existence(
      existed: exists, isThere: after.exists,
      isDeletion: after.marks[save.dot]?.payload.kind == .deletion,
      covered: isKeptAlive ? nil : gone.covered,
      uncovered: exists ? VectorClock() : edits.saves(beyond: covered),
      superseded: deletions.count == 1 ? deletions[0].dot : nil,
      wasFinal: !deletions.isEmpty && marks.nameEveryDeletion(),
      outlived: exists ? marks.deletions(leftIn: after.marks) : [],
      before: lastSave(of: device), after: save.dot.sequence)
  }

  /// The effect of an undo on the existence of the record.
  enum Reversal {
    /// The mark of the deletion is removed.
    case restoration(needsMark: Bool)
    /// The record is deleted, with the saves that the deletion covers.
    case deletion(VectorClock, isFinal: Bool, isLeft: Bool)
    /// The existence stays unchanged.
    case nothing(isLeft: Bool)
  }

  /// Returns the effect of the undo of a change.
  ///
  /// - Parameters:
  ///   - dot: The save under whose dot the change is stored.
  ///   - device: The device that undoes the change.
  func reversal(
    of existence: UndoStep.Existence, by dot: Dot, as device: DeviceID
  ) -> Reversal {
    let isThere = marks[dot]?.payload.kind == .deletion
    if existence.isDeletion, existence.existed, isThere {
      if isPurged { return .nothing(isLeft: true) }
      return .restoration(needsMark: needsMark(without: dot, existence))
    }
    // The deletions that the save superseded return and cover the save.
    var covered = existence.covered ?? VectorClock()
    covered.advance(to: Dot(dot.device, existence.after))
    let others = edits.saves(
      beyond: covered.merging(existence.uncovered)
        .merging(marks.covered ?? VectorClock()))
    let isBack =
      (existence.isThere
        ? exists && existence.isCreation(by: dot.device)
        : existence.covered != nil)
      && (!exists || others.isEmpty || rule == .updateWins)
    // Otherwise, the deletion would also cover another save of the device.
    let changes = changes
    let isAlone =
      changes[dot.device] <= existence.after
      && (device == dot.device || changes[device] == 0)
    guard isBack, isAlone else {
      // A later save superseded the deletion and possibly dropped the contents.
      let isSuperseded = existence.isDeletion && existence.existed
      return .nothing(isLeft: isSuperseded || exists != existence.existed)
    }
    // If the record existed before the save, edits of other devices kept it
    // alive.
    return .deletion(
      covered, isFinal: existence.wasFinal || isPurged,
      isLeft: !existence.existed && !others.isEmpty)
  }
}

extension ExistenceContent {
  /// Returns the number of a device's last save of the record, without
  /// announcements of purges.
  private func lastSave(of device: DeviceID) -> UInt64 {
    var last = clock[device]
    while let mark = marks[Dot(device, last)]?.payload,
      mark.kind == .purgeAnnouncement
    {
      last = mark.clock[device]
    }
    return last
  }

  /// The last save of each device that edited the record, or that deleted it
  /// and was not superseded.
  ///
  /// A purge is neither.
  private var changes: VectorClock {
    VectorClock(joining: [edits] + marks.deletions.map { VectorClock($0.dot) })
  }

  /// Returns whether the record needs a mark to exist after the deletion with
  /// `dot` is removed.
  ///
  /// If other deletions remain, the record needs a mark only if it existed
  /// despite all of them, because of a mark that the removed deletion
  /// superseded.
  private func needsMark(
    without dot: Dot, _ existence: UndoStep.Existence
  ) -> Bool {
    let others = Siblings(sorted: marks.filter { $0.dot != dot })
    guard let covered = others.covered else {
      return others.isEmpty && !hasFields
    }
    let isAlive =
      !edits.saves(beyond: covered).entries.isEmpty
      || others.contains {
        $0.payload.kind == .alive && !covered.contains($0.dot)
      }
    return !isAlive
      && others.deletions.allSatisfy {
        existence.outlived.contains($0.dot)
      }
  }
}

extension Siblings<ExistenceMark> {
  /// Returns the deletions that are also in later marks.
  fileprivate func deletions(leftIn after: Self) -> [Dot] {
    deletions.map(\.dot).filter { after[$0] != nil }
  }
}

extension UndoStep {
  /// The existence of a record before and after a save.
  struct Existence: Hashable, Codable, Sendable {
    /// Whether the record existed before the save.
    let existed: Bool
    /// Whether the record existed after the save.
    let isThere: Bool
    /// Whether the save deleted the record.
    let isDeletion: Bool
    /// The saves that the superseded deletions covered, or `nil` if the save
    /// did not supersede a deletion.
    let covered: VectorClock?
    /// The earlier edits that the superseded deletions did not cover, if the
    /// record did not exist.
    let uncovered: VectorClock
    /// The only superseded deletion, or `nil` if the save superseded several.
    let superseded: Dot?
    /// Whether the superseded deletions could not be undone.
    let wasFinal: Bool
    /// The deletions that the save kept although the record existed, sorted by
    /// dot.
    let outlived: [Dot]
    /// The number of the device's previous save of the record, without
    /// announcements of purges.
    let before: UInt64
    /// The number of the device's last save of the record.
    ///
    /// It belongs to this save or to the undo of a later one. If an undo writes
    /// the deletion of this save again, the change's save is later than this
    /// number.
    var after: UInt64

    /// Returns whether the save created the record, regardless of edits by
    /// other devices.
    ///
    /// - Parameter device: The author of the save.
    func isCreation(by device: DeviceID) -> Bool {
      !existed || covered.map { $0[device] >= before } ?? false
    }
  }
}

extension UndoStep.Existence {
  /// Returns the existence after the undo of a later save of the record.
  ///
  /// - Parameters:
  ///   - undone: The later save.
  ///   - undo: The effect of the undo, or `nil` if it did not touch the record.
  func following(
    _ undone: UndoStep.Existence, _ undo: UndoStep.Existence?
  ) -> UndoStep.Existence {
    guard after == undone.before, undone.after == undo?.before ?? undone.after
    else { return self }
    var existence = self
    existence.after = undo?.after ?? undone.after
    return existence
  }
}
