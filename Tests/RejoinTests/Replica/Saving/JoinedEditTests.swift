// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Rejoin

/// Combined edits of one record in one save.
@Suite(.encodes) struct JoinedEditTests {
  private let a = Replica.empty(1)
  private let b = Replica.empty(2)
  private let name = Sailor().name.key
  private let miles = Sailor().miles.key
  private let tags = Sailor().tags.key

  private var existence: FieldState {
    a.recordForEditing(Sailor.ada)[.existence]
  }

  private func edit(_ transaction: Transaction) {
    transaction.apply(.write("Ada"), to: name, of: Sailor.ada)
    transaction.apply(.count(CounterEdit(by: 5)), to: miles, of: Sailor.ada)
  }

  @Test(arguments: [false, true])
  func upsertKeepsEditsOfSameSave(isLast: Bool) throws {
    try a.edit { $0.ensureExists() }
    let shown = existence
    try a.save { transaction in
      if isLast { edit(transaction) }
      transaction.ensureExists(Sailor.ada, observed: shown, recreatingWith: nil)
      if !isLast { edit(transaction) }
    }
    #expect(a.ada?.name == "Ada" && a.ada?.miles == 5)
  }

  @Test func deletionAsShownKeepsEditsOfSaveForConcurrentUpdate() throws {
    try a.edit { $0.ensureExists() }
    a.tell(b)
    let (shown, seen) = (existence, a.recordForEditing(Sailor.ada).clock)
    try b.edit { $0.tags.insert("kept") }
    try a.save { transaction in
      edit(transaction)
      transaction.delete(Sailor.ada, observed: shown, seen: seen)
    }
    #expect(a.ada == nil)
    settle(a, b)
    #expect(a.ada?.name == "Ada" && a.ada?.miles == 5)
    #expect(a.ada?.tags == ["kept"])
  }

  @Test func upsertAfterDeletionOfSameSaveCreatesAgain() throws {
    try a.edit { $0.name = "old" }
    let shown = existence
    try a.save { transaction in
      transaction.delete(Sailor.ada)
      transaction.ensureExists(Sailor.ada, observed: shown, recreatingWith: nil)
      transaction.apply(.count(CounterEdit(by: 5)), to: miles, of: Sailor.ada)
    }
    #expect(a.ada?.name == nil && a.ada?.miles == 5)
  }

  /// The write as shown alone would leave the sibling.
  @Test(arguments: [false, true])
  func creatingAgainAsShownDropsSiblingThatWriteHadNotSeen(
    isLast: Bool
  ) throws {
    try a.edit { $0.name = "shown" }
    a.tell(b)
    let earlier = a.recordForEditing(Sailor.ada)[name]
    try b.edit { $0.name = "sibling" }
    try a.edit { $0.name = "mine" }
    b.tell(a)
    let fields = [name: a.recordForEditing(Sailor.ada)[name]]
    try a.edit { $0.delete() }
    let deleted = existence
    try a.save { transaction in
      func write() {
        transaction.apply(
          .write("new"), to: name, of: Sailor.ada, observed: earlier)
      }
      if isLast { write() }
      transaction.ensureExists(
        Sailor.ada, observed: deleted, recreatingWith: fields)
      if !isLast { write() }
    }
    #expect(a.ada?.name == "new" && a.ada?.conflictingValues(of: \.name) == [])
  }

  @Test func plainEditAfterUpsertCreatesDeletedRecordAgain() throws {
    try a.edit { $0.name = "old" }
    let shown = existence
    try a.edit { $0.delete() }
    try a.save { transaction in
      transaction.ensureExists(Sailor.ada, observed: shown, recreatingWith: nil)
      transaction.apply(.count(CounterEdit(by: 5)), to: miles, of: Sailor.ada)
    }
    #expect(a.ada?.name == nil && a.ada?.miles == 5)
    #expect(existence.marks.isEmpty)
  }

  /// The edit as shown alone would leave the sibling.
  @Test(arguments: [false, true])
  func saveSupersedesWritesThatAnyEditHasSeen(isLast: Bool) throws {
    try a.edit { $0.name = "a" }
    let shown = a.recordForEditing(Sailor.ada)[name]
    try b.edit { $0.name = "b" }
    b.tell(a)
    try a.save { transaction in
      if isLast { transaction.apply(.write("1"), to: name, of: Sailor.ada) }
      transaction.apply(
        .write("2"), to: name, of: Sailor.ada, observed: shown)
      if !isLast { transaction.apply(.write("1"), to: name, of: Sailor.ada) }
    }
    #expect(a.ada?.name == (isLast ? "2" : "1"))
    #expect(a.ada?.conflictingValues(of: \.name) == [])
  }

  @Test func observedStateOfAnotherKindThrows() throws {
    try a.edit { $0.miles.increment(by: 5) }
    let state = a.delta()
    let fields = a.recordForEditing(Sailor.ada)
    let reset = FieldEdit.count(CounterEdit(by: 0, isReset: true))
    #expect(throws: SaveError.observedKind(Sailor.ada, field: "miles")) {
      try a.save {
        $0.apply(reset, to: miles, of: Sailor.ada, observed: fields[name])
      }
    }
    #expect(throws: SaveError.observedKind(Sailor.ada, field: "tags")) {
      try a.save {
        $0.ensureExists(
          Sailor.ada, observed: fields[.existence],
          recreatingWith: [tags: fields[miles]])
      }
    }
    for deletes in [false, true] {
      #expect(throws: SaveError.observedKind(Sailor.ada, field: "")) {
        try a.save {
          if deletes {
            $0.delete(
              Sailor.ada, observed: fields[miles], seen: fields.clock)
          } else {
            $0.ensureExists(
              Sailor.ada, observed: fields[miles], recreatingWith: nil)
          }
        }
      }
    }
    #expect(a.delta() == state)
    try a.save {
      $0.apply(reset, to: miles, of: Sailor.ada, observed: fields[miles])
    }
    #expect(a.ada?.miles == 0)
  }
}
