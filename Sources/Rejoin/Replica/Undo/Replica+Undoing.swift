// SPDX-License-Identifier: Apache-2.0

/// The result of an undo or a redo.
public enum UndoResult: Hashable, Sendable {
  /// The save was undone or redone.
  ///
  /// ``SaveReport/unrevertedFields`` lists the fields that stay because of later changes.
  case done(SaveReport)
  /// Later changes of these fields prevent the undo or the redo.
  ///
  /// Nothing changed, and the save is still the next one. To continue with the one before
  /// it, call ``UndoHistory/discardUndo()`` or ``UndoHistory/discardRedo()``.
  case prevented([FieldLocation])
  /// There is nothing to undo or to redo.
  case nothing
}

extension Replica {
  /// Undoes the last undoable save that was not undone.
  ///
  ///     try phone.save(undoable: "Rename") { $0[Profile.self, "ada"].name = "Ada" }
  ///     try phone.undo()  // .done
  ///     phone[Profile.self, "ada"]?.name  // nil
  ///
  /// See ``undo(_:)`` for what an undo changes.
  ///
  /// - Throws: ``SaveError``. If an error is thrown, the replica is unchanged.
  /// - Complexity: That of ``undo(_:)``.
  @discardableResult
  public func undo() throws(SaveError) -> UndoResult {
    try undoNext(undoHistory.undo)
  }

  /// Redoes the last save that was undone.
  ///
  /// - Throws: ``SaveError``. If an error is thrown, the replica is unchanged.
  /// - Complexity: That of ``undo(_:)``.
  @discardableResult
  public func redo() throws(SaveError) -> UndoResult {
    try undoNext(undoHistory.redo)
  }

  private func undoNext(_ save: UndoStep?) throws(SaveError) -> UndoResult {
    guard let save else { return .nothing }
    let transaction = Transaction(undoing: save, on: self)
    transaction.undoName = save.name ?? ""
    let report = try commit(transaction)
    return report.dot == nil && !report.unrevertedFields.isEmpty
      ? .prevented(report.unrevertedFields) : .done(report)
  }

  /// Undoes the changes of an earlier save that are still there.
  ///
  ///     let report = try phone.save(undoable: "Rename") { transaction in
  ///       transaction[Profile.self, "ada"].name = "Lovelace"
  ///     }
  ///     if let undo = report.undo {
  ///       try phone.undo(undo)
  ///     }
  ///
  /// Use it for a save that is not the last one, or of another replica. It does not
  /// change the ``undoHistory``.
  ///
  /// It is a save like any other, whose author has seen nothing but what it takes
  /// back:
  ///
  /// - The undo removes a value that the save wrote to a register, and a mark that it set
  ///   on an element. The superseded value comes back with its time, unless another save
  ///   wrote to the same place. In that case, only the other write stays.
  /// - A record that the save deleted comes back, unless another device has deleted it
  ///   as well. A record that the save created is deleted, unless another save has
  ///   edited it. If two devices delete a record without fields and both undo that
  ///   before they sync, the record is gone.
  /// - A counter is changed by the opposite amount, and a ledger gets the opposite
  ///   entries.
  ///
  /// Records of the library itself, such as enrolled devices, stay. So do records of
  /// entities that the schema does not declare.
  ///
  /// What somebody has superseded, removed or reset since stays as it is, and so does a
  /// record that has been deleted. The report has a list of it, ``SaveReport/unrevertedFields``,
  /// and how to redo the save, ``SaveReport/undo``.
  ///
  /// Of several concurrent writes or marks that the save had superseded, what they
  /// showed comes back as one. A state does not tell whether somebody else has
  /// superseded, removed or reset the same as the save. So what was there comes back
  /// although others have removed or reset it; beside what others have written, it does
  /// not, although they may not have known it; and if two people have overwritten one
  /// value, and each undoes that before hearing of the other's undoing, neither brings
  /// it back.
  ///
  /// - Returns: What changed, and what was left.
  /// - Throws: ``SaveError``. On error, the replica is unchanged.
  /// - Complexity: O(*c* log *c*) for *c* changes, and their edits.
  @discardableResult
  public func undo(_ undo: UndoStep) throws(SaveError) -> SaveReport {
    try commit(Transaction(undoing: undo, on: self))
  }
}
