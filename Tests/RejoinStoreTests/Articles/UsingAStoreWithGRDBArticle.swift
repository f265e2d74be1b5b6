// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinStore
import Testing

// Stand for GRDB's types, which this package does not depend on.

private protocol FetchableRecord {
  init(id: String, title: String?, amount: Int)
}

private protocol TableRecord { static var databaseTableName: String { get } }

extension FetchableRecord {
  fileprivate static func fetchAll(
    _ database: Database, sql: String
  ) throws -> [Self] {
    var rows: [Self] = []
    try database.connection.run(sql, []) { row in
      rows.append(
        Self(
          id: row.text(0) ?? "", title: row.text(1),
          amount: Int(row.integer(2))))
    }
    return rows
  }
}

private struct Table: Hashable {
  let name: String
  init(_ name: String) { self.name = name }
}

private final class Database {
  let connection: SQLiteConnection
  private(set) var notified: [Table] = []

  init(_ connection: SQLiteConnection) { self.connection = connection }

  func notifyChanges(in table: Table) throws { notified.append(table) }
}

private struct Configuration: Sendable {
  enum BusyMode { case timeout(Int) }
  var busyMode = BusyMode.timeout(0)
}

private actor DatabasePool {
  private let database: Database
  var notified: [Table] { database.notified }

  init(path: String, configuration: Configuration) throws {
    database = Database(try SQLiteConnection(opening: path))
  }

  func write(_ body: @Sendable (Database) throws -> Void) throws {
    try body(database)
  }

  func read<Value: Sendable>(
    _ body: @Sendable (Database) throws -> Value
  ) throws -> Value {
    try body(database)
  }
}

@Suite class UsingAStoreWithGRDBArticle: StoreSuite {
  struct ShoppingList: Entity { let name = register("name", of: String.self) }

  struct Item: Entity {
    let title = register("title", of: String.self)
    let amount = counter("amount")
    let list = toOne("list", ShoppingList.self)
  }

  fileprivate struct ItemRow: Codable, FetchableRecord, TableRecord {
    static let databaseTableName = "items"
    var id: String
    var title: String?
    var amount: Int
  }

  @Test func tablesAreQueried() async throws {
    let items = RecordTable(of: Item.self, "items") {
      $0.column("title", \.title)
      $0.column("amount", \.amount)
      $0.column("list", \.list)
      $0.conflictCount("conflicts")
    }
    let store = try await ReplicaStore(
      at: path, schema: [Item.self, ShoppingList.self], tables: [items])
    try await store.save { transaction in
      transaction[Item.self, "1"].title = "Oat milk"
      transaction[Item.self, "1"].amount.increment(by: 2)
    }
    let reader = try SQLiteConnection(opening: path, .reading)
    var titles: [String] = []
    try reader.run(
      "SELECT title FROM items WHERE amount > 1 ORDER BY title", []
    ) {
      titles.append($0.text(0) ?? "")
    }
    #expect(titles == ["Oat milk"])

    var configuration = Configuration()
    configuration.busyMode = .timeout(5)
    let pool = try DatabasePool(path: path, configuration: configuration)
    let rows = try await pool.read { database in
      try ItemRow.fetchAll(database, sql: "SELECT * FROM items ORDER BY title")
    }
    #expect(rows.map(\.title) == ["Oat milk"] && rows[0].amount == 2)

    let follower = Task {
      for try await names in store.tableChanges {
        try await pool.write { database in
          for name in names { try database.notifyChanges(in: Table(name)) }
        }
      }
    }
    // An observer that starts after a change does not receive it.
    while await pool.notified.isEmpty {
      try await store.save { $0[Item.self, "1"].amount.increment() }
    }
    #expect(await pool.notified[0] == Table(ItemRow.databaseTableName))
    follower.cancel()

    let connection = try SQLiteConnection(opening: path)
    try connection.run("CREATE INDEX IF NOT EXISTS by_title ON items (title)")
    try await store.close()
    let again = try await ReplicaStore(
      at: path, schema: [Item.self, ShoppingList.self], tables: [items])
    #expect(await again.rebuiltTables.isEmpty)
  }

  @Test func textsAreSearched() async throws {
    let items = RecordTable(of: Item.self, "items") {
      $0.column("title", \.title)
    }
    let search: TableWriter = { connection, changes in
      if changes.isRebuild {
        try connection.run("DROP TABLE IF EXISTS search")
        try connection.run(
          "CREATE VIRTUAL TABLE search USING fts5(key UNINDEXED, title)")
      }
      for item in changes.changes(to: Item.self) {
        try connection.run("DELETE FROM search WHERE key = $1", .text(item.key))
        guard let title = item.new?.title else { continue }
        try connection.run(
          "INSERT INTO search VALUES ($1, $2)", .text(item.key), .text(title))
      }
    }
    let store = try await ReplicaStore(
      at: path, schema: [Item.self, ShoppingList.self], tables: [items],
      writing: search)
    try await store.save { transaction in
      transaction[Item.self, "1"].title = "Oat milk"
      transaction[Item.self, "2"].title = "Bread"
    }
    let reader = try SQLiteConnection(opening: path, .reading)
    func found() throws -> [String] {
      var keys: [String] = []
      try reader.run(
        "SELECT key FROM search WHERE search MATCH $1 ORDER BY rank",
        [.text("milk")]
      ) {
        keys.append($0.text(0) ?? "")
      }
      #expect(keys == ["1"])
      return keys
    }
    #expect(try found().count == 1)
    let connection = try SQLiteConnection(opening: path)
    try connection.run("DELETE FROM search")
    try await store.rebuildTables()
    #expect(try found().count == 1)
  }
}
