// SPDX-License-Identifier: Apache-2.0

/// The saves that can be undone, one after another, and those that can be redone.
///
///     var history = UndoHistory()
///     for name in ["Ada", "Lovelace"] {
///       history.append(
///         try phone.save { transaction in
///           transaction.isUndoable = true
///           transaction[Profile.self, "ada"].name = name
///         })
///     }
///     while let last = history.undo {
///       history.append(try phone.undo(last))
///     }
///     if let first = history.redo {
///       history.append(try phone.undo(first))
///     }
///     phone[Profile.self, "ada"]?.name  // "Ada"
///
/// An undo brings back what earlier saves wrote in the same places. The history
/// notes where that is now, so those saves can be undone as well: the linear undo of
/// "Undo and Redo Support for Replicated Registers" (Stewen, Kleppmann, 2024), for
/// all kinds of fields.
///
/// An `UndoHistory` is `Codable`. If the app stores it after each save, the user can
/// undo and redo after the app starts again.
///
///     let data = try JSONEncoder().encode(history)
///     history = try JSONDecoder().decode(UndoHistory.self, from: data)
///
/// An app that restores a backup of the replica must restore the history of that
/// backup, too. Otherwise an undo leaves the changes that the replica lacks.
public struct UndoHistory: Hashable, Sendable {
  /// The saves that can be undone.
  ///
  /// Each has changes.
  private(set) var done = UndoStack()
  /// The saves that can be redone.
  ///
  /// Each has changes, and undid another save.
  private(set) var undone = UndoStack()

  /// Creates an empty history.
  public init() {}

  init(done: [SaveUndo], undone: [SaveUndo]) {
    (self.done, self.undone) = (UndoStack(done), UndoStack(undone))
  }

  /// What undoes the last save; `nil` if there is none.
  public var undo: SaveUndo? { done.last }

  /// What undoes the last undoing; `nil` if there is none, or a save came after it.
  public var redo: SaveUndo? { undone.last }

  /// Adds a save.
  ///
  /// A save that carried out ``undo`` or ``redo`` moves it to the other. Any other
  /// save can be undone next, and leaves nothing to redo. A save that was not
  /// ``Transaction/isUndoable`` counts as one of another user.
  ///
  /// - Complexity: O(*c*), where *c* is the number of changes of the save. If
  ///   the save undoes one that cancelled a counter or a ledger, or superseded
  ///   writes of other devices, O(*c* · *n*), where *n* is the number of
  ///   saves in the history that changed the same places: each may have to
  ///   follow what comes back.
  public mutating func append(_ report: SaveReport) {
    guard let save = report.undo else { return }
    // If nothing was there any more of the save, it cannot be redone either.
    let isEmpty = save.changes.isEmpty
    if let dot = save.undone, dot == undo?.dot {
      done.removeLast(undoneBy: save)
      if !isEmpty { undone.append(save) }
    } else if let dot = save.undone, dot == redo?.dot {
      undone.removeLast(undoneBy: save)
      if !isEmpty { done.append(save) }
    } else if !isEmpty {
      done.append(save)
      undone = UndoStack()
    }
  }
}
