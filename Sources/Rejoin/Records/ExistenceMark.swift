// SPDX-License-Identifier: Apache-2.0

/// A mark of a deletion, a purge, a restoration or a `touch`.
///
/// An edit needs no mark, because the clocks of the fields contain its save.
public struct ExistenceMark: Hashable, Sendable {
  /// The timestamp of the save.
  public let time: Timestamp
  /// The saves that a deletion covers, or `nil` if the mark shows that the
  /// record exists.
  ///
  /// A deletion covers what its author had seen of the record.
  public let covered: VectorClock?
  /// Whether the save also dropped the contents of the record.
  public let isPurge: Bool

  init(
    covering covered: VectorClock?, isPurge: Bool = false, at time: Timestamp
  ) {
    (self.time, self.covered, self.isPurge) = (time, covered, isPurge)
  }

  /// Whether the mark is of a deletion or a purge.
  public var isDeletion: Bool { covered != nil }
}

extension ExistenceMark: Comparable {
  /// Orders marks by their content.
  ///
  /// The order is used only to choose between two marks of one dot.
  public static func < (a: ExistenceMark, b: ExistenceMark) -> Bool {
    if a.covered == b.covered {
      return (a.isPurge ? 1 : 0, a.time) < (b.isPurge ? 1 : 0, b.time)
    }
    guard let x = a.covered, let y = b.covered else { return b.isDeletion }
    return x.entries.lexicographicallyPrecedes(y.entries) {
      ($0.device, $0.count) < ($1.device, $1.count)
    }
  }
}

extension Siblings<ExistenceMark> {
  /// The marks of deletions.
  var deletions: [Element] { filter { $0.payload.isDeletion } }

  /// The saves that any deletion covers, or `nil` without a deletion.
  var covered: VectorClock? {
    let clocks = compactMap(\.payload.covered)
    return clocks.count < 2 ? clocks.first : VectorClock(joining: clocks)
  }
}

/// Whether a record exists under each rule for deletions.
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
  /// The existence, computed from the marks and the clocks of all fields.
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
  /// - Complexity: O(*r*), where *r* is the number of devices that edited the field.
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
