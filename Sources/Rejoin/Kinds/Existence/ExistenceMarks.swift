// SPDX-License-Identifier: Apache-2.0

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
