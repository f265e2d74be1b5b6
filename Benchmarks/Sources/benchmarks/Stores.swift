// SPDX-License-Identifier: Apache-2.0

import Foundation
import Harness
import Rejoin
import RejoinSQL
import RejoinStore

extension Suite {
  /// Adds replicas in SQLite, and the disk and the database alone: W20.
  mutating func addStores() {
    addDisk()
    for size in [1000, 1_000_000] { addDurableSave(size) }
    addGrowth(
      of: "W20", "a durable save of one field", from: 1000, to: 1_000_000,
      target: 1.2)
    for size in [10, 100_000] { addDurableInsertion(size) }
    addGrowth(
      of: "W20", "a durable insertion into a set", from: 10, to: 100_000,
      target: 1.3)
    for size in [1000, 30_000] { addFailedSave(size) }
    for observers in [1, 10_000] { addObservedSave(observers) }
    addWholeState()
    for size in [10_000, 1_000_000] { addOpening(size) }
    addGrowth(
      of: "W20", "opening a store", from: 10_000, to: 1_000_000, target: 2)
    addBytes(
      "W20", "the file of a store", size: 100_000, per: 100_000, target: 36
    ) { scale in
      let file = try StoreFile(fields: scale(100_000))
      return try file.size()
    }
  }

  /// Adds the work that every durable save needs.
  private mutating func addDisk() {
    add("W20", "append 4 KiB and sync", per: "write") { scale in
      let (folder, count) = (try Folder(), scale(1000))
      let file = open(folder.file("log"), O_WRONLY | O_CREAT | O_APPEND, 0o600)
      let page = [UInt8](repeating: 7, count: 4096)
      return Work(operations: count, expecting: count, setUp: {}) { _ in
        let written = (0..<count).count { _ in
          write(file, page, page.count) == page.count && sync(file)
        }
        withExtendedLifetime(folder) {}
        return written
      }
    }
    add("W20", "an UPDATE in SQLite alone", per: "write") { scale in
      let (folder, count) = (try Folder(), scale(1000))
      let connection = try SQLiteConnection(opening: folder.file("bare"))
      try connection.run("PRAGMA journal_mode = WAL")
      try connection.run("PRAGMA synchronous = FULL")
      try connection.run("CREATE TABLE row (id INTEGER PRIMARY KEY, body BLOB)")
      for _ in 0..<count {
        try connection.run(
          "INSERT INTO row (body) VALUES ($1)",
          .bytes([UInt8](repeating: 0, count: 260)))
      }
      var version: UInt8 = 0
      return Work(operations: count, expecting: count, setUp: {}) { _ in
        // SQLite does not write an unchanged row.
        version &+= 1
        let body = SQLValue.bytes([UInt8](repeating: version, count: 260))
        for i in 1...count {
          try connection.run(
            "UPDATE row SET body = $1 WHERE id = $2", body, .integer(Int64(i)))
        }
        withExtendedLifetime(folder) {}
        return count
      }
    }
  }

  private mutating func addDurableSave(_ size: Int) {
    add(
      "W20", "a durable save of one field", size: size, per: "save"
    ) { scale in
      let file = try StoreFile(fields: scale(size))
      let count = scale(1000)
      let writes = PlannedWrite.some(count, of: file.data)
      let edits = writes.map { (RecordID("Item", $0.id), $0.key, $0.value) }
      let store = try file.store()
      return Work(operations: count, expecting: count, setUp: {}) { _ in
        // A store without its file refuses changes.
        defer { withExtendedLifetime(file) {} }
        return try blocking {
          var saves = 0
          for (id, key, value) in edits {
            let report = try await store.save {
              $0.apply(.write(value), to: key, of: id)
            }.report
            saves += report.dot == nil ? 0 : 1
          }
          return saves
        }
      }
    }
  }

  private mutating func addDurableInsertion(_ size: Int) {
    add(
      "W20", "a durable insertion into a set", size: size, per: "save"
    ) { scale in
      let (folder, count) = (try Folder(), scale(1000))
      let (key, id) = (FieldKey("tags", .set), RecordID("Item", "1"))
      let store = try blocking {
        try await ReplicaStore(
          at: folder.file("store.sqlite"),
          schema: Schema(["Item": .init(fields: [key])]),
          wallClock: WallClock { 1_750_000_000_000 },
          makeDeviceID: { Dataset.device(7) })
      }
      func insert(_ elements: Range<Int>) throws -> Int {
        let values = elements.map { Value.string("element \($0)") }
        return try blocking {
          let report = try await store.save {
            $0.apply(
              .members(SetEdit(inserting: values)), to: key, of: id)
          }.report
          return report.dot == nil ? 0 : 1
        }
      }
      let first = scale(size)
      _ = try insert(0..<first)
      return Work(operations: count, expecting: count, setUp: {}) { _ in
        defer { withExtendedLifetime(folder) {} }
        return try (0..<count).reduce(0) {
          $0 + (try insert(first + $1..<first + $1 + 1))
        }
      }
    }
  }

  /// Undoes a save because the closure of the app fails.
  private mutating func addFailedSave(_ size: Int) {
    add(
      "W20", "a save of one field that fails, undone", size: size, per: "save"
    ) { scale in
      struct Refused: Error {}
      let file = try StoreFile(fields: scale(size))
      let count = scale(1000)
      let id = RecordID("Item", file.data.ids[0])
      let fails = Flag()
      let store = try file.store { _, _ in if fails.isSet { throw Refused() } }
      fails.isSet = true
      return Work(operations: count, expecting: count, setUp: {}) { _ in
        // A store without its file refuses changes.
        defer { withExtendedLifetime(file) {} }
        return try blocking {
          var failures = 0
          for i in 0..<count {
            do {
              try await store.save {
                $0.apply(.write(.int(Int64(i))), to: Dataset.keys[0], of: id)
              }
            } catch is Refused { failures += 1 }
          }
          return failures
        }
      }
    }
  }

  /// Saves a record while many others are observed.
  private mutating func addObservedSave(_ observers: Int) {
    add(
      "W20", "a durable save, by observers of other records", size: observers,
      per: "save"
    ) { scale in
      struct Item: Entity { let f0 = register("f0", of: Int.self) }
      let (folder, count) = (try Folder(), scale(1000))
      let store = try blocking {
        try await ReplicaStore(
          at: folder.file("store.sqlite"), schema: [Item.self],
          wallClock: WallClock { 1_750_000_000_000 },
          makeDeviceID: { Dataset.device(7) })
      }
      let observed = (0..<scale(observers)).map {
        store.values(of: Item.self, key: "\($0)")
      }
      return Work(operations: count, expecting: count, setUp: {}) { _ in
        defer { withExtendedLifetime((folder, observed)) {} }
        return try blocking {
          var saves = 0
          for i in 0..<count {
            let report = try await store.save {
              $0[Item.self, "saved"].f0 = i
            }.report
            saves += report.dot == nil ? 0 : 1
          }
          return saves
        }
      }
    }
  }

  /// Adds the cost of a save if the whole replica is stored.
  private mutating func addWholeState() {
    add(
      "W20", "a save and the whole state, synced", size: 1_000_000, per: "save"
    ) { scale in
      let (folder, data) = (try Folder(), Dataset(fields: scale(1_000_000)))
      let replica = try data.replica()
      return Work(operations: 1, expecting: 1, setUp: {}) { _ in
        try replica.save {
          $0.apply(
            .write(.string("one")), to: Dataset.keys[0],
            of: RecordID("Item", data.ids[0]))
        }
        let bytes = replica.state.encoded()
        let file = open(
          folder.file("state"), O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(file) }
        return write(file, bytes, bytes.count) == bytes.count && sync(file)
          ? 1 : 0
      }
    }
  }

  private mutating func addOpening(_ size: Int) {
    add(
      "W20", "opening a store", size: size, per: "field", target: 200,
      beside: .insert
    ) { scale in
      let file = try StoreFile(fields: scale(size))
      return Work(
        operations: file.data.fieldCount, expecting: file.data.ids.count,
        setUp: { nil as ReplicaStore? }
      ) { opened in
        let store = try file.store()
        opened = store
        return try blocking {
          await store.read { $0.recordCount(of: "Item") }
        }
      }
    }
  }
}

/// Syncs a file, if the disk supports it.
private func sync(_ file: Int32) -> Bool {
  #if canImport(Darwin)
    fcntl(file, F_FULLFSYNC) == 0
  #else
    fdatasync(file) == 0
  #endif
}

/// Waits for an asynchronous closure.
func blocking<Value: Sendable>(
  _ body: @escaping @Sendable () async throws -> Value
) throws -> Value {
  let done = DispatchSemaphore(value: 0)
  nonisolated(unsafe) var result: Result<Value, any Error>?
  Task {
    do { result = .success(try await body()) } catch {
      result = .failure(error)
    }
    done.signal()
  }
  done.wait()
  guard let result else { fatalError("the task has ended") }
  return try result.get()
}

/// A folder that is removed with the last reference.
final class Folder: Sendable {
  private let path: String

  init() throws {
    let url = FileManager.default.temporaryDirectory.appending(
      path: "rejoin-benchmarks-\(UUID())")
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { "\(path)/\(name)" }
}

/// A flag that one thread at a time uses.
final class Flag: @unchecked Sendable { var isSet = false }

/// A store with the records of a dataset.
struct StoreFile {
  let data: Dataset
  private let folder: Folder
  var path: String { folder.file("store.sqlite") }

  init(fields: Int) throws {
    (data, folder) = (Dataset(fields: fields), try Folder())
    guard let delta = try data.replica().delta() else { return }
    let store = try store()
    _ = try blocking { try await !store.apply(delta).hasFaults }
  }

  func store(
    _ schema: Schema = Dataset.schema, tables: [RecordTable] = [],
    writing writer: TableWriter? = nil
  ) throws -> ReplicaStore {
    try blocking { [path] in
      try await ReplicaStore(
        at: path, schema: schema, tables: tables, writing: writer,
        wallClock: WallClock { 1_750_000_000_000 },
        makeDeviceID: { Dataset.device(7) })
    }
  }

  /// Returns the bytes of the file after the log is empty.
  func size() throws -> Int {
    try SQLiteConnection(opening: path).run("PRAGMA wal_checkpoint(TRUNCATE)")
    let size = try FileManager.default.attributesOfItem(atPath: path)[.size]
    return (size as? NSNumber)?.intValue ?? 0
  }
}
