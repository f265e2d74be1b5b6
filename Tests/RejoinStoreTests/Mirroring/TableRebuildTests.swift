// SPDX-License-Identifier: Apache-2.0

import RejoinPolicies
import RejoinSQL
import RejoinTesting
import Testing

@testable import RejoinStore

/// Tables that are built again.
@Suite final class TableRebuildTests: TableSuite {
  @Test func everyChangeWritesTable() async throws {
    let store = try await store()
    nonisolated(unsafe) let peer = Replica(
      device: DeviceID(8), schema: [Note.self],
      wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(9) })
    try await store.save(undoable: "a") { $0[Note.self, "1"].title = "Milk" }
    try await expectTitles(store)
    try await store.undo()
    try await expectTitles(store)
    try await store.redo()
    try await expectTitles(store)
    try peer.save { transaction in
      for key in ["2", "3"] { transaction[Note.self, key].title = key }
    }
    try await store.apply(#require(peer.delta()))
    try await expectTitles(store)
    var draft = await store.read { $0.draft(of: Note.self, key: "4") }
    draft.title = "draft"
    try await store.commit(draft)
    try await expectTitles(store)
    try await store.withReplica { replica in
      _ = try replica.importRows { $0[Note.self, "5"].title = "imported" }
      _ = try replica.importRows(from: "server", modifiedAt: 1) {
        $0[Note.self, "6"].title = "pulled"
      }
    }
    try await expectTitles(store)
    try await store.save { transaction in
      for key in ["1", "2"] { transaction[Note.self, key].delete() }
    }
    try await expectTitles(store)
    try await store.withReplica { replica in
      for _ in 0..<2 {
        peer.merge(replica)
        replica.recordVersion(peer.version, of: peer.device)
        try replica.purgeDeletedRecords()
      }
    }
    try await expectTitles(store)
    #expect(try count("notes") == 4)
    let bytes = try #require(peer.delta()).encoded()
    try await store.apply(decoding: bytes)
    try await expectTitles(store)
    try await store.close()
    #expect(try await self.store().rebuiltTables.isEmpty)
  }

  @Test func openingRebuildsChangedTable() async throws {
    var store = try await store()
    #expect(await store.rebuiltTables == ["notes"])
    try await store.save { transaction in
      transaction[Note.self, "1"].title = "Milk"
      transaction[Note.self, "2"].title = "caf\u{e9}"
    }
    try run("CREATE INDEX by_title ON notes (title)")
    func reopen(_ tables: [RecordTable] = [notesTable]) async throws -> [String]
    {
      try await store.close()
      store = try await self.store(tables)
      try await expectTitles(store)
      return await store.rebuiltTables
    }
    #expect(try await reopen() == [])
    #expect(try count("sqlite_master WHERE name = 'by_title'") == 1)
    // The declaration changes.
    let other = RecordTable(of: Note.self, "notes") {
      $0.column("title", \.title)
    }
    #expect(try await reopen([other]) == ["notes"])
    #expect(try count("sqlite_master WHERE name = 'by_title'") == 0)
    #expect(try await reopen() == ["notes"])
    #expect(try await reopen() == [])
    // The app changes or loses the table.
    for statement in [
      "DROP TABLE notes", "DELETE FROM notes", "ALTER TABLE notes ADD x",
      "ALTER TABLE notes RENAME TO lost", "UPDATE notes SET views = 1.0",
      "UPDATE notes SET id = 'x' WHERE id = '1'",
      "INSERT INTO notes (id) VALUES ('x')",
      "UPDATE notes SET title = CAST(x'FF' AS TEXT)",
      // The text is equal in Swift, and has other bytes.
      "UPDATE notes SET title = 'cafe' || char(769) WHERE id = '2'",
    ] {
      try run(statement)
      #expect(try await reopen() == ["notes"], "\(statement)")
      #expect(try await reopen() == [])
    }
  }

  /// A store without the declaration changes records without the table.
  @Test func openingRebuildsTableAfterOtherStore() async throws {
    let second = RecordTable(of: Note.self, "second") {
      $0.column("title", \.title)
    }
    var store = try await store([table, second])
    for tables in [[], [second], [table]] {
      try await store.close()
      store = try await self.store(tables)
      try await store.save {
        $0[Note.self, "1"].title = "\(tables.map(\.name))"
      }
      try await store.close()
      store = try await self.store([table, second])
      let missing = ["notes", "second"].filter { name in
        !tables.contains { $0.name == name }
      }
      #expect(await store.rebuiltTables == missing)
      try await expectTitles(store)
      try await expectTitles(store, in: "second")
    }
    // The superseded store writes neither records nor tables.
    let later = try await self.store([table, second])
    await #expect(throws: StoreError.superseded) {
      try await store.save { $0[Note.self, "9"].title = "lost" }
    }
    try await expectTitles(later)
  }

  /// A new version of the app knows another case, and deletes in another way.
  @Test func openingRebuildsTableIfReadingChanged() async throws {
    enum First: String, FieldValue { case low }
    enum Second: String, FieldValue { case low, high }
    struct FirstTask: Entity {
      static let entityName = "Task"
      let level = register("level", of: First.self)
    }
    struct SecondTask: Entity {
      static let entityName = "Task"
      let deletions = DeletionRule.deleteWins
      let level = register("level", of: Second.self)
    }
    func open<E: Entity>(
      _ entity: E.Type, _ table: RecordTable
    ) async throws -> ReplicaStore {
      try await ReplicaStore(
        at: path, schema: [entity], tables: [table], token: tokenStorage)
    }
    let first = try await open(
      FirstTask.self,
      RecordTable(of: FirstTask.self, "tasks") { $0.column("level", \.level) })
    let level = FieldKey("level", .register)
    try await first.save {
      $0.apply(.write("high"), to: level, of: RecordID("Task", "1"))
    }
    #expect(try count("tasks WHERE level IS NULL") == 1)
    try await first.close()
    let table = RecordTable(of: SecondTask.self, "tasks") {
      $0.column("level", \.level)
    }
    let second = try await open(SecondTask.self, table)
    #expect(await second.rebuiltTables == ["tasks"])
    #expect(try count("tasks WHERE level = 'high'") == 1)
    try await second.close()
    #expect(try await open(SecondTask.self, table).rebuiltTables == [])
  }

  @Test func damagedTableIsRebuilt() async throws {
    var store = try await store()
    try await store.save { transaction in
      for i in 0..<2000 { transaction[Note.self, "\(i)"].title = "\(i)" }
    }
    for isOpen in [false, true] {
      try await store.close()
      let connection = try SQLiteConnection(opening: path)
      let size = try #require(try connection.integer("PRAGMA page_size"))
      let root = try #require(
        try connection.integer(
          "SELECT rootpage FROM sqlite_master WHERE name = 'notes'"))
      connection.close()
      if isOpen {
        store = try await self.store()
        _ = try await store.setting("shrink_memory")
      }
      let file = try FileHandle(
        forUpdating: URL(fileURLWithPath: path))
      try file.seek(toOffset: UInt64((root - 1) * size))
      try file.write(contentsOf: Data(repeating: 0xa5, count: Int(size)))
      try file.close()
      if !isOpen { store = try await self.store() }
      try await store.save { $0[Note.self, "7"].title = "seven" }
      try await expectTitles(store)
      #expect(await store.rebuiltTables == ["notes"])
    }
  }

  /// A page of the table is a copy of a page of the records.
  @Test func rebuildOfDamagedTableKeepsRecords() async throws {
    var store = try await store()
    try await store.save { transaction in
      for i in 0..<2000 { transaction[Note.self, "\(i)"].title = "\(i)" }
    }
    try await store.close()
    let connection = try SQLiteConnection(opening: path)
    let size = try #require(try connection.integer("PRAGMA page_size"))
    func root(_ name: String) throws -> Int64 {
      try #require(
        try connection.integer(
          "SELECT rootpage FROM sqlite_master WHERE name = $1", .text(name)))
    }
    let (from, to) = (
      try root("sqlite_autoindex_rejoin_record_1"), try root("notes")
    )
    connection.close()
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    try file.seek(toOffset: UInt64((from - 1) * size))
    let page = try #require(try file.read(upToCount: Int(size)))
    try file.seek(toOffset: UInt64((to - 1) * size))
    try file.write(contentsOf: page)
    try file.close()
    store = try await self.store()
    #expect(await store.rebuiltTables == ["notes"])
    for i in 0..<100 {
      try await store.save { $0[Note.self, "new \(i)"].title = "\(i)" }
    }
    try await expectTitles(store)
    try await store.close()
    store = try await self.store()
    #expect(await store.rebuiltTables == [])
    #expect(await store.read { $0.recordCount(of: Note.self) } == 2100)
  }

  /// The closure creates the indexes of a damaged table again.
  @Test func indexesOfDamagedTableAreDropped() async throws {
    let writer = SwitchedWriter { connection, changes in
      if changes.isRebuild {
        try connection.run("CREATE INDEX by_title ON notes (title)")
        try connection.run(
          "CREATE TRIGGER seen AFTER DELETE ON notes BEGIN SELECT 1; END")
      }
    }
    var store = try await store(writing: writer.write)
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    try await store.close()
    try damageTable()
    store = try await self.store(writing: writer.write)
    #expect(await store.rebuiltTables == ["notes"])
    #expect(
      try count("sqlite_master WHERE name = 'by_title' AND tbl_name = 'notes'")
        == 1)
    try damageTable()
    // The damaged table stays, because SQLite cannot drop it.
    try await self.store([]).deleteScope()
  }

  private func damageTable() throws {
    let connection = try SQLiteConnection(opening: path)
    try connection.run("PRAGMA wal_checkpoint(TRUNCATE)")
    let size = try #require(try connection.integer("PRAGMA page_size"))
    let root = try #require(
      try connection.integer(
        "SELECT rootpage FROM sqlite_master WHERE name = 'notes'"))
    connection.close()
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    try file.seek(toOffset: UInt64((root - 1) * size))
    try file.write(contentsOf: Data(repeating: 0xa5, count: Int(size)))
    try file.close()
  }

  @Test func rowsOfOtherEncodingAreEqual() async throws {
    try run("PRAGMA encoding = 'UTF-16le'", "CREATE TABLE app (x)")
    var store = try await store()
    try await store.save { transaction in
      for key in ["a", "é", "Ā", "Ａ", "😀"] {
        transaction[Note.self, key].title = key
      }
    }
    try await store.close()
    store = try await self.store()
    #expect(await store.rebuiltTables == [])
  }

  @Test func missingTableIsRebuiltBySave() async throws {
    let store = try await store()
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    for statement in [
      "DROP TABLE notes", "ALTER TABLE notes RENAME title TO x",
    ] {
      try run(statement)
      try await store.save { $0[Note.self, "2"].title = statement }
      try await expectTitles(store)
    }
    #expect(await store.rebuiltTables == ["notes"])
  }

  @Test func fullDiskLeavesRecordsAndTable() async throws {
    let store = try await store()
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    let pages = try #require(try await store.setting("page_count"))
    _ = try await store.setting("max_page_count = \(pages + 2)")
    await #expect(throws: StoreError.self) {
      try await store.save { transaction in
        for i in 0..<1000 { transaction[Note.self, "\(i)"].title = "new" }
      }
    }
    try await expectTitles(store)
    _ = try await store.setting("max_page_count = 100000")
    try await store.save { $0[Note.self, "2"].title = "Bread" }
    try await expectTitles(store)
  }

  @Test func deletedScopeLeavesNoTable() async throws {
    let store = try await store()
    let token = TestTokenStorage()
    let other = try await self.store(
      [RecordTable(of: Note.self, "others") { $0.column("title", \.title) }],
      scope: "other", token: token)
    for each in [store, other] {
      try await each.save { $0[Note.self, "1"].title = "a long secret" }
    }
    try await store.deleteScope()
    #expect(try count("sqlite_master WHERE name = 'notes'") == 0)
    try await expectTitles(other, in: "others")
  }

  @Test func backupContainsTable() async throws {
    let store = try await store()
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    let backup = folder.file("backup.sqlite")
    try await store.backup(to: backup)
    let again = try await ReplicaStore(
      at: backup, schema: [Note.self], tables: [table])
    #expect(await again.rebuiltTables.isEmpty)
    #expect(
      try SQLiteConnection(opening: backup).integer(
        "SELECT count(*) FROM notes WHERE title = 'Milk'") == 1)
  }

  @Test func tableChangesNameChangedTables() async throws {
    let store = try await store([
      table, RecordTable(of: Note.self, "also") { _ in },
    ])
    var changes = store.tableChanges.makeAsyncIterator()
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    #expect(try await changes.next() == ["also", "notes"])
    try await store.withReplica { try $0.enroll(DeviceID(3), name: "Tablet") }
    try await store.close()
    await #expect(throws: StoreError.closed) { _ = try await changes.next() }
  }
}
