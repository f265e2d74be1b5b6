// SPDX-License-Identifier: Apache-2.0

/// The existence of a record under each deletion rule.
struct Existence: Equatable {
  /// Whether the record has a deletion.
  fileprivate(set) var hasDeletion = false
  /// Whether any save edited the record, or a mark shows that it exists.
  fileprivate(set) var isEdited = false
  /// Whether the deletions and purges leave an edit or such a mark uncovered.
  fileprivate(set) var isUncovered = false

  func holds(_ rule: DeletionRule) -> Bool {
    switch rule {
    case .updateWins: isUncovered
    case .deleteWins: isEdited && !hasDeletion
    }
  }
}

extension RecordState {
  /// The existence according to the marks and the clocks of all fields.
  ///
  /// A save or a join that changes the marks, such as a deletion, decides by it.
  var derivedExistence: Existence {
    let (marks, seen) = (marks, covered ?? VectorClock())
    let alive = marks.filter { $0.payload.kind == .alive }
    let fields = slots.filter { $0.name != 0 }
    var existence = Existence()
    existence.hasDeletion = marks.contains { $0.payload.kind == .deletion }
    existence.isEdited = !alive.isEmpty || !fields.isEmpty
    existence.isUncovered =
      alive.contains { !seen.contains($0.dot) }
      || fields.contains { !$0.isContained(in: seen) }
    return existence
  }

  /// Returns the existence after a save or a join changed a field.
  ///
  /// - Complexity: O(*r*), where *r* is the number of devices that edited the
  ///   field.
  func existence(afterChangeAt i: Int) -> Existence {
    if slots[i].name == 0 { return derivedExistence }
    var existence = existence
    existence.isEdited = true
    existence.isUncovered =
      existence.isUncovered
      || !slots[i].isContained(in: covered ?? VectorClock())
    return existence
  }

  /// The last save of each device that edited the record or marked it alive,
  /// except saves that a purge covers.
  var edits: VectorClock {
    let alive = marks.filter { $0.payload.kind == .alive }
    let edits = VectorClock(
      joining: slots.lazy.filter { $0.name != 0 }.map(\.clock)
        + alive.map { VectorClock($0.dot) })
    return marks.purged.map { edits.saves(beyond: $0) } ?? edits
  }

  /// The saves that touched the record.
  var clock: VectorClock { VectorClock(joining: slots.lazy.map(\.clock)) }
}
