// SPDX-License-Identifier: Apache-2.0

import Harness
import Rejoin
import RejoinSQL
import RejoinStore

extension Suite {
  /// Adds readers of stores, and the same reads in SQLite alone or in the store:
  /// W20.
  mutating func addReaders() {
    for size in [10_000, 1_000_000] { addOpening(size) }
    addGrowth(
      of: "W20", "opening a reader and reading 50 records", from: 10_000,
      to: 1_000_000, target: 2)
    addReader("50 records", expecting: 50) {
      $0.records(of: Item.self, after: "r05000", limit: 50).count
    }
    addSelect(
      "50 records", "body",
      "AND key > CAST('r05000' AS BLOB) ORDER BY key LIMIT 50", expecting: 50
    ) { row in row.withBytes(0) { $0.isEmpty ? 0 : 1 } }
    addReader("the number of records", expecting: 10_000) {
      $0.recordCount(of: Item.self)
    }
    addSelect(
      "the number of records", "count(*)", "", expecting: 10_000
    ) { row in Int(row.integer(0)) }
    addReader("one record", expecting: 1) { Self.fields(of: "r05000", in: $0) }
    add("W20", "one record, read by a store", size: 100_000, per: "read") {
      scale in
      let file = try StoreFile(fields: 100_000)
      let (store, count) = (try file.store([Item.self]), scale(1000))
      return Work(operations: count, expecting: count, setUp: {}) { _ in
        try blocking {
          await store.read { view in
            (0..<count).reduce(0) { sum, _ in
              sum + Self.fields(of: "r05000", in: view)
            }
          }
        }
      }
    }
  }

  private static func fields(
    of key: String, in replica: some ReadableReplica
  ) -> Int {
    replica[Item.self, key]?.f9 == nil ? 0 : 1
  }

  private mutating func addOpening(_ size: Int) {
    add(
      "W20", "opening a reader and reading 50 records", size: size, per: "read"
    ) { scale in
      let file = try StoreFile(fields: scale(size))
      let (count, path) = (scale(100), file.path)
      return Work(operations: count, expecting: count, setUp: {}) { _ in
        defer { withExtendedLifetime(file) {} }
        return try blocking {
          var reads = 0
          for _ in 0..<count {
            let reader = try await StoreReader(at: path, schema: [Item.self])
            let records = try await reader.read {
              $0.records(of: Item.self, limit: 50).count
            }
            reads += records > 0 ? 1 : 0
          }
          return reads
        }
      }
    }
  }

  /// Adds reads in the closure of one call.
  private mutating func addReader(
    _ work: String, expecting: Int,
    _ body: @escaping @Sendable (StoreReader.Snapshot) -> Int
  ) {
    add("W20", "\(work), read by a reader", size: 100_000, per: "read") {
      scale in
      let file = try StoreFile(fields: 100_000)
      let (count, path) = (scale(1000), file.path)
      let reader = try blocking {
        try await StoreReader(at: path, schema: [Item.self])
      }
      return Work(
        operations: count, expecting: count * expecting, setUp: {}
      ) { _ in
        defer { withExtendedLifetime(file) {} }
        return try blocking {
          try await reader.read { view in
            (0..<count).reduce(0) { sum, _ in sum + body(view) }
          }
        }
      }
    }
  }

  /// Adds the same reads in SQLite alone.
  private mutating func addSelect(
    _ work: String, _ column: String, _ condition: String, expecting: Int,
    _ body: @escaping (any SQLRow) -> Int
  ) {
    add("W20", "\(work), read by SQLite alone", size: 100_000, per: "read") {
      scale in
      let (file, count) = (try StoreFile(fields: 100_000), scale(1000))
      let connection = try SQLiteConnection(opening: file.path)
      return Work(
        operations: count, expecting: count * expecting, setUp: {}
      ) { _ in
        defer { withExtendedLifetime(file) {} }
        var sum = 0
        for _ in 0..<count {
          try connection.run(
            "SELECT \(column) FROM rejoin_record INDEXED BY rejoin_existing "
              + "WHERE scope = 1 AND entity = CAST('Item' AS BLOB) "
              + "AND state & 3 <> 0 \(condition)", []
          ) { sum += body($0) }
        }
        return sum
      }
    }
  }
}
