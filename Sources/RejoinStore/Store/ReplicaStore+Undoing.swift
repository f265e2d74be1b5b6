// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension ReplicaStore {
  /// The name of the save that ``undo()`` undoes, or `nil` if no save can be
  /// undone.
  public var undoName: String? { read { $0.replica.history.undoName } }

  /// The name of the save that ``redo()`` redoes, or `nil` if no save can be
  /// redone.
  public var redoName: String? { read { $0.replica.history.redoName } }

  /// Undoes the last undoable save that is not undone yet.
  ///
  ///     try await store.save(undoable: "Rename") { $0[Note.self, "1"].title = "Milk" }
  ///     await store.undoName  // "Rename"
  ///     try await store.undo()
  ///     await store.redoName  // "Rename"
  ///
  /// The file contains the last undoable saves, so you can undo them after you
  /// open the store again. They include named saves of editing contexts and
  /// drafts. The store keeps up to `UndoHistory.limit` of them. If their
  /// changes take more than 4 MiB, it removes the earliest ones, but keeps the
  /// next one. The first undo or redo reads the changes. If the file is damaged
  /// there, the store has no saves to undo or redo.
  ///
  /// - Returns: The result. If later changes prevent the undo, nothing changes,
  ///   and the save is still the next one. To continue with the save before it,
  ///   call ``discardUndo()``.
  /// - Throws: `SaveError` or ``StoreError``. If an error is thrown, the store
  ///   is unchanged.
  @discardableResult
  public func undo() throws -> UndoResult { try withReplica { try $0.undo() } }

  /// Redoes the save that was undone last.
  ///
  /// - Returns: The result. If later changes prevent the redo, nothing changes,
  ///   and the save is still the next one. To continue with the save before it,
  ///   call ``discardRedo()``.
  /// - Throws: `SaveError` or ``StoreError``. If an error is thrown, the store
  ///   is unchanged.
  @discardableResult
  public func redo() throws -> UndoResult { try withReplica { try $0.redo() } }

  /// Removes the save that ``undo()`` would undo next, and keeps its edits.
  ///
  /// - Throws: ``StoreError``. If an error is thrown, the store is unchanged.
  public func discardUndo() throws {
    try withReplica { $0.discardUndo() }
  }

  /// Removes the save that ``redo()`` would redo next, without redoing it.
  ///
  /// - Throws: ``StoreError``. If an error is thrown, the store is unchanged.
  public func discardRedo() throws {
    try withReplica { $0.discardRedo() }
  }
}
