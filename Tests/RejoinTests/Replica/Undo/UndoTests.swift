// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

/// Reports of undos, and the fields that undos leave.
///
/// Tests with random histories check the reverted fields.
@Suite(.encodes) struct UndoTests {
  private let phone = Replica.empty(1)
  private let watch = Replica.empty(2)
  private let ada = Sailor.ada

  private func save(
    _ body: (RecordEditor<Sailor>) -> Void
  ) throws -> SaveReport {
    try phone.save { transaction in
      transaction.isUndoable = true
      body(transaction[Sailor.self, "ada"])
    }
  }

  /// - Returns: The names of the fields that stay.
  private func undo(_ report: SaveReport) throws -> [String] {
    try phone.undo(#require(report.undo)).unrevertedFields.map(\.field.name)
  }

  @Test func undoRevertsSingleSave() throws {
    let report = try phone.save { transaction in
      transaction.isUndoable = true
      transaction[Sailor.self, "ada"].name = "Lovelace"
    }
    if let undo = report.undo {
      try phone.undo(undo)
    }
    #expect(phone[Sailor.self, "ada"] == nil)
    #expect(try phone.save { $0[Sailor.self, "ada"].name = "x" }.undo == nil)
  }

  @Test func undoOfEarlierSaveCountsAsSave() throws {
    var history = UndoHistory()
    let first = try save { $0.name = "Ada" }
    history.append(first)
    history.append(try save { $0.miles.increment() })
    let undo = try phone.undo(#require(first.undo))
    history.append(undo)
    #expect(history.undo?.dot == undo.dot && history.redo == nil)
    #expect(history.done.saves.count == 3)
  }

  @Test func historyUndoesAndRedoesSavesInOrder() throws {
    var history = UndoHistory()
    for name in ["Ada", "Lovelace"] {
      history.append(
        try phone.save { transaction in
          transaction.isUndoable = true
          transaction[Sailor.self, "ada"].name = name
        })
    }
    while let last = history.undo {
      history.append(try phone.undo(last))
    }
    #expect(phone[Sailor.self, "ada"] == nil)
    if let first = history.redo {
      history.append(try phone.undo(first))
    }
    #expect(phone[Sailor.self, "ada"]?.name == "Ada")
    // Another save removes the redo.
    #expect(history.redo != nil)
    history.append(try save { $0.miles.increment() })
    #expect(history.redo == nil)
  }

  /// The later save is not in the history.
  @Test func undoLeavesFieldsOfLaterSave() throws {
    let first = try save { ada in
      (ada.name, ada.rank) = ("Ada", "dark")
      ada.miles.increment(by: 5)
      ada.tags.insert("x")
      ada.roles.insert("x")
      ada.pay.append(5)
    }
    try phone.save { transaction in
      let ada = transaction[Sailor.self, "ada"]
      (ada.name, ada.rank) = ("Lovelace", "light")
      ada.miles.reset()
      ada.tags.remove("x")
      ada.roles.remove("x")
      transaction.apply(
        .append(.cancelling), to: Sailor().pay.key, of: Sailor.ada)
    }
    let before = phone.delta()
    let left = try undo(first)
    #expect(left == ["", "miles", "name", "pay", "rank"])
    #expect(phone.delta() == before)
  }

  /// The whole cancellation stays if a later one decided on more entries of one
  /// device.
  @Test func undoLeavesCancellationExtendedByLaterOne() throws {
    func cancel(_ replica: Replica) throws -> SaveReport {
      try replica.save { transaction in
        transaction.isUndoable = true
        transaction.apply(
          .append(.cancelling), to: Sailor().pay.key, of: Sailor.ada)
      }
    }
    _ = try save { $0.pay.append(1) }
    try watch.save { $0[Sailor.self, "ada"].pay.append(5) }
    settle(phone, watch)
    let cancelled = try cancel(phone)
    try watch.save { $0[Sailor.self, "ada"].pay.append(7) }
    settle(phone, watch)
    _ = try cancel(watch)
    settle(phone, watch)
    #expect(phone.ada?.pay == 0)
    #expect(try undo(cancelled) == ["pay"])
    #expect(phone.ada?.pay == 0)
  }

  @Test func undoWithoutEffectSavesNothing() throws {
    _ = try save { $0.name = "Ada" }
    let touched = try phone.save { transaction in
      transaction.isUndoable = true
      transaction.ensureExists(ada)
    }
    var history = UndoHistory()
    history.append(touched)
    let undo = try #require(history.undo)
    try phone.save { $0.ensureExists(ada) }
    let report = try phone.undo(undo)
    #expect(report.dot == nil)
    #expect(report.unrevertedFields == [])
    history.append(report)
    #expect(history == UndoHistory())
    history.append(
      try phone.save { $0.isUndoable = true })
    #expect(history == UndoHistory())
  }

  /// Another device undoes the deletion, and then the creation.
  @Test func undoRevertsSavesAfterDeviceChange() throws {
    var history = UndoHistory()
    history.append(try save { $0.name = "Ada" })
    history.append(
      try phone.save { transaction in
        transaction.isUndoable = true
        transaction.delete(ada)
      })
    let other = Replica.opening(phone.state, token: nil, as: 9)
    for name in ["Ada", nil] {
      let undo = try #require(history.undo)
      history.append(try other.undo(undo))
      #expect(other[Sailor.self, "ada"]?.name == name)
    }
  }

  @Test func undoRevertsExtremeAmounts() throws {
    let large = try save { ada in
      ada.miles.increment(by: .max)
      ada.pay.append(.min)
    }
    #expect(try undo(large) == [])
    let sailor = try #require(phone.record(ada))
    #expect(sailor.count(of: FieldKey("miles", .counter)) == 0)
    #expect(sailor.total(of: FieldKey("pay", .ledger)) == 0)
  }

  /// A reset cancels only the amounts that its context has seen.
  @Test func undoOfResetRestoresSeenAmounts() throws {
    _ = try save { $0.miles.increment(by: 5) }
    let shown = phone.recordForEditing(ada)
    let key = Sailor().miles.key
    _ = try save { $0.miles.increment(by: 2) }
    let reset = try phone.save { transaction in
      transaction.isUndoable = true
      transaction.apply(
        .count(CounterEdit(by: 0, isReset: true)), to: key, of: ada,
        observed: shown[key])
    }
    #expect(phone[Sailor.self, "ada"]?.miles == 2)
    #expect(try undo(reset) == [])
    #expect(phone[Sailor.self, "ada"]?.miles == 7)
  }

  /// The record shows the other writes as if the save did not exist.
  @Test func undoKeepsConcurrentWritesOfOthers() throws {
    let tablet = Replica.empty(3)
    _ = try save { $0.name = "Ada" }
    settle(phone, watch, tablet)
    let mine = try save { $0.name = "Lovelace" }
    try watch.save { $0[Sailor.self, "ada"].name = "Countess" }
    try tablet.save { $0[Sailor.self, "ada"].name = "Byron" }
    settle(phone, watch, tablet)
    #expect(try undo(mine) == [])
    #expect(phone[Sailor.self, "ada"]?.name == "Byron")
    #expect(
      phone.record(ada)?.conflictingValues(of: FieldKey("name", .register)) == [
        "Countess"
      ])
    #expect(phone.recordForEditing(ada)[.existence].clock.isEmpty)
  }

  /// Several saves remove or drop the element, one after another.
  @Test func undoRestoresElementsRemovedTwice() throws {
    var history = UndoHistory()
    var before: [[String]] = []
    let recreate = { (transaction: Transaction) -> Void in
      transaction.delete(ada)
      transaction[Sailor.self, "ada"].name = "Ada"
    }
    let remove = { (transaction: Transaction) -> Void in
      transaction[Sailor.self, "ada"].roles.remove("x")
    }
    let insert = { (transaction: Transaction) -> Void in
      transaction[Sailor.self, "ada"].roles.insert("x")
    }
    for body in [insert, recreate, remove, insert, recreate, remove] {
      before.append(phone.ada?.roles.sorted() ?? [])
      history.append(
        try phone.save { transaction in
          transaction.isUndoable = true
          body(transaction)
        })
    }
    for roles in before.reversed() {
      let undo = try #require(history.undo)
      history.append(try phone.undo(undo))
      #expect(phone.ada?.roles.sorted() ?? [] == roles)
    }
  }

  /// The undo of the second reset leaves the first one.
  @Test func undoKeepsResetOutsideHistory() throws {
    var history = UndoHistory()
    history.append(try save { $0.miles.increment(by: 5) })
    try phone.edit { $0.miles.reset() }
    try phone.edit { $0.miles.increment(by: 2) }
    history.append(try save { $0.miles.reset() })
    for left in [[], ["", "miles"]] {
      let undo = try #require(history.undo)
      let report = try phone.undo(undo)
      history.append(report)
      #expect(report.unrevertedFields.map(\.field.name) == left)
      #expect(phone.ada?.miles == 2)
    }
  }

  /// The undo copies no writes of another device, so that device can undo them.
  @Test func undoDoesNotCopyWritesOfOthers() throws {
    _ = try save { $0.name = "Ada" }
    settle(phone, watch)
    let mine = try save { ada in
      ada.name = "Lovelace"
      ada.roles.insert("x")
    }
    let theirs = try watch.save { transaction in
      transaction.isUndoable = true
      transaction[Sailor.self, "ada"].name = "Byron"
      transaction[Sailor.self, "ada"].roles.insert("x")
    }
    settle(phone, watch)
    #expect(try undo(mine) == [])
    settle(phone, watch)
    #expect(phone.ada?.name == "Byron" && phone.ada?.roles == ["x"])
    try watch.undo(#require(theirs.undo))
    settle(phone, watch)
    #expect(phone.ada?.name == "Ada" && phone.ada?.roles == [])
  }

  /// A deletion that had seen the save's mark stays.
  @Test func undoKeepsLaterDeletion() throws {
    _ = try phone.save { $0[Berth.self, "1"].name = "first" }
    let report = try phone.save { transaction in
      transaction.isUndoable = true
      transaction[Berth.self, "1"].name = "second"
    }
    settle(phone, watch)
    try phone.save { $0[Berth.self, "1"].name = "third" }
    try watch.save { $0[Berth.self, "1"].delete() }
    settle(phone, watch)
    let left = try phone.undo(#require(report.undo)).unrevertedFields
    #expect(left.map(\.field.name) == ["", "name"])
    #expect(phone[Berth.self, "1"] == nil)
  }

  /// The replica lacks the amounts, so it cannot revert them.
  @Test func undoOfMissingSaveLeavesAmounts() throws {
    _ = try save { $0.name = "Ada" }
    settle(phone, watch)
    let report = try save { ada in
      ada.miles.increment(by: 5)
      ada.pay.append(5)
      ada.tags.remove("x")
    }
    let left = try watch.undo(#require(report.undo)).unrevertedFields
    #expect(left.map(\.field.name) == ["", "miles", "pay"])
    #expect(watch.ada?.miles == 0)
  }

  @Test func undoReturnsSumBeyondInt64() throws {
    for _ in 0..<2 { _ = try save { $0.miles.increment(by: .max) } }
    let reset = try save { $0.miles.reset() }
    #expect(try undo(reset) == [])
    let amounts = phone.record(ada)?.amounts(of: FieldKey("miles", .counter))
    #expect(amounts == [phone.device: WideInt(UInt64.max - 1)])
  }

  /// The save's own change cannot be undone, so its reset stays as well.
  @Test func overflowingUndoLeavesReset() throws {
    _ = try save { $0.miles.increment() }
    let mine = try save { $0.miles.set(to: -7) }
    for _ in 0..<2 { try phone.edit { $0.miles.increment(by: .max) } }
    let before = phone.delta()
    #expect(try undo(mine) == ["miles"])
    #expect(phone.delta() == before)
  }

  /// Two clones undo different saves under one dot.
  @Test func mergeReportsDifferentUndosOfClones() throws {
    _ = try save { $0.name = "Ada" }
    let reports = try ["x", "y"].map { role in
      try save { $0.tags.insert(role) }
    }
    // The marks of both are gone, so only the elements differ.
    _ = try save { $0.name = "Lovelace" }
    let clone = Replica.opening(phone.state, token: phone.restoreToken, as: 9)
    let undone = try zip([phone, clone], reports).map { replica, report in
      try replica.undo(#require(report.undo)).dot
    }
    #expect(undone[0] == undone[1])
    #expect(clone.tell(phone).equivocations != [])
  }

  /// Two devices delete the record, and undo that one after the other.
  @Test func undoOfDeletionKeepsConcurrentDeletion() throws {
    _ = try save { $0.name = "Ada" }
    settle(phone, watch)
    let reports = try [phone, watch].map { replica in
      try replica.save { transaction in
        transaction.isUndoable = true
        transaction.delete(ada)
      }
    }
    settle(phone, watch)
    #expect(try undo(reports[0]) == [])
    #expect(phone.ada == nil)
    settle(phone, watch)
    try watch.undo(#require(reports[1].undo))
    settle(phone, watch)
    #expect(phone.ada?.name == "Ada")
  }

  /// The first undo restores the element of the other device as well.
  @Test func undoKeepsElementInsertedByAnotherDevice() throws {
    var history = UndoHistory()
    _ = try save { $0.name = "Ada" }
    settle(phone, watch)
    history.append(try save { $0.tags.insert("x") })
    try watch.edit { $0.tags.insert("x") }
    settle(phone, watch)
    history.append(try save { $0.tags.remove("x") })
    for left in [[], ["tags"]] {
      let report = try phone.undo(#require(history.undo))
      history.append(report)
      #expect(report.unrevertedFields.map(\.field.name) == left)
      #expect(phone.ada?.tags == ["x"])
    }
  }

  /// The fields stay, although the deleted record hides them.
  @Test func undoDoesNotRevertFieldsOfDeletedRecord() throws {
    _ = try save { $0.name = "Ada" }
    let report = try save { $0.name = "Lovelace" }
    settle(phone, watch)
    try watch.edit { $0.delete() }
    settle(phone, watch)
    #expect(try undo(report) == ["", "name"])
    try phone.save { $0.undelete(ada) }
    #expect(phone.ada?.name == "Lovelace")
  }

  @Test func undoOfCreationDeletesRecord() throws {
    let report = try save { $0.pay.append(5) }
    #expect(try undo(report) == [])
    #expect(phone.ada == nil)
    let marks = phone.recordForEditing(ada)[.existence].marks
    #expect(marks.map(\.seen) == [[phone.device: 2]])
    #expect(marks.map(\.kind) == [.deletion])
    try phone.edit { $0.name = "Ada" }
    #expect(phone.record(ada)?.total(of: FieldKey("pay", .ledger)) == 0)
  }

  /// The undo of an edit does not repeat a concurrent deletion.
  @Test func undoDoesNotCopyDeletionOfAnotherDevice() throws {
    try phone.save { $0[Berth.self, "1"].name = "first" }
    settle(phone, watch)
    let mine = try phone.save { transaction in
      transaction.isUndoable = true
      transaction[Berth.self, "1"].name = "second"
    }
    let theirs = try watch.save { transaction in
      transaction.isUndoable = true
      transaction[Berth.self, "1"].delete()
    }
    settle(phone, watch)
    try phone.undo(#require(mine.undo))
    #expect(phone[Berth.self, "1"] == nil)
    settle(phone, watch)
    try watch.undo(#require(theirs.undo))
    settle(phone, watch)
    #expect(phone[Berth.self, "1"]?.name == "first")
  }
}
