// SPDX-License-Identifier: Apache-2.0

import Harness
import Rejoin
import RejoinSQL
import RejoinStore
import _RejoinVerification

extension Suite {
  /// Adds a list on a screen, beside queries of SQLite: W22, and saves that write
  /// tables: W20.
  mutating func addLists() {
    let size = 100_000
    add("W22", "a list, filtered and sorted", size: size, per: "list") {
      scale in
      var trial = try ListTrial(count: scale(size))
      let count = trial.load()
      return Work(operations: 1, expecting: count, setUp: {}) { _ in
        trial.load()
      }
    }
    for moves in [false, true] {
      add(
        "W22",
        "a change that \(moves ? "moves an element" : "keeps its place")",
        size: size, per: "change"
      ) { scale in
        let count = scale(1000)
        var trial = try ListTrial(count: scale(size))
        let elements = trial.load()
        let changes = try trial.changes(count, moves: moves)
        let loaded = trial
        return Work(
          operations: count, expecting: elements, setUp: { loaded }
        ) { trial in trial.apply(changes) }
      }
    }
    add("W22", "a page of 50", size: size, per: "page") { scale in
      let count = scale(1000)
      var trial = try ListTrial(count: scale(size))
      let pages = max(1, trial.load() / 50 - 1)
      return Work(
        operations: count, expecting: count * 50, setUp: {}
      ) { [trial] _ in
        (0..<count).reduce(0) { $0 + trial.page(at: $1 % pages * 50) }
      }
    }
    addSelects(size)
    for how in ["", ", with a table", ", with a closure for a table"] {
      addTabledSave(how)
    }
    for tables in [[], [Self.table]] { addComparedOpening(tables) }
  }

  private static let table = RecordTable(of: Item.self, "items") {
    $0.column("f0", \.f0)
    $0.column("f1", \.f1)
  }

  /// Adds the list as queries of SQLite, without and with an index.
  private mutating func addSelects(_ size: Int) {
    for isIndexed in [false, true] {
      let index = isIndexed ? " with an index" : ""
      for (work, limit) in [("a list", -1), ("a page of 50", 50)] {
        add(
          "W22", "\(work), by SQLite alone\(index)", size: size, per: "list"
        ) { scale in
          let rows = try ListTrial(count: scale(size)).rows
          let connection = try SQLiteConnection(opening: ":memory:")
          try connection.run(
            "CREATE TABLE item (id TEXT PRIMARY KEY, title TEXT, done INTEGER) "
              + "WITHOUT ROWID")
          for row in rows {
            try connection.run(
              "INSERT INTO item VALUES ($1, $2, $3)", .text(row.key),
              .text(row.title), .integer(row.isDone ? 1 : 0))
          }
          if isIndexed {
            try connection.run(
              "CREATE INDEX by_title ON item (done, title, id)")
          }
          let count = rows.count { !$0.isDone }
          return Work(
            operations: 1, expecting: limit < 0 ? count : min(limit, count),
            setUp: {}
          ) { _ in
            var titles: [(id: String?, title: String?)] = []
            try connection.run(
              "SELECT id, title FROM item WHERE done = 0 ORDER BY title, id "
                + "LIMIT $1", [.integer(Int64(limit))]
            ) { titles.append(($0.text(0), $0.text(1))) }
            return titles.count
          }
        }
      }
    }
  }

  /// Adds opening a store, which compares its tables with the records.
  private mutating func addComparedOpening(_ tables: [RecordTable]) {
    add(
      "W20", "opening, \(tables.isEmpty ? "without tables" : "with a table")",
      size: 100_000, per: "record"
    ) { scale in
      let file = try StoreFile(fields: scale(100_000))
      _ = try file.store([Item.self], tables: tables)
      let count = file.data.ids.count
      return Work(
        operations: count, expecting: count, setUp: { nil as ReplicaStore? }
      ) { opened in
        let store = try file.store([Item.self], tables: tables)
        opened = store
        return try blocking {
          await store.read { $0.recordCount(of: "Item") }
        }
      }
    }
  }

  private mutating func addTabledSave(_ how: String) {
    add(
      "W20", "a durable save of one field of 10,000\(how)", per: "save"
    ) { scale in
      let file = try StoreFile(fields: scale(10_000))
      let store =
        switch how {
        case "": try file.store([Item.self])
        case ", with a table":
          try file.store([Item.self], tables: [Self.table])
        default:
          try file.store([Item.self]) { connection, changes in
            if changes.isRebuild {
              try connection.run("DROP TABLE IF EXISTS own")
              try connection.run(
                "CREATE TABLE own (id TEXT PRIMARY KEY, f0, f1)")
            }
            for item in changes.changes(to: Item.self) {
              try connection.run(
                "REPLACE INTO own VALUES ($1, $2, $3)", .text(item.key),
                item.new?.f0.map { .text($0) } ?? .null,
                item.new?.f1.map { .text($0) } ?? .null)
            }
          }
        }
      let (count, id) = (scale(1000), file.data.ids[0])
      return Work(operations: count, expecting: count, setUp: {}) { _ in
        // A store without its file refuses changes.
        defer { withExtendedLifetime(file) {} }
        return try blocking {
          var saves = 0
          for i in 0..<count {
            try await store.save { $0[Item.self, id].f0 = "\(i)" }
            saves += 1
          }
          return saves
        }
      }
    }
  }
}
