// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing

@testable import Rejoin
@testable import RejoinStore

/// The rows of an undo history: their limit, damage, and other versions.
@Suite final class UndoRowTests: StoreSuite {
  private func run(_ sql: String, _ values: SQLValue...) throws {
    let connection = try SQLiteConnection(opening: path)
    try connection.run(sql, values)
    connection.close()
  }

  private func count(_ sql: String) throws -> Int64? {
    try SQLiteConnection(opening: path).integer(
      "SELECT \(sql) FROM rejoin_undo")
  }

  private func faults() throws -> [String] {
    try StoreSummary(
      of: SQLiteConnection(opening: path), checksPages: true
    ).faults
  }

  @Test func limitDropsEarliestSteps() throws {
    let scope = try open(path, token: tokenStorage)
    for i in 0..<60 {
      try scope.rename("\(i) " + String(repeating: "x", count: 100_000))
    }
    let bytes = try #require(try count("sum(length(body))"))
    #expect(bytes <= 4 << 20 && bytes > (4 << 20) - 101_000)
    let rows = try #require(try count("count(*)"))
    for replica in [scope, try open(path, token: tokenStorage)] {
      #expect(replica.replica.undoHistory.entries.done.count == Int(rows))
    }
    let again = try open(path, token: tokenStorage)
    for i in 0..<Int(rows) {
      try again.undo()
      #expect(again.title?.hasPrefix("\(58 - i) ") == true)
    }
    #expect(try again.undo() == .nothing)
  }

  @Test func nextUndoAndRedoAreKeptBeyondLimit() throws {
    let scope = try open(path, token: tokenStorage)
    let long = String(repeating: "x", count: 5 << 20)
    try scope.rename("Milk")
    try scope.rename("Long " + long)
    try scope.rename("Bread")
    #expect(try count("count(*)") == 1)
    let bytes = try #require(try count("sum(length(body))"))
    #expect(bytes > 5 << 20)
    let again = try open(path, token: tokenStorage)
    #expect(again.undoName == "Bread")
    try again.undo()
    #expect(again.title == "Long " + long)
    #expect(try again.undo() == .nothing)
    let third = try open(path, token: tokenStorage)
    #expect(third.redoName == "Bread")
    try third.redo()
    #expect(third.title == "Bread")
  }

  @Test func limitDropsUndoStepsBeforeRedoSteps() throws {
    let connection = try SQLiteConnection(opening: path)
    let scope = try open(path, token: tokenStorage)
    let long = String(repeating: "x", count: 1_000)
    for i in 0..<8 { try scope.rename("\(i) \(long)") }
    for _ in 0..<4 { try scope.undo() }
    func names(_ byteLimit: Int) throws -> [[String?]] {
      var history = scope.replica.undoHistory
      try connection.run("BEGIN")
      defer { try? connection.run("ROLLBACK") }
      var rows = try UndoRows(scope: 1, on: connection, byteLimit: byteLimit)
      try rows.write(&history, on: connection)
      let stored = try UndoRows(scope: 1, on: connection).history
      let entries = [history.entries, stored.entries]
        .map { [$0.done, $0.undone].map { $0.map(\.name?.first) } }
      #expect(entries[0] == entries[1])
      return entries[1].map { $0.map { $0.map { String($0) } } }
    }
    // The undos are 7, 6, 5 and 4, so the redo of 4 is the next.
    #expect(try names(100_000).map(\.count) == [4, 4])
    #expect(
      try names(6_850) == [["2", "3"], ["7", "6", "5", "4"]])
    #expect(try names(3_550) == [["3"], ["5", "4"]])
    #expect(try names(0) == [["3"], ["4"]])
  }

  @Test(arguments: [
    "row_check = row_check + 1", "undone = 1", "n = n + 100",
    "name = CAST('Bred' AS BLOB)",
    "body = CAST(body || x'00' AS BLOB)",
  ])
  func damagedRowEmptiesHistoryAtFirstUndo(_ damage: String) throws {
    let scope = try open(path, token: tokenStorage)
    for title in ["Milk", "Bread", "Cheese"] { try scope.rename(title) }
    try run("UPDATE rejoin_undo SET \(damage) WHERE step = 2")
    let found = try faults()
    #expect(found.count == 1)
    #expect(
      found[0].hasPrefix(
        "step 2 of the undo history of scope \"main\" is damaged"))
    let again = try open(path, token: tokenStorage)
    #expect(again.title == "Cheese" && again.undoName == "Cheese")
    #expect(try again.undo() == .nothing)
    #expect(try again.redo() == .nothing)
    #expect(again.title == "Cheese" && again.undoName == nil)
    #expect(try count("count(*)") == 0)
    #expect(try faults() == [])
    try again.rename("Ham")
    let third = try open(path, token: tokenStorage)
    #expect(third.undoName == "Ham")
    try third.undo()
    #expect(third.title == "Cheese")
  }

  @Test(arguments: [
    "device = x'01'", "n = 0", "name = x'ff'", "device = x''",
    "(device, n) = (SELECT device, n FROM rejoin_undo WHERE step = 3)",
  ])
  func rowWithoutSaveEmptiesHistoryAtOpening(_ damage: String) throws {
    let scope = try open(path, token: tokenStorage)
    for title in ["Milk", "Bread", "Cheese"] { try scope.rename(title) }
    try run("UPDATE rejoin_undo SET \(damage) WHERE step = 2")
    #expect(try faults().count == 1)
    let again = try open(path, token: tokenStorage)
    #expect(again.title == "Cheese" && again.undoName == nil)
    #expect(again.replica.undoHistory == UndoHistory())
    try again.rename("Ham")
    #expect(try count("count(*)") == 1)
    let third = try open(path, token: tokenStorage)
    try third.undo()
    #expect(third.title == "Cheese")
  }

  /// The save of the same call does not need the damaged row.
  @Test func newSaveOutlivesDamage() throws {
    let scope = try open(path, token: tokenStorage)
    for title in ["Milk", "Bread"] { try scope.rename(title) }
    try run("UPDATE rejoin_undo SET row_check = 0 WHERE step = 1")
    let again = try open(path, token: tokenStorage)
    try again.update { replica in
      try replica.save(undoable: "Ham") { $0[Note.self, "1"].title = "Ham" }
      try replica.undo()
    }
    #expect(again.title == "Bread")
    #expect(again.undoName == nil && again.redoName == "Ham")
    #expect(try count("count(*)") == 1)
  }

  @Test func stepOfOtherVersionIsDropped() throws {
    let scope = try open(path, token: tokenStorage)
    for title in ["Milk", "Bread"] { try scope.rename(title) }
    let connection = try SQLiteConnection(opening: path)
    var body: [UInt8] = []
    try connection.run("SELECT body FROM rejoin_undo WHERE step = 1", []) {
      body = $0.bytes(0)
    }
    body[2] += 1
    let sum = Array(body.dropLast(4)).withUnsafeBytes(WireChecksum.of)
    body.removeLast(4)
    body += (0..<4).map { UInt8(truncatingIfNeeded: sum >> UInt32(8 * $0)) }
    let row = UndoRow(
      number: 1, save: .init(dot: Dot(DeviceID(1), 1), name: "Milk"),
      isUndone: false, byteCount: body.count)
    try connection.run(
      "UPDATE rejoin_undo SET body = $1, row_check = $2 WHERE step = 1",
      .bytes(body), .integer(row.check(of: body, in: 1)))
    connection.close()
    #expect(try faults() == [])
    let again = try open(path, token: tokenStorage)
    #expect(try again.undo() == .nothing && again.title == "Bread")
    try again.rename("Cheese")
    #expect(try open(path, token: tokenStorage).undoName == "Cheese")
    #expect(try count("count(*)") == 1)
  }

  @Test func tableOfEarlierLayoutIsReplaced() throws {
    try open(path, token: tokenStorage).rename("Milk")
    try run("DROP TABLE rejoin_undo")
    try run(
      """
      CREATE TABLE rejoin_undo (
        step INTEGER PRIMARY KEY, scope INTEGER NOT NULL,
        undone INTEGER NOT NULL, body BLOB NOT NULL, row_check INTEGER NOT NULL)
      """)
    try run("INSERT INTO rejoin_undo VALUES (1, 1, 0, x'7b7d', 1)")
    #expect(try faults() == [])
    let scope = try open(path, token: tokenStorage)
    #expect(scope.title == "Milk" && scope.undoName == nil)
    #expect(try scope.undo() == .nothing)
    try scope.rename("Bread")
    let again = try open(path, token: tokenStorage)
    try again.undo()
    #expect(again.title == "Milk")
  }

  @Test func summaryStillThrowsForOtherDamage() throws {
    try open(path, token: tokenStorage).rename("Milk")
    #expect(try faults() == [])
    try run("UPDATE rejoin_undo SET row_check = 0")
    #expect(try faults().count == 1)
    try run("UPDATE rejoin_device SET row_check = row_check + 1")
    #expect(throws: StoreError.self) { try faults() }
  }

  @Test func namesDistinguishNoneAndEmpty() throws {
    let scope = try open(path, token: tokenStorage)
    try scope.rename("")
    try scope.update { replica in
      let report = try replica.save { transaction in
        transaction.isUndoable = true
        transaction[Note.self, "1"].title = "Milk"
      }
      let step = try #require(report.undo)
      let done = replica.undoHistory.done.saves
      replica.undoHistory = UndoHistory(done: done + [step], undone: [])
    }
    let again = try open(path, token: tokenStorage)
    #expect(again.replica.undoHistory == scope.replica.undoHistory)
    #expect(
      again.replica.undoHistory.done.saves.map(\.name) == ["", nil])
  }
}
