// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing

@testable import RejoinSQL
@testable import RejoinStore

/// The app's own statements in the transaction of a change.
@Suite final class StatementTests: StoreSuite {
  private let writer = SwitchedWriter()

  private func store() async throws -> ReplicaStore {
    let store = try await ReplicaStore(
      at: path, schema: [Note.self], writing: writer.write,
      wallClock: ManualClock().wallClock)
    try SQLiteConnection(opening: path).run(
      "CREATE TABLE IF NOT EXISTS search (key TEXT PRIMARY KEY, title TEXT)")
    return store
  }

  /// Keeps the table consistent with the titles of the notes.
  @Sendable private static func index(
    _ connection: any SQLConnection, _ changes: RecordChanges
  ) throws {
    for note in changes.changes(to: Note.self) {
      if let new = note.new {
        try connection.run(
          "REPLACE INTO search VALUES ($1, $2)", .text(note.key),
          new.title.map { .text($0) } ?? .null)
      } else {
        try connection.run(
          "DELETE FROM search WHERE key = $1", .text(note.key))
      }
    }
  }

  private func rows() throws -> [String: String?] {
    var rows: [String: String?] = [:]
    try SQLiteConnection(opening: path).run(
      "SELECT key, title FROM search", []
    ) { row in rows[row.text(0) ?? "no text"] = row.text(1) }
    return rows
  }

  private func expectMisused(
    _ sql: String, _ values: [SQLValue] = [],
    on connection: any SQLConnection
  ) {
    let error = #expect(throws: SQLError.self) {
      try connection.run(sql, values) { _ in }
    }
    #expect(error?.code == .misused && error?.message.contains(sql) == true)
  }

  @Test func statementRequiresValueForEachPlace() throws {
    let connection = try SQLiteConnection(opening: path)
    try connection.run("CREATE TABLE note (title TEXT, body TEXT)")
    let insert = "INSERT INTO note VALUES ($1, $2)"
    try connection.run(insert, .text("Milk"), .text("2 l"))
    expectMisused(insert, [.text("Bread")], on: connection)
    expectMisused(insert, [.null, .null, .null], on: connection)
    #expect(try connection.integer("SELECT count(*) FROM note") == 1)
  }

  @Test func runRejectsTwoStatementsInOneText() throws {
    let connection = try SQLiteConnection(opening: path)
    try connection.run("CREATE TABLE note (title TEXT);")
    try connection.run("INSERT INTO note VALUES ('1'); -- and no more\n ")
    for end in ["; INSERT INTO note VALUES ('2')", "; nonsense", "\0; x"] {
      let error = #expect(throws: SQLError.self) {
        try connection.run("INSERT INTO note VALUES ('1')" + end)
      }
      #expect(error?.code == .misused)
    }
    #expect(try connection.integer("SELECT count(*) FROM note") == 1)
  }

  @Test func readingReturnsWrittenValues() throws {
    let connection = try SQLiteConnection(opening: path)
    try connection.run("CREATE TABLE note (a, b, c, d, e)")
    let values: [SQLValue] = [
      .text("Bread\0\u{301}"), .double(1.5), .null, .integer(-7),
      .bytes([0, 1]),
    ]
    try connection.run("INSERT INTO note VALUES ($1, $2, $3, $4, $5)", values) {
      _ in
    }
    try connection.run("SELECT * FROM note", []) { row in
      #expect((0..<5).map { row.value($0) } == values)
      #expect(row.text(0) == "Bread\0\u{301}" && row.text(1) == nil)
      #expect(row.double(1) == 1.5 && row.double(3) == -7)
      #expect(row.double(0) == nil && row.integer(2) == 0)
    }
    try connection.run("DELETE FROM note")
    try connection.run(
      "INSERT INTO note VALUES ($1, 1, 1, 1, 1)", .text("Bread"))
    #expect(
      try connection.integer("SELECT count(*) FROM note WHERE a = 'Bread'")
        == 1)
    try connection.run("UPDATE note SET a = $1", .text(""))
    #expect(
      try connection.integer("SELECT count(*) FROM note WHERE a = ''") == 1)
  }

  @Test(arguments: [
    "COMMIT", "END", "ROLLBACK", "BEGIN", "SAVEPOINT a", "RELEASE a",
    "ROLLBACK TO a", "ATTACH 'other' AS other", "DETACH main",
    "PRAGMA synchronous = OFF", "DELETE FROM rejoin_record",
    "UPDATE rejoin_scope SET writer = 7", "DROP TABLE rejoin_device",
    "ALTER TABLE rejoin_scope RENAME TO lost",
    "CREATE TRIGGER t AFTER UPDATE ON REJOIN_SCOPE BEGIN SELECT 1; END",
  ])
  func storeRejectsStatementThatBreaksTransaction(_ sql: String) async throws {
    let store = try await store()
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    // The store itself ran some of these statements.
    writer.current = { connection, changes in
      let error = #expect(throws: SQLError.self) { try connection.run(sql) }
      #expect(error?.code == .misused)
      #expect(error?.message.contains(sql) == true)
      try StatementTests.index(connection, changes)
    }
    try await store.save { $0[Note.self, "1"].title = "Bread" }
    writer.current = nil
    #expect(try rows() == ["1": "Bread"])
    #expect(await store.read { $0[Note.self, "1"]?.title } == "Bread")
    try await store.close()
    let again = try await self.store()
    #expect(await again.read { $0[Note.self, "1"]?.title } == "Bread")
  }

  /// If SQLite ends a transaction, the store must not write outside of it.
  @Test func endedTransactionUndoesSave() async throws {
    let store = try await store()
    writer.current = StatementTests.index
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    writer.current = { connection, _ in
      try? connection.run("INSERT OR ROLLBACK INTO search VALUES ('1', '')")
    }
    await #expect(throws: StoreError.self) {
      try await store.save { $0[Note.self, "1"].title = "Bread" }
    }
    #expect(await store.read { $0[Note.self, "1"]?.title } == "Milk")
    #expect(try rows() == ["1": "Milk"])
    writer.current = StatementTests.index
    try await store.save { $0[Note.self, "1"].title = "Bread" }
    #expect(try rows() == ["1": "Bread"])
  }

  @Test func appTableCanHaveAnyOtherName() async throws {
    let first = try await store()
    try await first.save { $0[Note.self, "1"].title = "Milk" }
    try SQLiteConnection(opening: path).run("CREATE TABLE rejoinder (a)")
    try SQLiteConnection(opening: path).run("CREATE TABLE rejoin_ours (a)")
    let again = try await store()
    #expect(await again.read { $0[Note.self, "1"]?.title } == "Milk")
    writer.current = { connection, _ in
      try connection.run("INSERT INTO rejoinder VALUES (1)")
    }
    try await again.save { $0[Note.self, "1"].title = "Bread" }
  }

  @Test func connectionKeepsFewStatements() throws {
    var statements = SQLiteStatements()
    var dropped = 0
    for i in 1...20_000 {
      guard let statement = OpaquePointer(bitPattern: i) else { continue }
      if statements.keep(statement, of: "SELECT \(i)") != nil { dropped += 1 }
      // A statement that is used repeatedly stays.
      if let first = statements.take("SELECT 1") {
        #expect(statements.keep(first, of: "SELECT 1") == nil)
      }
    }
    #expect(dropped == 19_900)
    #expect(statements.take("SELECT 1") != nil)
    #expect(statements.takeAll().count == 99)
  }

  @Test func statementCanRunWhileItsRowsAreRead() throws {
    let connection = try SQLiteConnection(opening: path)
    try connection.run("CREATE TABLE note (number)")
    for i in 1...3 {
      try connection.run("INSERT INTO note VALUES ($1)", .integer(Int64(i)))
    }
    var pairs = 0
    let select = "SELECT number FROM note"
    try connection.run(select, []) { _ in
      try connection.run(select, []) { _ in pairs += 1 }
    }
    #expect(pairs == 9)
  }

  @Test func everyChangeCanWriteTables() async throws {
    let (store, peer) = (
      try await store(),
      Replica(
        device: DeviceID(8), schema: [Note.self],
        wallClock: ManualClock().wallClock, makeDeviceID: DeviceID.random)
    )
    try peer.save { transaction in
      transaction[Note.self, "1"].title = "Milk"
      transaction[Note.self, "2"].title = "Bread"
    }
    writer.current = StatementTests.index
    try await store.apply(#require(peer.delta()))
    #expect(try rows() == ["1": "Milk", "2": "Bread"])
    try await store.withReplica { replica in
      _ = try replica.save { $0[Note.self, "1"].delete() }
    }
    #expect(try rows() == ["2": "Bread"])
    // The record and the table are written together or not at all.
    let before = peer.version
    try peer.save { $0[Note.self, "2"].title = "Butter" }
    let delta = try #require(peer.delta(since: before))
    writer.current = { connection, changes in
      try StatementTests.index(connection, changes)
      #expect(changes.changes(to: Note.self).map(\.old?.title) == ["Bread"])
      throw Refused()
    }
    await #expect(throws: Refused.self) { try await store.apply(delta) }
    #expect(try rows() == ["2": "Bread"])
    #expect(await store.read { $0[Note.self, "2"]?.title } == "Bread")
    writer.current = StatementTests.index
    try await store.apply(delta)
    #expect(try rows() == ["2": "Butter"])
  }

  @Test func cancelingStopsWaitForLock() async throws {
    let store = try await store()
    let other = try SQLiteConnection(opening: path)
    try other.run("BEGIN IMMEDIATE")
    let waiting = Task {
      try await store.save { $0[Note.self, "1"].title = "Milk" }
    }
    try await Task.sleep(for: .milliseconds(20))
    waiting.cancel()
    // The lock is still held.
    await #expect(throws: StoreError.canceled) { _ = try await waiting.value }
    try other.run("ROLLBACK")
    #expect(await store.read { $0[Note.self, "1"] } == nil)
    try await store.save { $0[Note.self, "1"].title = "Bread" }
    #expect(await store.read { $0[Note.self, "1"]?.title } == "Bread")
  }

  @Test func textSearchFollowsChanges() async throws {
    let store = try await store()
    try SQLiteConnection(opening: path).run(
      "CREATE VIRTUAL TABLE text USING fts5(key UNINDEXED, title)")
    @Sendable func index(
      _ connection: any SQLConnection, _ changes: RecordChanges
    ) throws {
      for change in changes.changes(to: Note.self) {
        try connection.run("DELETE FROM text WHERE key = $1", .text(change.key))
        guard let title = change.new?.title else { continue }
        try connection.run(
          "INSERT INTO text VALUES ($1, $2)", .text(change.key), .text(title))
      }
    }
    writer.current = index
    try await store.save { $0[Note.self, "1"].title = "fresh milk" }
    try await store.save { $0[Note.self, "1"].title = "cold milk" }
    let connection = try SQLiteConnection(opening: path)
    func count(_ word: String) throws -> Int64? {
      try connection.integer(
        "SELECT count(*) FROM text WHERE text MATCH $1", .text(word))
    }
    #expect(try count("milk") == 1)
    #expect(try count("fresh") == 0)
  }

  @Test func statementAfterEndedTransactionIsRefused() async throws {
    let store = try await store()
    writer.current = StatementTests.index
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    writer.current = { connection, _ in
      try? connection.run("INSERT OR ROLLBACK INTO search VALUES ('1', '')")
      try connection.run("INSERT INTO search VALUES ('2', 'alone')")
    }
    await #expect(throws: SQLError.self) {
      try await store.save { $0[Note.self, "1"].title = "Bread" }
    }
    #expect(try rows() == ["1": "Milk"])
    #expect(await store.read { $0[Note.self, "1"]?.title } == "Milk")
  }

  @Test func temporaryTableCannotHideStoreTable() async throws {
    let store = try await store()
    writer.current = { connection, _ in
      try connection.run("CREATE TEMP TABLE x (a)")
      #expect(throws: SQLError.self) {
        try connection.run("ALTER TABLE x RENAME TO rejoin_record")
      }
      #expect(throws: SQLError.self) {
        try connection.run("CREATE TEMP TABLE rejoin_record (a)")
      }
    }
    try await store.save { $0[Note.self, "1"].title = "Milk" }
  }

  @Test func textsWithDifferentBytesAreDifferentStatements() throws {
    let connection = try SQLiteConnection(opening: path)
    try connection.run("CREATE TABLE note (title TEXT)")
    for title in ["caf\u{e9}", "cafe\u{301}"] {
      try connection.run("INSERT INTO note VALUES ('\(title)')")
    }
    #expect(
      try connection.integer("SELECT count(DISTINCT title) FROM note") == 2)
  }
}
