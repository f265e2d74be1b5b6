// SPDX-License-Identifier: Apache-2.0

/// The existence of a record, as far as undoing a save depends on it.
struct PlaceExistence: Sendable {
  private let exists: Bool
  private let rule: DeletionRule
  private let marks: Siblings<ExistenceMark>
  private let hasFields: Bool
  /// The last save of each device that touched the record.
  private let clock: VectorClock
  /// The last save of each device that edited it.
  private let edits: VectorClock

  init(_ record: RecordState, _ rule: DeletionRule) {
    (exists, self.rule) = (record.exists(rule), rule)
    (marks, clock, edits) = (record.marks, record.clock, record.edits)
    hasFields = record.slots.contains { $0.name != 0 }
  }

  /// What a save has done to the record.
  func change(
    to after: PlaceExistence, by save: SaveUndo.Point
  ) -> SaveUndo.Change? {
    let device = save.dot.device
    guard after.clock[device] == save.dot.sequence else { return nil }
    let gone = Siblings(
      sorted: marks.deletions.filter { after.marks[$0.dot] == nil })
    return SaveUndo.Existence(
      existed: exists, isThere: after.exists,
      isDeletion: after.marks[save.dot]?.payload.isDeletion ?? false,
      covered: gone.covered,
      uncovered: exists
        ? VectorClock() : edits.saves(beyond: gone.covered ?? VectorClock()),
      superseded: gone.only?.dot,
      wasPurged: gone.contains(where: \.payload.isPurge),
      before: clock[device], after: save.dot.sequence
    ).change(by: save)
  }

  /// What undoing a change of the existence does.
  enum Undoing {
    /// The mark of the deletion goes.
    case restoration(Dot, needsMark: Bool)
    /// The record is deleted, with the saves that the deletion covers.
    case deletion(VectorClock, isPurge: Bool, isLeft: Bool)
    case nothing(isLeft: Bool)
  }

  /// Returns what takes a change back, if it is still there.
  ///
  /// - Parameter device: The author of the undoing.
  func undoing(
    _ change: SaveUndo.Change, _ existence: SaveUndo.Existence,
    as device: DeviceID
  ) -> Undoing {
    let dot = change.save.dot
    let isThere = marks[dot]?.payload.isDeletion ?? false
    if existence.isDeletion, existence.existed, isThere {
      let others = marks.filter { $0.dot != dot }
      return .restoration(dot, needsMark: others.isEmpty && !hasFields)
    }
    // What the save has superseded comes back, and covers the save.
    var covered = existence.covered ?? VectorClock()
    covered.insert(Dot(dot.device, existence.after))
    let others = edits.saves(
      beyond: covered.merging(existence.uncovered)
        .merging(marks.covered ?? VectorClock()))
    let isBack =
      existence.isThere
      ? exists && existence.isCreation(by: dot.device)
        && (others.isEmpty || rule == .updateWins)
      : existence.covered != nil
    // The deletion would cover another save of the device, too.
    let isAlone =
      clock[dot.device] <= existence.after
      && (device == dot.device || clock[device] == 0)
    guard isBack, isAlone else {
      return .nothing(isLeft: exists != existence.existed)
    }
    return .deletion(
      covered, isPurge: existence.wasPurged, isLeft: !others.isEmpty)
  }
}

extension SaveUndo {
  /// The existence of a record before and after a save.
  struct Existence: Hashable, Codable, Sendable {
    /// Whether the record existed before.
    let existed: Bool
    /// Whether it existed after.
    let isThere: Bool
    /// Whether the save deleted it.
    let isDeletion: Bool
    /// What the deletions covered that the save superseded, or `nil` if there were
    /// none.
    let covered: VectorClock?
    /// If the record did not exist, the edits before that these deletions did not
    /// cover.
    let uncovered: VectorClock
    /// The save of the deletion, if there was just one.
    let superseded: Dot?
    /// Whether one of these deletions was a purge.
    let wasPurged: Bool
    /// The number of the device's last save before that touched the record.
    let before: UInt64
    /// The number of the device's last save that touched the record, of this one
    /// and those that have been undone since.
    var after: UInt64

    /// Whether the save created the record, or would have if no other device had
    /// edited it.
    ///
    /// - Parameter device: The author of the save.
    func isCreation(by device: DeviceID) -> Bool {
      !existed || covered.map { $0[device] >= before } ?? false
    }
  }
}

extension SaveUndo.Existence {
  /// The change of a save, if one can have made it.
  func change(
    by save: SaveUndo.Point, _ decoder: any Decoder
  ) throws -> SaveUndo.Change {
    guard before < save.dot.sequence, after >= save.dot.sequence else {
      throw decoder.corrupted(
        "The save must be after those before, and not after the last one.")
    }
    return change(by: save)
  }

  fileprivate func change(by save: SaveUndo.Point) -> SaveUndo.Change {
    SaveUndo.Change(
      save: save, before: .existence(self), superseded: .dot(superseded))
  }

  /// The change after a later save of the record has been undone.
  ///
  /// - Parameter undo: What that did to the record, or `nil` if nothing.
  func following(
    _ undone: SaveUndo.Existence, _ undo: SaveUndo.Existence?
  ) -> SaveUndo.Existence {
    guard after == undone.before, undone.after == undo?.before ?? undone.after
    else { return self }
    var existence = self
    existence.after = undo?.after ?? undone.after
    return existence
  }
}
