// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinStore
import Testing

@Suite class UsingAStoreWithGRDBArticle: StoreSuite {
  /// Stands for GRDB's types, which this package does not depend on.
  struct Table: Hashable {
    let name: String
    init(_ name: String) { self.name = name }
  }

  final class Database {
    private(set) var notified: [Table] = []
    func notifyChanges(in table: Table) throws { notified.append(table) }
  }

  actor DatabasePool {
    private let database = Database()
    var notified: [Table] { database.notified }
    func write(_ body: @Sendable (Database) throws -> Void) throws {
      try body(database)
    }
  }

  @Test func article() async throws {
    let path = folder.path + "/notes.sqlite"
    let connection = try SQLiteConnection(opening: path)
    try connection.run(
      "CREATE VIRTUAL TABLE IF NOT EXISTS search USING fts5(key UNINDEXED, title)"
    )
    connection.close()

    let store = try await ReplicaStore(at: path, schema: [Note.self])

    let other = Replica(
      device: .random(), schema: [Note.self], wallClock: .system,
      makeDeviceID: DeviceID.random)
    try other.save { $0[Note.self, "2"].title = "Whole milk" }
    let received = try #require(other.delta())
    let pool = DatabasePool()
    let follower = Task { [store] in
      for try await _ in await store.changes {
        try await pool.write { try $0.notifyChanges(in: Table("search")) }
      }
    }
    // The first element is the list of records.
    while await pool.notified.isEmpty { await Task.yield() }

    try await store.save(writing: index) {
      $0[Note.self, "1"].title = "Oat milk"
    }
    try await store.apply(received, writing: index)
    while await pool.notified.count < 2 { await Task.yield() }
    follower.cancel()

    let reader = try SQLiteConnection(opening: path, .reading)
    func found() throws -> [String] {
      var keys: [String] = []
      try reader.run(
        "SELECT key FROM search WHERE search MATCH $1 ORDER BY rank",
        [.text("milk")]
      ) { row in
        keys.append(row.text(0) ?? "")
      }
      #expect(keys == ["1", "2"])
      return keys
    }
    #expect(try found().count == 2)

    // The table is lost, and filled again.
    let writer = try SQLiteConnection(opening: path)
    try writer.run("DELETE FROM search")
    writer.close()
    let notes = await store.read { $0.records(of: Note.self) }
    try await store.withReplica(
      writing: { connection, _ in
        try connection.run("DELETE FROM search")
        for note in notes {
          guard let title = note.title else { continue }
          try connection.run(
            "INSERT INTO search VALUES ($1, $2)", .text(note.id), .text(title))
        }
      }, { _ in })
    #expect(try found().count == 2)
  }
}
