// SPDX-License-Identifier: Apache-2.0

/// What it takes to undo a save, as far as the save has changed anything.
///
/// A ``SaveReport`` has it if the transaction was ``Transaction/isUndoable``.
/// Pass it to ``Transaction/undo(_:)``, or keep it in an ``UndoHistory``, so that
/// earlier saves can be undone after it.
public struct SaveUndo: Hashable, Sendable {
  /// What a save changes at once: a field, or one element of a set.
  struct Place: Hashable, Sendable {
    let record: RecordID
    let field: FieldKey
    var element: Value?
  }

  /// What a save has changed in a place.
  struct Change: Hashable, Sendable {
    /// Where the change is to be found: the dot of the save, or of one that has
    /// since restored it.
    ///
    /// In a ledger it is the number of its first entry, among those of its
    /// device.
    var dot: Dot
    /// What there was before.
    let before: Before
    /// What the save has superseded.
    let superseded: Superseded
  }

  /// What was in a place, or what brings it back.
  enum Before: Hashable, Sendable {
    /// Whether a record existed, and whether the save says that it does.
    case existence(Bool, now: Bool)
    /// What a register showed, and whether the save has only emptied it.
    case value(Value?, isDropped: Bool)
    /// Whether an element was in a set, and whether the save inserts it.
    case isIn(Bool, now: Bool)
    /// The opposite of how a counter was changed.
    case count(CounterEdit)
    /// The opposite of the entries that were appended.
    case append(LedgerEdit)
  }

  /// Changes that are no longer there after a save.
  enum Superseded: Hashable, Sendable {
    /// Writes, marks.
    case dots([Dot])
    /// Changes of a counter or a ledger that nobody had cancelled before.
    case sums(cancelled: VectorClock, all: VectorClock)

    func contains(_ dot: Dot) -> Bool {
      switch self {
      case .dots(let dots): dots.contains(dot)
      case .sums(let cancelled, let all):
        all.contains(dot) && !cancelled.contains(dot)
      }
    }
  }

  /// The save; `nil` if there was nothing to save.
  public let dot: Dot?
  /// The save that this one has undone, if any.
  let undone: Dot?
  /// What the save has changed.
  var changes: [Place: Change] = [:]

  init(dot: Dot?, undone: Dot?) { (self.dot, self.undone) = (dot, undone) }
}

extension [SaveUndo] {
  /// Takes into account that the save after these was undone, which brings back what
  /// they have changed, or leaves something else in its place.
  ///
  /// - Parameters:
  ///   - last: The save after these.
  ///   - undo: The save that has undone it.
  /// - Complexity: O(*n* · *c*) for *c* changes of the last one.
  mutating func follow(_ last: SaveUndo, undoneBy undo: SaveUndo) {
    for (place, change) in last.changes {
      let dot = undo.changes[place]?.dot ?? change.dot
      var isFirst = true
      for i in indices.reversed() {
        guard let own = self[i].changes[place] else { continue }
        // What the save before has emptied, the last one has found empty.
        let isFoundEmpty =
          isFirst && own.before.isEmptied && change.superseded == .dots([])
        if isFoundEmpty || change.superseded.contains(own.dot) {
          self[i].changes[place]?.dot = dot
        }
        isFirst = false
      }
    }
  }
}

extension SaveUndo.Before {
  /// Whether the save has left nothing in the place.
  fileprivate var isEmptied: Bool {
    switch self {
    case .value(_, let isDropped): isDropped
    case .isIn(_, let isIn): !isIn
    case .existence, .count, .append: false
    }
  }
}
