// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing

@testable import Rejoin
@testable import RejoinStore

/// Reading the steps of an undo history, and the cost of saves.
@Suite final class UndoLoadingTests: StoreSuite {
  private func connection() throws -> CountingConnection {
    CountingConnection(try SQLiteConnection(opening: path))
  }

  @Test func firstUndoReadsSteps() throws {
    let scope = try open(path, token: tokenStorage)
    for title in ["Milk", "Bread", "Cheese"] { try scope.rename(title) }
    try scope.undo()
    let counting = try connection()
    let again = try open(counting, token: tokenStorage)
    #expect(again.undoName == "Bread" && again.redoName == "Cheese")
    try again.write("Ham", to: "2")
    try again.rename("Egg", key: "2")
    #expect(again.undoName == "Egg" && again.redoName == nil)
    try again.update { $0.discardUndo() }
    #expect(counting.bodyReads == [])
    try again.undo()
    #expect(again.title == "Milk" && counting.bodyReads.count == 1)
    try again.undo()
    try again.redo()
    #expect(again.title == "Milk" && counting.bodyReads.count == 1)
  }

  @Test func openingReadsOnlyRowsOfItsScope() throws {
    for scope in ["a", "b"] {
      let scope = try open(path, scope: scope, token: TestTokenStorage())
      for title in ["Milk", "Bread"] { try scope.rename(title) }
    }
    let counting = try connection()
    var plan: [String] = []
    _ = try UndoRows(scope: 1, on: counting)
    #expect(counting.rows == 2)
    let read = try #require(counting.statements.first)
    try counting.run("EXPLAIN QUERY PLAN " + read, [.integer(1)]) {
      plan.append($0.text(3) ?? "")
    }
    #expect(
      plan == [
        "SEARCH rejoin_undo USING INDEX rejoin_undo_of_scope (scope=?)"
      ])
  }

  /// The expected state is that of a replica without a store.
  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func undoAfterReopeningEqualsUndoWithout(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let plain = Replica(
      device: DeviceID(1), schema: [Note.self],
      wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(9) })
    var scope = try open(path, token: tokenStorage)
    for number in 0..<60 {
      let move = UndoMove.random(&random)
      var (copy, other) = (random, random)
      try move.make(on: plain, &copy)
      try scope.update { try move.make(on: $0, &other) }
      random = copy
      if random.chance(percent: 30) {
        scope = try open(path, token: tokenStorage)
      }
      let comment: Comment = "move \(number), \(move)"
      #expect(scope.undoName == plain.undoHistory.undoName, comment)
      #expect(scope.redoName == plain.undoHistory.redoName, comment)
      #expect(
        scope.replica.delta() == plain.delta(), comment)
      if number % 7 == 0 {
        #expect(scope.replica.undoHistory == plain.undoHistory, comment)
      }
    }
    #expect(scope.replica.undoHistory == plain.undoHistory)
  }

  @Test func largeStepsDoNotRaiseCostOfSmallSave() throws {
    var costs: [(bytes: Int, statements: [String])] = []
    for count in [1, 99] {
      let counting = CountingConnection(
        try SQLiteConnection(opening: folder.file("\(count).sqlite")))
      let scope = try open(counting)
      for i in 0...count {
        try scope.rename("\(i) " + String(repeating: "x", count: 30_000))
      }
      try scope.rename("Milk", key: "2")
      counting.reset()
      try scope.rename("Bread", key: "2")
      costs.append((counting.writtenBytes, counting.statements))
    }
    #expect(costs[0].bytes == costs[1].bytes && costs[0].bytes < 1_000)
    // The hundredth step replaces the first.
    #expect(
      costs[0].statements
        == costs[1].statements.filter { !$0.hasPrefix("DELETE") })
    #expect(costs[1].statements.count - costs[0].statements.count == 1)
  }

  @Test func undoWritesOnlyChangedSteps() throws {
    let counting = try connection()
    let scope = try open(counting)
    for title in ["Milk", "Bread", "Cheese"] {
      try scope.rename(title, key: title)
    }
    counting.reset()
    try scope.undo()
    // The undone save leaves one stack, and its undo joins the other.
    #expect(
      counting.writes.filter { $0.contains("rejoin_undo") }.map {
        String($0.prefix(6))
      } == ["DELETE", "INSERT", "UPDATE"])
    counting.reset()
    try scope.update { $0.undoHistory.discardUndo() }
    #expect(
      counting.writes.filter { $0.contains("rejoin_undo") }
        == ["DELETE FROM rejoin_undo WHERE step = $1"])
  }

  @Test func failedReadKeepsHistory() throws {
    let scope = try open(path, token: tokenStorage)
    for title in ["Milk", "Bread"] { try scope.rename(title) }
    let counting = try connection()
    let again = try open(counting, token: tokenStorage)
    try again.undo()
    counting.lost = Set(counting.bodyReads)
    try again.redo()
    let third = try open(counting, token: tokenStorage)
    for _ in 0..<2 {
      let error = #expect(throws: StoreError.self) { try third.undo() }
      guard case .busy = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(throws: StoreError.self) {
        try third.update { $0.undoHistory.discardUndo() }
      }
      #expect(third.undoName == "Bread" && third.title == "Bread")
    }
    // A save needs no other step.
    try third.rename("Cheese")
    counting.lost = []
    for expected in ["Bread", "Milk", nil] {
      try third.undo()
      #expect(third.title == expected)
    }
  }

  @Test func undoNameIsKnownAfterClosing() throws {
    let connection = try SQLiteConnection(opening: path)
    let counting = CountingConnection(connection)
    let scope = try open(counting)
    try scope.rename("Milk")
    try scope.close()
    connection.close()
    #expect(scope.undoName == "Milk")
    #expect(scope.replica.undoHistory == UndoHistory())
  }
}
