// SPDX-License-Identifier: Apache-2.0

/// A mark of a record's existence.
///
/// An edit needs no mark, because the clocks of the fields contain its save.
package struct ExistenceMark: Hashable, Sendable {
  /// The timestamp of the save.
  package let time: Timestamp
  /// The effect of the mark.
  package let kind: RecordMark.Kind
  /// The saves of the record that the author had seen.
  ///
  /// Empty if the mark shows that the record exists.
  package let clock: VectorClock
  /// Whether a deletion cannot be undone.
  ///
  /// The deletion restores others, which were named when an edit superseded
  /// them.
  package let isFinal: Bool

  private init(
    _ kind: RecordMark.Kind, _ clock: VectorClock, isFinal: Bool,
    at time: Timestamp
  ) {
    (self.time, self.kind) = (time, kind)
    (self.clock, self.isFinal) = (clock, isFinal)
  }

  /// Creates a mark that shows that the record exists.
  package static func alive(at time: Timestamp) -> ExistenceMark {
    ExistenceMark(.alive, VectorClock(), isFinal: false, at: time)
  }

  /// Creates the mark of a deletion, which covers some saves.
  package static func deletion(
    covering clock: VectorClock, isFinal: Bool = false, at time: Timestamp
  ) -> ExistenceMark {
    ExistenceMark(.deletion, clock, isFinal: isFinal, at: time)
  }

  /// Creates the mark of a purge, or of its announcement if the clock lacks the
  /// mark's own save.
  package static func purge(
    by dot: Dot, seen clock: VectorClock, at time: Timestamp
  ) -> ExistenceMark {
    ExistenceMark(
      clock.contains(dot) ? .purge : .purgeAnnouncement, clock, isFinal: false,
      at: time)
  }

  /// The saves that a deletion or a purge covers, or `nil` for another mark.
  package var covered: VectorClock? {
    switch kind {
    case .deletion, .purge: clock
    case .alive, .purgeAnnouncement: nil
    }
  }

  /// The clock that names deletions, or `nil` for a mark that names none.
  ///
  /// A deletion that a purge or its announcement names cannot be undone.
  fileprivate var naming: VectorClock? {
    switch kind {
    case .purgeAnnouncement, .purge: clock
    case .alive, .deletion: nil
    }
  }
}

extension ExistenceMark: Comparable {
  /// Orders marks by their content.
  ///
  /// The order serves only to choose between two marks with the same dot.
  package static func < (a: ExistenceMark, b: ExistenceMark) -> Bool {
    if a.flags != b.flags { return a.flags < b.flags }
    if a.clock == b.clock { return a.time < b.time }
    return a.clock.entries.lexicographicallyPrecedes(b.clock.entries) {
      ($0.device, $0.count) < ($1.device, $1.count)
    }
  }
}

/// A mark of a record's existence, with its save.
///
/// An edit needs no mark, because the clocks of the fields contain its save.
public struct RecordMark: Hashable, Sendable {
  /// The effect of a mark.
  public enum Kind: UInt8, Hashable, Sendable {
    /// The record is deleted.
    case deletion
    /// The record exists, because it was restored or created without an edit.
    case alive
    /// A purge will drop the contents, so the deletions that its author had
    /// seen cannot be undone.
    case purgeAnnouncement
    /// The contents were dropped.
    case purge
  }

  /// The save.
  public let dot: Dot
  /// The timestamp of the save.
  public let time: Timestamp
  /// The effect of the mark.
  public let kind: Kind
  /// The saves of the record that the author had seen, or an empty clock if the
  /// mark shows that the record exists.
  ///
  /// A deletion and a purge cover these saves.
  public let seen: VectorClock
  /// Whether a deletion cannot be undone, even without a purge or its
  /// announcement.
  public let isFinal: Bool

  init(_ element: Siblings<ExistenceMark>.Element) {
    (dot, time) = (element.dot, element.payload.time)
    (kind, seen) = (element.payload.kind, element.payload.clock)
    isFinal = element.payload.isFinal
  }
}

extension Siblings<ExistenceMark> {
  /// The marks of deletions.
  var deletions: [Element] { filter { $0.payload.kind == .deletion } }

  /// The saves that deletions and purges cover, or `nil` without any.
  var covered: VectorClock? { VectorClock(joiningAny: map(\.payload.covered)) }

  /// The saves that purges cover, or `nil` without a purge.
  var purged: VectorClock? {
    VectorClock(
      joiningAny: map { $0.payload.kind == .purge ? $0.payload.clock : nil })
  }

  /// Returns whether purges or their announcements name every deletion.
  ///
  /// - Parameter isCounted: A closure that returns whether the mark of a save
  ///   counts.
  func nameEveryDeletion(
    where isCounted: (Dot) -> Bool = { _ in true }
  ) -> Bool {
    let counted = filter { isCounted($0.dot) }
    let named = VectorClock(joiningAny: counted.map(\.payload.naming))
    return deletions.allSatisfy { deletion in
      named?.contains(deletion.dot) ?? false
        || deletion.payload.isFinal && isCounted(deletion.dot)
    }
  }
}

extension VectorClock {
  /// Creates the join of some clocks, or returns `nil` if all are `nil`.
  fileprivate init?(joiningAny clocks: [VectorClock?]) {
    let clocks = clocks.compactMap(\.self)
    guard let first = clocks.first else { return nil }
    self = clocks.count == 1 ? first : VectorClock(joining: clocks)
  }
}

// Each mark: the reference to its save with two flags, its time as in a
// register's write, and the clock of any mark but an alive one. The clock of a
// purge contains the mark's own save, and that of an announcement does not.
extension ExistenceMarks {
  package func write(to writer: inout FieldWriter) {
    writer.head(siblings.count)
    for (i, mark) in siblings.enumerated() {
      let time = writer.reference(
        to: mark.dot, isFirst: i == 0, flags: (mark.payload.flags, bits: 2))
      writer.out.varint(mark.payload.time.rawValue - time)
      if mark.payload.kind != .alive {
        writer.entries(mark.payload.clock.entries, beyond: VectorClock())
      }
    }
  }

  package static func read(
    from reader: inout FieldReader
  ) throws(WireError) -> Self {
    try reader.check(size: 2, "marks")
    return ExistenceMarks(
      try Siblings.readSiblings(from: &reader, count: reader.count) {
        reader, i throws(WireError) in
        let (index, flags) = try reader.reference(isFirst: i == 0, flags: 2)
        let time = try reader.readTime(of: index)
        let dot = reader.storeDot(at: index).dot
        let clock = flags == 0 ? VectorClock() : try reader.readClock()
        return .init(
          dot: dot,
          payload: ExistenceMark(flags: flags, clock, by: dot, at: time))
      })
  }
}

extension ExistenceMark {
  /// The kind of the mark in a message.
  var flags: UInt64 {
    switch kind {
    case .alive: 0
    case .deletion: isFinal ? 3 : 1
    case .purgeAnnouncement, .purge: 2
    }
  }

  fileprivate init(
    flags: UInt64, _ clock: VectorClock, by dot: Dot, at time: Timestamp
  ) {
    self =
      switch flags {
      case 0: .alive(at: time)
      case 2: .purge(by: dot, seen: clock, at: time)
      default: .deletion(covering: clock, isFinal: flags == 3, at: time)
      }
  }
}

/// The store of a record's existence: the marks that later saves did not
/// replace.
package struct ExistenceMarks: Hashable, Sendable {
  /// The marks.
  package var siblings: Siblings<ExistenceMark>

  package init(_ siblings: Siblings<ExistenceMark>) { self.siblings = siblings }
}

extension ExistenceMarks: DotStore {
  package init() { siblings = Siblings() }

  package var isEmpty: Bool { siblings.isEmpty }

  package func impliesContext(_ clock: VectorClock) -> Bool {
    siblings.impliesContext(clock)
  }

  package var dots: VectorClock { siblings.dots }

  package static var keepsLastDots: Bool { true }

  package mutating func merge(
    _ other: Self, seen: some DotSet, otherSeen: some DotSet
  ) {
    siblings.merge(other.siblings, seen: seen, otherSeen: otherSeen)
  }
}

// No schema declares this field. The record reads and changes it, so it shows
// nothing and accepts no edit.
extension ExistenceMarks: FieldStore {
  package static var kind: FieldKind { .existence }

  package static func boxed(
    _ field: consuming Causal<Self>
  ) -> FieldState.Box { .existence(field) }

  package static func unboxed(_ box: FieldState.Box) -> Causal<Self>? {
    if case .existence(let field) = box { field } else { nil }
  }

  package mutating func apply(
    _ save: EditContext, observed: Self?
  ) -> [Siblings<Stamped>.Element] { [] }

  package func overwriting(
    with other: Self, after edit: FieldEdit?
  ) -> (edit: FieldEdit, supersedesAll: Bool)? { nil }

  package var hasContent: Bool { false }

  package func shows(sameAs other: Self) -> Bool { true }

  package func forEachSave(_ body: (Dot, Timestamp?) -> Void) {
    for mark in siblings { body(mark.dot, mark.payload.time) }
  }

  package var namedSaves: [VectorClock.Entry] {
    siblings.flatMap(\.payload.clock.entries)
  }

  package var byteBound: Int {
    siblings.reduce(0) {
      $0 + ByteBound.save * (2 + $1.payload.clock.entries.count)
    }
  }

  package func equivocations(with other: Self) -> [Dot] {
    siblings.equivocations(with: other.siblings)
  }

  // The record restores its existence as a whole.
  package func undoContent(
    of element: Value?, by device: DeviceID
  ) -> UndoContent { .siblings(UndoSiblings([], .any)) }

  package func edit(
    restoring content: UndoRestoration, by device: DeviceID
  ) -> FieldEdit? { nil }

  package func _checkInvariants() { siblings._checkInvariants() }
}

extension FieldState {
  /// Changes the marks of a record's existence in one save.
  mutating func changeMarks(
    at dot: Dot, _ change: (inout Siblings<ExistenceMark>) -> Void
  ) {
    _ = self.change(ExistenceMarks.self) { field in
      field.update(at: dot) { change(&$0.siblings) }
    }
  }
}

extension FieldState {
  /// The marks of a record's existence, sorted by dot, or an empty array for
  /// another kind of field.
  public var marks: [RecordMark] {
    (store(of: ExistenceMarks.self)?.siblings ?? Siblings())
      .map { RecordMark($0) }
  }
}
