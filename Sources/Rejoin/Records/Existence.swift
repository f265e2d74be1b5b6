// SPDX-License-Identifier: Apache-2.0

/// The existence of a record under each deletion rule.
struct Existence: Equatable {
  /// Whether the record has a deletion.
  fileprivate(set) var hasDeletion = false
  /// Whether the deletions leave an edit or another mark uncovered.
  fileprivate(set) var updateWins = false

  var deleteWins: Bool { updateWins && !hasDeletion }

  func holds(_ rule: DeletionRule) -> Bool {
    switch rule {
    case .updateWins: updateWins
    case .deleteWins: deleteWins
    }
  }

  /// Returns whether the record is deleted under a rule.
  func isDenied(_ rule: DeletionRule) -> Bool { hasDeletion && !holds(rule) }
}

extension RecordState {
  /// The existence according to the marks and the clocks of all fields.
  var derivedExistence: Existence {
    let seen = covered ?? VectorClock()
    var existence = Existence()
    existence.hasDeletion = covered != nil
    existence.updateWins =
      marks.contains { !$0.payload.isDeletion && !seen.contains($0.dot) }
      || slots.contains { $0.name != 0 && !$0.isContained(in: seen) }
    return existence
  }

  /// Returns the existence after a change of a field.
  ///
  /// - Complexity: O(*r*), where *r* is the number of devices that edited the
  ///   field.
  func existence(afterChangeAt i: Int) -> Existence {
    if slots[i].name == 0 { return derivedExistence }
    var existence = existence
    existence.updateWins =
      existence.updateWins
      || !slots[i].isContained(in: covered ?? VectorClock())
    return existence
  }

  /// The last save of each device that edited the record or marked it alive.
  var edits: VectorClock {
    let marks = marks.filter { !$0.payload.isDeletion }
    return VectorClock(
      joining: slots.lazy.filter { $0.name != 0 }.map(\.clock)
        + marks.map { VectorClock($0.dot) })
  }

  /// The saves that touched the record.
  var clock: VectorClock { VectorClock(joining: slots.lazy.map(\.clock)) }
}
