// SPDX-License-Identifier: Apache-2.0

/// A mark of a deletion, a purge, a restoration or a `touch`.
///
/// An edit needs no mark, because the clocks of the fields contain its save.
package struct ExistenceMark: Hashable, Sendable {
  /// The timestamp of the save.
  package let time: Timestamp
  /// The saves that a deletion covers, or `nil` if the mark shows that the
  /// record exists.
  ///
  /// A deletion covers the saves of the record that its author had seen.
  package let covered: VectorClock?
  /// Whether the save also dropped the record's contents.
  package let isPurge: Bool

  init(
    covering covered: VectorClock?, isPurge: Bool = false, at time: Timestamp
  ) {
    (self.time, self.covered, self.isPurge) = (time, covered, isPurge)
  }

  /// Whether the mark belongs to a deletion or a purge.
  package var isDeletion: Bool { covered != nil }
}

extension ExistenceMark: Comparable {
  /// Orders marks by their content.
  ///
  /// The order serves only to choose between two marks with the same dot.
  package static func < (a: ExistenceMark, b: ExistenceMark) -> Bool {
    if a.covered == b.covered {
      return (a.isPurge ? 1 : 0, a.time) < (b.isPurge ? 1 : 0, b.time)
    }
    guard let x = a.covered, let y = b.covered else { return b.isDeletion }
    return x.entries.lexicographicallyPrecedes(y.entries) {
      ($0.device, $0.count) < ($1.device, $1.count)
    }
  }
}

/// A mark of a deletion, a purge, a restoration or a `touch`, with its save.
///
/// An edit needs no mark, because the clocks of the fields contain its save.
public struct RecordMark: Hashable, Sendable {
  /// The save.
  public let dot: Dot
  /// The timestamp of the save.
  public let time: Timestamp
  /// The saves that a deletion covers, or `nil` if the mark shows that the
  /// record exists.
  ///
  /// A deletion covers the saves of the record that its author had seen.
  public let covered: VectorClock?
  /// Whether the save also dropped the record's contents.
  public let isPurge: Bool

  /// Whether the mark belongs to a deletion or a purge.
  public var isDeletion: Bool { covered != nil }

  init(_ element: Siblings<ExistenceMark>.Element) {
    (dot, time) = (element.dot, element.payload.time)
    (covered, isPurge) = (element.payload.covered, element.payload.isPurge)
  }
}

extension Siblings<ExistenceMark> {
  /// The marks of deletions.
  var deletions: [Element] { filter { $0.payload.isDeletion } }

  /// The saves that the deletions cover, or `nil` without a deletion.
  var covered: VectorClock? {
    let clocks = compactMap(\.payload.covered)
    return clocks.count < 2 ? clocks.first : VectorClock(joining: clocks)
  }
}
