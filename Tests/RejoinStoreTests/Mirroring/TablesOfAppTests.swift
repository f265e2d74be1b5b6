// SPDX-License-Identifier: Apache-2.0

import RejoinPolicies
import RejoinSQL
import RejoinTesting
import Testing

@testable import RejoinStore

/// Names, tables, indexes and triggers of the app next to derived tables.
@Suite final class TablesOfAppTests: TableSuite {
  /// The app takes the name of a table while the store is open.
  @Test(arguments: [
    "CREATE TABLE notes (mine)",
    "CREATE TABLE notes (id TEXT PRIMARY KEY, title, views)",
    "CREATE VIEW notes AS SELECT 1 AS id, '/* Rejoin derives this' AS title",
  ])
  func tableOfAppIsNeverChanged(_ statement: String) async throws {
    let store = try await store()
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    try run("DROP TABLE notes", statement)
    if statement.contains("mine") { try run("INSERT INTO notes VALUES (1)") }
    let before = try count("notes")
    for rebuilds in [false, true] {
      let error = await #expect(throws: StoreError.self) {
        if rebuilds {
          try await store.rebuildTables()
        } else {
          try await store.save { $0[Note.self, "2"].title = "Bread" }
        }
      }
      guard case .invalidTable("notes", _)? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
    #expect(try count("notes") == before)
    #expect(await store.read { $0.recordCount(of: Note.self) } == 1)
  }

  @Test func triggerWithNameOfTableIsIgnored() async throws {
    try await store().close()
    try run(
      "CREATE TABLE app (x)",
      "CREATE TRIGGER notes AFTER INSERT ON app BEGIN SELECT 1; END")
    #expect(try await store().rebuiltTables == [])
  }

  @Test func triggerCannotChangeRecords() async throws {
    let store = try await store()
    try run(
      """
      CREATE TRIGGER gone AFTER INSERT ON notes BEGIN
        DELETE FROM rejoin_record; END
      """)
    let error = await #expect(throws: StoreError.self) {
      try await store.save { $0[Note.self, "1"].title = "Milk" }
    }
    guard case .tablesNotWritten? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    try run("DROP TRIGGER gone")
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    try await expectTitles(store)
  }

  @Test(arguments: [1_999, 2_000])
  func tableCanHaveManyColumns(_ number: Int) async throws {
    let wide = RecordTable(of: Note.self, "wide") {
      for i in 0..<number { $0.column("c\(i)", \.title) }
    }
    guard number < 2_000 else {
      await #expect(
        throws: StoreError.invalidTable(
          "wide", reason: "it has more than 1,999 columns")
      ) { try await self.store([wide]) }
      return
    }
    let store = try await store([wide])
    for title in ["Milk", "Bread"] {
      try await store.save { $0[Note.self, "1"].title = title }
      #expect(try count("wide WHERE c1998 = '\(title)'") == 1)
    }
  }

  @Test(arguments: [
    "rejoin_x", "SQLITE_X", "", "a b", "1a", "a\"b", "é", "mine", "MINE",
    "by_a", "seen", "theirs",
  ])
  func openingRejectsTableName(_ name: String) async throws {
    let first = try await store()
    try await first.save { $0[Note.self, "1"].title = "Milk" }
    try await first.close()
    try run(
      "CREATE TABLE mine (a)", "CREATE INDEX by_a ON mine (a)",
      "CREATE VIEW seen AS SELECT 1")
    let token = TestTokenStorage()
    let theirs = try await store(
      [RecordTable(of: Note.self, "theirs") { _ in }], scope: "other",
      token: token)
    try await theirs.close()
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    let error = await #expect(throws: StoreError.self) {
      try await self.store([table, RecordTable(of: Note.self, name) { _ in }])
    }
    guard case .invalidTable(name, _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    #expect(try await store().rebuiltTables.isEmpty)
  }

  @Test(arguments: ["id", "ID", "title", "", "a-b"])
  func openingRejectsColumnName(_ name: String) async throws {
    let table = RecordTable(of: Note.self, "notes") {
      $0.column("title", \.title)
      $0.column(name, \.views)
    }
    let error = await #expect(throws: StoreError.self) {
      try await self.store([table])
    }
    guard case .invalidTable("notes", _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func equalTableNamesAreRejected() async throws {
    await #expect(
      throws: StoreError.invalidTable("NOTES", reason: "the name is used twice")
    ) {
      try await self.store([
        table, RecordTable(of: Note.self, "NOTES") { _ in },
      ])
    }
  }

  @Test func refusedRowUndoesChange() async throws {
    let store = try await store()
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    for statement in [
      "CREATE UNIQUE INDEX once ON notes (title)",
      """
      CREATE TRIGGER once BEFORE INSERT ON notes BEGIN
        SELECT RAISE(ABORT, 'no (more)'); END
      """,
    ] {
      try run(statement)
      let error = await #expect(throws: StoreError.self) {
        try await store.save { $0[Note.self, "2"].title = "Milk" }
      }
      guard case .tablesNotWritten(let why)? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(why.hasPrefix("\"notes\": SQLite: ") && !why.contains("VALUES"))
      #expect(await store.read { $0[Note.self, "2"] == nil })
      try await expectTitles(store)
      try run(
        "DROP \(statement.contains("INDEX once") ? "INDEX" : "TRIGGER") once")
    }
    #expect(await store.rebuiltTables == ["notes"])
    try await store.save { $0[Note.self, "2"].title = "Milk" }
    try await expectTitles(store)
  }
}
