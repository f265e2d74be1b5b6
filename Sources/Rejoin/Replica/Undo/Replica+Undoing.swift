// SPDX-License-Identifier: Apache-2.0

/// The result of an undo or a redo.
public enum UndoResult: Hashable, Sendable {
  /// The save was undone or redone.
  ///
  /// ``SaveReport/unrevertedFields`` lists the fields that stay because of
  /// later changes.
  case done(SaveReport)
  /// Later changes of these fields prevent the undo or the redo.
  ///
  /// Nothing changed, and the save is still the next one. To continue with the
  /// save before it, call ``UndoHistory/discardUndo()`` or
  /// ``UndoHistory/discardRedo()``.
  case prevented([FieldLocation])
  /// The history has no save to undo or to redo.
  case nothing
}

extension UndoResult: CustomStringConvertible {
  /// The result, and the fields that kept their content.
  public var description: String {
    switch self {
    case .done(let report): "done: \(report)"
    case .prevented(let fields): "prevented by later changes of \(fields.text)"
    case .nothing: "nothing to undo or redo"
    }
  }
}

extension Replica {
  /// Undoes the last undoable save that is not undone yet.
  ///
  ///     try phone.save(undoable: "Rename") { $0[Profile.self, "ada"].name = "Ada" }
  ///     try phone.undo()  // .done
  ///     phone[Profile.self, "ada"]?.name  // nil
  ///
  /// ``undo(_:)`` describes what an undo changes.
  ///
  /// - Throws: ``SaveError``. If an error is thrown, the replica is unchanged.
  /// - Complexity: The cost of ``undo(_:)``.
  @discardableResult
  public func undo() throws(SaveError) -> UndoResult {
    loadUndoHistory()
    return try undoNext(history.undo)
  }

  /// Redoes the last save that was undone.
  ///
  /// - Throws: ``SaveError``. If an error is thrown, the replica is unchanged.
  /// - Complexity: The cost of ``undo(_:)``.
  @discardableResult
  public func redo() throws(SaveError) -> UndoResult {
    loadUndoHistory()
    return try undoNext(history.redo)
  }

  private func undoNext(_ save: UndoStep?) throws(SaveError) -> UndoResult {
    guard let save else { return .nothing }
    let transaction = Transaction(undoing: save, on: self)
    transaction.undoName = save.name ?? ""
    let report = try commit(transaction)
    return report.dot == nil && !report.unrevertedFields.isEmpty
      ? .prevented(report.unrevertedFields) : .done(report)
  }

  /// Undoes an earlier save, except for changes that were overwritten since.
  ///
  ///     let report = try phone.save(undoable: "Rename") { transaction in
  ///       transaction[Profile.self, "ada"].name = "Lovelace"
  ///     }
  ///     if let undo = report.undo {
  ///       try phone.undo(undo)
  ///     }
  ///
  /// Use this method to undo a save of another replica, or a save that is not
  /// the last one. It does not change the ``undoHistory``.
  ///
  /// An undo is an ordinary save that replaces only what the earlier save
  /// wrote:
  ///
  /// - The undo removes a value that the save wrote to a register, and a mark
  ///   that it set on an element. The superseded value returns with its time,
  ///   unless another save wrote to the same location. In that case, only the
  ///   other write stays.
  /// - A record that the save deleted returns, unless another device also
  ///   deleted it. A record that the save created is deleted, unless another
  ///   save edited it. If two devices delete a record without fields and both
  ///   undo that before they sync, the record is gone.
  /// - A counter changes by the opposite amount, and a ledger gets the opposite
  ///   entries. If the save canceled amounts, they count again, once for all
  ///   devices that canceled them. The memos of a canceled ledger do not return.
  ///   If a later save also decided on these amounts, the counter or the ledger
  ///   stays as a whole.
  ///
  /// Records of the library itself, such as enrolled devices, do not change.
  /// Neither do records of entities that the schema does not declare.
  ///
  /// Content that other saves superseded, removed or reset since does not
  /// change, and neither does a deleted record, unless its entity declares
  /// ``DeletionRule/deleteWins``: then what it hides changes until a purge is
  /// announced. ``SaveReport/unrevertedFields`` lists the fields that stay, and
  /// sets whose later edits hide the content that returns to an older field. To
  /// redo the save, pass ``SaveReport/undo`` of the report to this method.
  ///
  /// A replica does not record which other saves superseded, removed or reset
  /// the same content. This has five consequences:
  ///
  /// - If the save superseded several concurrent writes or marks, the value
  ///   that they showed returns as one.
  /// - Content returns even if other devices also removed or reset it. If two
  ///   devices reset a counter and each user undoes that, its amount returns
  ///   once.
  /// - Canceled amounts do not return if another device canceled later changes
  ///   of the same devices before it saw the undo.
  /// - Content does not return next to a write of another device, even if that
  ///   device had not seen it.
  /// - If two users overwrite the same value and both undo before they sync,
  ///   the value does not return.
  ///
  /// - Returns: The report of the save, with the fields that were not reverted.
  /// - Throws: ``SaveError``. If an error is thrown, the replica is unchanged.
  /// - Complexity: O(*c* log *c*), where *c* is the number of changes, plus the
  ///   cost of their edits.
  @discardableResult
  public func undo(_ undo: UndoStep) throws(SaveError) -> SaveReport {
    try commit(Transaction(undoing: undo, on: self))
  }
}

extension Replica {
  /// Commits a transaction, and records how to undo it.
  func commitUndoable(
    _ transaction: Transaction
  ) throws(SaveError) -> SaveReport {
    let before = ContentBefore(transaction)
    var report = try execute(transaction)
    report.undo = before.step(to: current, by: report.dot)
    report.unrevertedFields = transaction.left
    if let name = transaction.undoName {
      report.undo?.name = name
      // Another save adds itself and needs no other step.
      if transaction.undone != nil { loadUndoHistory() }
      history.append(report)
      hasChangedUndoHistory = true
    }
    return report
  }

  /// Loads the steps of the undo history.
  ///
  /// - Returns: Whether all steps are loaded.
  @discardableResult
  func loadUndoHistory() -> Bool {
    if history.isLoaded { return true }
    guard let steps = readUndoSteps?() else { return false }
    history.load(steps)
    return true
  }

  /// Removes the save that ``undo()`` would undo next, without loading it.
  package func discardUndo() {
    history.discardUndo()
    hasChangedUndoHistory = true
  }

  /// Removes the save that ``redo()`` would redo next, without loading it.
  package func discardRedo() {
    history.discardRedo()
    hasChangedUndoHistory = true
  }
}
