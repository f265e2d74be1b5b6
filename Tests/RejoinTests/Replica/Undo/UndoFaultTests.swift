// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import RejoinTesting
import Testing

/// Regression tests of undos.
@Suite(.encodes) struct UndoFaultTests {
  private let phone = Replica.empty(1)
  private let watch = Replica.empty(2)
  private let ada = Sailor.ada

  private func save(
    on replica: Replica? = nil, _ body: (RecordEditor<Sailor>) -> Void
  ) throws -> SaveReport {
    try (replica ?? phone).save { transaction in
      transaction.isUndoable = true
      body(transaction[Sailor.self, "ada"])
    }
  }

  /// A later mark supersedes the deletion and a mark that outlived it.
  @Test func undoOfMarkLeavesRecordThatExistedBefore() throws {
    try watch.save { $0.ensureExists(ada) }
    phone.merge(watch)
    try phone.save { $0.ensureExists(ada) }
    try watch.save { $0.delete(ada) }
    watch.merge(phone)
    #expect(watch.exists(ada))
    let report = try watch.save { transaction in
      transaction.isUndoable = true
      transaction.ensureExists(ada)
    }
    let undone = try watch.undo(#require(report.undo))
    #expect(watch.exists(ada) && undone.unrevertedFields == [])
  }

  /// Two clones undo one save, and one of them has more saves.
  @Test func digestsOfClonesDifferAfterDifferentUndos() throws {
    try phone.edit { $0.name = nil }
    settle(phone, watch)
    let mine = try save { $0.name = "Ada" }
    try watch.edit { $0.name = "Countess" }
    let clone = Replica(
      resuming: phone.state, schema: phone.schema,
      wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(9) })
    phone.merge(watch)  // and the clone does not
    let a = try phone.undo(#require(mine.undo))
    let b = try clone.undo(#require(mine.undo))
    #expect(a.dot == b.dot)
    func writes(_ r: Replica) -> Int {
      r.recordForEditing(ada)[Sailor().name.key].writes.filter {
        $0.dot == a.dot
      }.count
    }
    #expect(writes(phone) == 0 && writes(clone) == 1)
    let (x, y) = (
      phone.state.version[DeviceID(1)].digest,
      clone.state.version[DeviceID(1)].digest
    )
    #expect(x != y)
    let report = phone.merge(clone)
    #expect(!report.equivocations.isEmpty)
  }

  /// The record uses delete-wins.
  @Test func undoOfCreationDoesNotPurgeElementsOfOthers() throws {
    let id = RecordID("Berth", "b")
    let tags = FieldKey("tags", .set)
    let mine = try phone.save { transaction in
      transaction.isUndoable = true
      transaction.apply(.write("x"), to: FieldKey("name", .register), of: id)
    }
    settle(phone, watch)
    try watch.save {
      $0.apply(.members(SetEdit(inserting: ["w"])), to: tags, of: id)
    }
    let plain = Replica(
      resuming: phone.state, schema: phone.schema,
      wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(9) })
    try phone.undo(#require(mine.undo))
    try plain.save { $0.delete(id) }
    phone.merge(watch)
    plain.merge(watch)
    // Compare with the restoration after an ordinary deletion.
    try plain.save { $0.undelete(id) }
    #expect(plain.record(id)?.elements(of: FieldKey("tags", .set)) == ["w"])
    #expect(phone.record(id)?.elements(of: FieldKey("tags", .set)) == ["w"])
    #expect(throws: Never.self) { try phone.save { $0.undelete(id) } }
  }

  /// Two devices create one record, and each undoes its creation.
  @Test func undosOfBothCreationsDeleteRecord() throws {
    let mine = try save { $0.name = "Ada" }
    let theirs = try save(on: watch) { $0.tags.insert("x") }
    settle(phone, watch)
    try phone.undo(#require(mine.undo))
    settle(phone, watch)
    try watch.undo(#require(theirs.undo))
    settle(phone, watch)
    #expect(phone.ada == nil)
  }

  /// The context of the second save did not contain the record.
  @Test func historyUndoesBothCreationsOfRecord() throws {
    let shown = phone.recordForEditing(ada)
    var history = UndoHistory()
    history.append(try save { $0.name = "Ada" })
    history.append(
      try phone.save { transaction in
        transaction.isUndoable = true
        transaction.ensureExists(
          ada, observed: shown[.existence], recreatingWith: nil)
        transaction.apply(
          .count(CounterEdit(by: 1)), to: Sailor().miles.key, of: ada)
      })
    while let last = history.undo { history.append(try phone.undo(last)) }
    #expect(phone.ada == nil)
  }

  /// The deletion rule decides whether an undo hides a concurrent creation.
  @Test(arguments: ["Berth", "Sailor"])
  func undoneCreationFollowsDeletionRule(_ entity: String) throws {
    let id = RecordID(entity, "b")
    let name = FieldKey("name", .register)
    let mine = try phone.save { transaction in
      transaction.isUndoable = true
      transaction.apply(.write("mine"), to: name, of: id)
    }
    try phone.undo(#require(mine.undo))
    try watch.save { $0.apply(.write("theirs"), to: name, of: id) }
    settle(phone, watch)
    #expect(watch.exists(id) == (entity == "Sailor"))
    #expect(
      watch.record(id)?.value(of: FieldKey("name", .register)) == "theirs")
  }

  /// The restored value keeps its time.
  @Test func undoRestoresShownValueAndConflict() throws {
    let key = Sailor().name.key
    try phone.edit { $0.name = "Ada" }
    let shown = phone.recordForEditing(ada)
    let other = Replica.empty(2, wallClock: ManualClock(2_000_000))
    try other.edit { $0.name = "Countess" }
    phone.merge(other)
    #expect(phone.ada?.name == "Countess")
    let mine = try phone.save { transaction in
      transaction.isUndoable = true
      transaction.apply(.write("Byron"), to: key, of: ada, observed: shown[key])
    }
    try phone.undo(#require(mine.undo))
    #expect(phone.ada?.name == "Countess")
    #expect(
      phone.record(ada)?.conflictingValues(of: FieldKey("name", .register)) == [
        "Ada"
      ])
  }

  /// The context clears elements that the replica dropped.
  @Test func undoOfClearingKeepsLaterInsertion() throws {
    let key = Sailor().roles.key
    try phone.edit { $0.roles.insert("x") }
    let shown = phone.recordForEditing(ada)
    try phone.save { transaction in  // created again: no marks of x
      transaction.delete(ada)
      transaction[Sailor.self, "ada"].name = "Ada"
    }
    settle(phone, watch)
    let before = phone.recordForEditing(ada)[key]
    let mine = try phone.save { transaction in
      transaction.isUndoable = true
      transaction.apply(
        .members(.clearing), to: key, of: ada, observed: shown[key])
    }
    let report = try phone.undo(#require(mine.undo))
    #expect(report.unrevertedFields == [])
    _ = before
    try watch.edit { $0.roles.insert("x") }
    settle(phone, watch)
    #expect(phone.ada?.roles.sorted() == ["x"])
  }

  /// Another save took the number of a save that was not stored.
  @Test func undoLeavesWriteUnderNumberOfLostSave() throws {
    try phone.edit { $0.rank = "r" }
    let (state, token) = (phone.state, phone.restoreToken)
    let mine = try save { $0.name = "Ada" }  // could not be written
    let again = Replica.opening(state, token: token, as: 9)
    #expect(again.device == DeviceID(1))
    try again.edit { $0.name = "Lovelace" }
    let report = try again.undo(#require(mine.undo))
    #expect(again.ada?.name == "Lovelace")
    #expect(report.unrevertedFields.contains { $0.field.name == "name" })
  }

  /// Another save took the number of a save that was not stored.
  @Test func undoLeavesCounterUnderNumberOfLostSave() throws {
    try phone.edit { $0.rank = "r" }
    let (state, token) = (phone.state, phone.restoreToken)
    let mine = try save { $0.miles.increment(by: 5) }
    let again = Replica.opening(state, token: token, as: 9)
    try again.edit { $0.name = "Lovelace" }
    let report = try again.undo(#require(mine.undo))
    #expect(again.ada?.miles == 0)
    #expect(report.unrevertedFields.contains { $0.field.name == "miles" })
  }

  /// The size of an undo does not grow with the sum of a ledger.
  @Test func undoOfHostileLedgerAddsFewBytes() throws {
    let device = DeviceID(7)
    let ledger = Ledger(lines: [
      device: DeviceEntries(
        folded: 1 << 40, sum: WideInt(high: 1 << 19, low: 0), tail: [])
    ])
    let field = FieldState(
      Causal(store: ledger, context: CausalContext(VectorClock(Dot(device, 1))))
    )
    let delta = Delta(
      changes: [
        .init(id: ada, fields: [Sailor().pay.key: field])
      ],
      intervals: [
        device: .init(
          from: 0, to: DeviceSave(sequence: 1, time: .zero, digest: 5))
      ])
    let bytes = delta.encoded()
    phone.apply(try Delta(decoding: bytes))
    let mine = try phone.save { transaction in
      transaction.isUndoable = true
      transaction.delete(ada)
      transaction[Sailor.self, "ada"].name = "Ada"
    }
    try phone.undo(#require(mine.undo))
    let size = try #require(phone.delta()).encoded().count
    #expect(size < 10_000)
  }

  /// A later reset by another device had seen the first reset.
  @Test func undoLeavesCounterResetByAnotherDevice() throws {
    try watch.edit { $0.miles.increment(by: 5) }
    settle(phone, watch)
    let without = Replica(
      resuming: phone.state, schema: phone.schema,
      wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(9) })
    let mine = try save { $0.miles.reset() }
    settle(phone, watch)
    try watch.edit { $0.miles.increment(by: 3) }
    try watch.edit { $0.miles.reset() }
    settle(phone, watch)
    without.merge(watch)
    let report = try phone.undo(#require(mine.undo))
    #expect(phone.ada?.miles == 0)
    #expect(report.unrevertedFields.map(\.field.name) == ["miles"])
  }

  /// The saves of one record are undone in the order of the saves.
  @Test func undosOfEarlierSavesLeaveNoMarks() throws {
    let saves = try (0..<20).map { i in
      try save { $0.tags.insert("\(i)") }
    }
    for save in saves.dropLast() { try phone.undo(#require(save.undo)) }
    #expect(phone.ada?.tags == ["19"])
    #expect(phone.recordForEditing(ada)[.existence].marks.isEmpty)
  }

  /// The save that took the number need not be the last one.
  @Test func undoDetectsReusedNumberBeforeLastSave() throws {
    try phone.edit { $0.rank = "r" }
    let (state, token) = (phone.state, phone.restoreToken)
    let mine = try save { $0.miles.increment(by: 5) }
    let again = Replica.opening(state, token: token, as: 9)
    for name in ["Lovelace", "Countess"] { try again.edit { $0.name = name } }
    let report = try again.undo(#require(mine.undo))
    #expect(report.unrevertedFields.map(\.field.name) == ["", "miles"])
    #expect(again.ada?.miles == 0)
  }
}
