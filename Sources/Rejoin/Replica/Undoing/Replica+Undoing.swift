// SPDX-License-Identifier: Apache-2.0

extension Replica {
  /// Takes back what an earlier save has changed, as far as it is still there.
  ///
  ///     let report = try phone.save { transaction in
  ///       transaction.isUndoable = true
  ///       transaction[Profile.self, "ada"].name = "Lovelace"
  ///     }
  ///     if let undo = report.undo {
  ///       try phone.undo(undo)
  ///     }
  ///
  /// It is a save like any other, whose author has seen nothing but what it takes
  /// back:
  ///
  /// - What the save has written in a register, or has said of an element or of the
  ///   existence of a record, goes. What it had superseded is written in its place,
  ///   unless there is something that the save had not found there: then that is
  ///   shown, as if the save had not been made.
  /// - A counter is changed by the opposite amount, and a ledger gets the opposite
  ///   entries.
  ///
  /// What somebody has superseded, removed or reset since stays as it is; so does a
  /// record that has been deleted. The report has a list of it, ``SaveReport/left``,
  /// and how to undo the undoing, ``SaveReport/undo``, which is to redo. Use an
  /// ``UndoHistory`` to undo several saves, one after another.
  ///
  /// Of several concurrent values that the save had superseded, the one that was shown
  /// comes back; it is a new write, and the one shown from then on. A state does not
  /// tell whether somebody else has removed or reset the same as the save: it comes
  /// back all the same. If two people have overwritten one value, and each undoes
  /// that before hearing of the other's undoing, neither brings the value back.
  ///
  /// - Returns: What changed, and what was left.
  /// - Throws: ``SaveError``. On error, the replica is unchanged.
  /// - Complexity: O(*c* log *c*) for *c* changes, and their edits.
  @discardableResult
  public func undo(_ undo: SaveUndo) throws(SaveError) -> SaveReport {
    try commit(Transaction(undoing: undo, on: self))
  }
}
