// SPDX-License-Identifier: Apache-2.0

/// The saves of a replica that can be undone, one after another, and those that can be
/// redone.
///
///     try phone.save(undoable: "Rename") { $0[Profile.self, "ada"].name = "Ada" }
///     phone.undoHistory.undoName  // "Rename"
///     try phone.undo()
///     phone.undoHistory.redoName  // "Rename"
///
/// A store keeps the history in its file. An app that stores a ``Replica`` itself can
/// encode ``Replica/undoHistory`` with it, and set it when it opens the replica again:
///
///     let data = try JSONEncoder().encode(phone.undoHistory)
///     phone.undoHistory = try JSONDecoder().decode(UndoHistory.self, from: data)
///
/// An app that restores a backup of the replica must restore the history of that
/// backup, too. Otherwise an undo leaves the changes that the replica lacks.
///
/// An undo brings back what earlier saves wrote in the same places. The history
/// notes where that is now, so those saves can be undone as well: the linear undo of
/// "Undo and Redo Support for Replicated Registers" (Stewen, Kleppmann, 2024), for
/// all kinds of fields.
public struct UndoHistory: Hashable, Sendable {
  /// The greatest number of saves that can be undone.
  ///
  /// Beyond it, the earliest save is removed, so a stored history stays small.
  public static let limit = 100

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

  package init(done: [UndoStep], undone: [UndoStep]) {
    self.done = UndoStack(done.suffix(Self.limit))
    self.undone = UndoStack(undone.suffix(Self.limit))
  }

  /// The name of the save that is undone next, or `nil` if no save can be undone.
  public var undoName: String? { undo.map { $0.name ?? "" } }

  /// The name of the save that is redone next, or `nil` if no save was undone, or if
  /// another save came after it.
  public var redoName: String? { redo.map { $0.name ?? "" } }

  /// Removes the save that would be undone next, so the one before it can be undone.
  ///
  /// Use it if later writes prevent the undo. The record keeps its content.
  public mutating func discardUndo() {
    if undo != nil { done.removeLast() }
  }

  /// Removes the save that would be redone next, so the one before it can be redone.
  ///
  /// Use it if later writes prevent the redo. The record keeps its content.
  public mutating func discardRedo() {
    if redo != nil { undone.removeLast() }
  }

  /// The save that is undone next, or `nil` if no save can be undone.
  package var undo: UndoStep? { done.last }

  /// The undo that is undone next, or `nil` if no save can be redone.
  package var redo: UndoStep? { undone.last }

  /// The saves that can be undone, and those that can be redone.
  package var saves: (done: [UndoStep], undone: [UndoStep]) {
    (done.saves, undone.saves)
  }

  /// Adds a save.
  ///
  /// A save that executed ``undo`` or ``redo`` moves it to the other stack. If it changed
  /// nothing because of later writes, both stacks stay. Any other save can be undone next,
  /// and leaves nothing to redo. A save that was not ``Transaction/isUndoable`` counts
  /// as one of another user.
  ///
  /// - Complexity: O(*c*), where *c* is the number of changes of the save. If
  ///   the save undoes one that cancelled a counter or a ledger, or superseded
  ///   writes of other devices, O(*c* · *n*), where *n* is the number of
  ///   saves in the history that changed the same places: each may have to
  ///   follow what comes back.
  package mutating func append(_ report: SaveReport) {
    guard let save = report.undo else { return }
    let isEmpty = save.changes.isEmpty
    if isEmpty, !report.unrevertedFields.isEmpty { return }
    if let dot = save.undone, dot == undo?.dot {
      done.removeLast(undoneBy: save)
      if !isEmpty { undone.append(save) }
    } else if let dot = save.undone, dot == redo?.dot {
      undone.removeLast(undoneBy: save)
      if !isEmpty { add(save) }
    } else if !isEmpty {
      add(save)
      undone = UndoStack()
    }
  }

  private mutating func add(_ save: UndoStep) {
    done.append(save)
    if done.saves.count > Self.limit { done.removeFirst() }
  }
}
