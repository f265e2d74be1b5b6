// SPDX-License-Identifier: Apache-2.0

import RejoinPolicies
import RejoinSQL
import RejoinTesting
import Testing

@testable import RejoinStore

/// The closure that writes tables of the app.
@Suite final class TableClosureTests: TableSuite {
  /// A closure that lists its calls.
  private final class Calls: @unchecked Sendable {
    // Each test uses it on one thread at a time.
    var list: [String] = []

    var write: TableWriter {
      { _, changes in
        let keys = changes.all.map(\.id.key).joined(separator: ",")
        self.list.append((changes.isRebuild ? "all " : "") + keys)
      }
    }

    func take() -> [String] {
      defer { list = [] }
      return list
    }
  }

  @Test func closureGetsEveryChange() async throws {
    let calls = Calls()
    var store = try await store([], writing: calls.write)
    #expect(calls.take() == ["all "])
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    try await store.save { _ in }
    #expect(calls.take() == ["1"])
    try await store.close()
    store = try await self.store([], writing: calls.write)
    #expect(calls.take() == [])
    // A store without the closure.
    try await store.close()
    store = try await self.store([])
    try await store.save { $0[Note.self, "2"].title = "Bread" }
    try await store.save { $0[Note.self, "1"].delete() }
    try await store.close()
    store = try await self.store([], writing: calls.write)
    #expect(calls.take() == ["all 2"])
    try await store.rebuildTables()
    #expect(calls.take() == ["all 2"])
    // A new table is a rebuild.
    try await store.close()
    store = try await self.store(writing: calls.write)
    #expect(calls.take() == ["all 2"])
    try run("DROP TABLE notes")
    try await store.save { $0[Note.self, "3"].title = "Tea" }
    #expect(calls.take() == ["all 2,3"])
    try await expectTitles(store)
  }

  @Test func closureOwnsIndexesButNoRows() async throws {
    let writer = SwitchedWriter { connection, changes in
      if changes.isRebuild {
        try connection.run("CREATE INDEX by_title ON notes (title)")
        try connection.run(
          """
          CREATE TRIGGER seen AFTER DELETE ON notes BEGIN
            SELECT 1; END
          """)
      }
    }
    let store = try await store(writing: writer.write)
    #expect(try count("sqlite_master WHERE tbl_name = 'notes'") == 3)
    for statement in [
      "DELETE FROM notes", "UPDATE Notes SET title = ''", "DROP TABLE notes",
      "INSERT INTO notes (id) VALUES ('x')", "ALTER TABLE notes ADD x",
      "CREATE INDEX x ON rejoin_record (body)",
    ] {
      writer.current = { connection, _ in try connection.run(statement) }
      let error = await #expect(throws: SQLError.self) {
        try await store.save { $0[Note.self, "1"].title = "Milk" }
      }
      #expect(error?.code == .misused, "\(statement)")
    }
    writer.current = { connection, _ in
      try connection.run("DROP INDEX by_title")
      let rows = try connection.integer("SELECT count(*) FROM notes")
      #expect(rows == 1)
    }
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    try await expectTitles(store)
  }

  /// The closure is called again if opening failed after it.
  @Test func closureThatEndsTransactionKeepsStoreClosed() async throws {
    let calls = Calls()
    try await store([], writing: calls.write).close()
    try await store([]).close()
    let writer = SwitchedWriter { connection, _ in
      try connection.run("CREATE TABLE u (x UNIQUE)")
      try connection.run("INSERT INTO u VALUES (1)")
      try? connection.run("INSERT OR ROLLBACK INTO u VALUES (1)")
    }
    await #expect(throws: StoreError.self) {
      try await self.store([], writing: writer.write)
    }
    try await store([]).save { $0[Note.self, "2"].title = "Bread" }
    _ = calls.take()
    _ = try await store([], writing: calls.write)
    #expect(calls.take() == ["all 2"])
  }

  @Test func throwingClosureKeepsStoreClosed() async throws {
    try await store([]).save { $0[Note.self, "1"].title = "Milk" }
    let writer = SwitchedWriter()
    writer.refuse()
    let error = await #expect(throws: StoreError.self) {
      try await self.store(writing: writer.write)
    }
    guard case .tablesNotWritten? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try count("sqlite_master WHERE name = 'notes'") == 0)
    writer.current = { connection, _ in try connection.run("nonsense") }
    await #expect(throws: StoreError.self) {
      try await self.store(writing: writer.write)
    }
    writer.current = nil
    let store = try await store(writing: writer.write)
    #expect(await store.rebuiltTables == ["notes"])
    writer.refuse()
    await #expect(throws: Refused.self) { try await store.rebuildTables() }
    try await expectTitles(store)
  }

  @Test func storeInMemoryHasTables() async throws {
    let writer = SwitchedWriter()
    let store = try await ReplicaStore.inMemory(
      schema: [Note.self], tables: [table], writing: writer.write)
    writer.current = { connection, _ in
      let count = try connection.integer("SELECT count(*) FROM notes")
      #expect(count == 1)
    }
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    #expect(await store.rebuiltTables == ["notes"])
  }

  /// The first change of a store that was opened for reading builds the table
  /// again, which another store left as it was.
  @Test func lateWriterRebuildsTable() async throws {
    for (tables, title) in [([table], "Milk"), ([], "Oat milk")] {
      let store = try await store(tables)
      try await store.save { $0[Note.self, "1"].title = title }
      try await store.close()
    }
    // SQLite follows no link.
    try FileManager.default.createSymbolicLink(
      atPath: path + "-shm", withDestinationPath: "missing")
    let late = try await store()
    #expect(await late.writeError != nil)
    #expect(await late.rebuiltTables == [])
    try FileManager.default.removeItem(atPath: path + "-shm")
    try await late.save { $0[Note.self, "2"].title = "Bread" }
    #expect(await late.rebuiltTables == ["notes"])
    try await expectTitles(late)
    try await late.close()
    #expect(try await store().rebuiltTables == [])
  }
}
