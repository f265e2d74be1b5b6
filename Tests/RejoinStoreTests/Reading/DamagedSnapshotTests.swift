// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing

@testable import RejoinStore

/// Damaged rows, flags and indexes, as a reader and an opening store find them.
@Suite final class DamagedSnapshotTests: StoreSuite {
  private func fill() async throws {
    let store = try await ReplicaStore(at: path, schema: [Note.self])
    try await store.save { transaction in
      for i in 1...3 { transaction[Note.self, "\(i)"].title = "\(i)" }
      // Its changes are written as patches.
      for i in 0..<400 {
        transaction[Note.self, "large"].tags.insert("one of many tags, \(i)")
      }
    }
    for i in 0..<3 {
      try await store.save { $0[Note.self, "large"].tags.insert("\(i)") }
    }
    let other = Replica(
      device: DeviceID(9), schema: [Note.self],
      wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(8) })
    try other.save { $0[Note.self, "3"].title = "other" }
    try await store.apply(#require(other.delta()))
    try await store.close()
  }

  private func run(_ statement: String) throws {
    try SQLiteConnection(opening: path).run(statement)
  }

  /// Reads all records, and then some that are not damaged.
  private func damage() async throws -> StoreError? {
    let reader = try await StoreReader(at: path, schema: [Note.self])
    do {
      try await reader.read { view in
        #expect(view.records(of: Note.self).isEmpty)
        #expect(view.record(RecordID("Note", "1")) == nil)
        #expect(view.allRecordIDs.isEmpty && view.recordCount(of: "Note") == 0)
        #expect(!view.exists(RecordID("Note", "1")))
        #expect(view.version == ReplicaVersion())
      }
      return nil
    } catch { return error as? StoreError }
  }

  @Test(arguments: [
    "UPDATE rejoin_record SET body = x'00' WHERE record = 1",
    "UPDATE rejoin_record SET body = (SELECT body FROM rejoin_record "
      + "WHERE record = 2) WHERE record = 1",
    "UPDATE rejoin_record SET key = x'39' WHERE record = 1",
    "UPDATE rejoin_record SET state = 7 WHERE record = 1",
    "UPDATE rejoin_record SET state = 11 WHERE record = 1",
  ])
  func damagedRowIsNamed(_ statement: String) async throws {
    try await fill()
    try run(statement)
    let error = try await damage()
    guard case .damaged(let what) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(what.contains("row 1 of the records"), "\(what)")
    await #expect(throws: StoreError.self) {
      try await ReplicaStore(at: self.path, schema: [Note.self])
    }
  }

  @Test(arguments: [
    "UPDATE rejoin_patch SET body = x'00' WHERE place = 1",
    "UPDATE rejoin_patch SET place = place + 1 WHERE place = 2",
    "UPDATE rejoin_patch SET row_check = 0 WHERE place = 0",
    "DELETE FROM rejoin_patch WHERE place = 0",
  ])
  func damagedPatchIsNamed(_ statement: String) async throws {
    try await fill()
    let count = try SQLiteConnection(opening: path).integer(
      "SELECT count(*) FROM rejoin_patch")
    #expect(count == 3)
    try run(statement)
    let reader = try await StoreReader(at: path, schema: [Note.self])
    #expect(try await reader.read { $0[Note.self, "1"]?.title } == "1")
    let error = await #expect(throws: StoreError.self) {
      try await reader.read { $0[Note.self, "large"]?.tags.count }
    }
    guard case .damaged(let what) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(what.contains("of row 4 of the records"), "\(what)")
  }

  @Test func patchesAreRead() async throws {
    try await fill()
    let reader = try await StoreReader(at: path, schema: [Note.self])
    #expect(try await reader.read { $0[Note.self, "large"]?.tags.count } == 403)
  }

  /// Each flag of each record is flipped.
  @Test func flippedFlagIsFoundByStore() async throws {
    try await fill()
    let whole = try [UInt8](Data(contentsOf: URL(filePath: path)))
    for record in 1...4 {
      for bit in [1, 2, 4, 8] {
        try run(
          "UPDATE rejoin_record SET state = (state | \(bit)) - (state & \(bit)) "
            + "WHERE record = \(record)")
        let error = await #expect(throws: StoreError.self) {
          try await ReplicaStore(at: self.path, schema: [Note.self])
        }
        #expect(
          error == .damaged("in the state of row \(record) of the records"),
          "bit \(bit) of \(record)")
        for end in ["-wal", "-shm"] {
          try? FileManager.default.removeItem(atPath: path + end)
        }
        try Data(whole).write(to: URL(filePath: path))
      }
    }
  }

  @Test func missingIndexIsCreatedByStore() async throws {
    try await fill()
    try run("DROP INDEX rejoin_existing")
    await #expect(throws: StoreError.self) {
      let reader = try await StoreReader(at: self.path, schema: [Note.self])
      try await reader.read { _ = $0.allRecordIDs }
    }
    let store = try await ReplicaStore(at: path, schema: [Note.self])
    let count = try await store.reader().read { $0.recordCount(of: "Note") }
    #expect(count == 4)
  }

  /// The entries of the index are in descending order.
  @Test func indexInOtherOrderIsNamed() async throws {
    try await fill()
    let declaration = try index().sql
    try run("DROP INDEX rejoin_existing")
    try run(declaration.replacing("key, state", with: "key DESC, state"))
    let connection = try SQLiteConnection(opening: path)
    try connection.run("PRAGMA writable_schema = 1")
    try connection.run(
      "UPDATE sqlite_master SET sql = $1 WHERE name = 'rejoin_existing'",
      .text(declaration))
    connection.close()
    let reader = try await StoreReader(at: path, schema: [Note.self])
    let error = await #expect(throws: StoreError.self) {
      try await reader.read { $0.records(of: Note.self).count }
    }
    #expect(error == .damaged("in the index of row 3 of the records"))
  }

  /// Returns the first page and the declaration of the index of a reader.
  private func index() throws -> (page: Int64, sql: String) {
    var found: (page: Int64, sql: String)?
    try SQLiteConnection(opening: path).run(
      "SELECT rootpage, sql FROM sqlite_master WHERE name = 'rejoin_existing'",
      []
    ) { row in
      found = (row.integer(0), row.text(1) ?? "")
    }
    return try #require(found)
  }

  @Test func indexIsRepairedAfterRollback() async throws {
    try await fill()
    try run("DROP INDEX rejoin_existing")
    let connection = try SQLiteConnection(opening: path)
    let row = try #require(
      try ScopeRow.find(Array("main".utf8), mustExist: true, on: connection))
    let rows = try ScopeRows.read(row, on: connection).rows
    struct Failure: Error {}
    #expect(throws: Failure.self) {
      try connection.changing {
        try rows.repairIndexes()
        throw Failure()
      }
    }
    try connection.changing { try rows.repairIndexes() }
    let reader = try await StoreReader(at: path, schema: [Note.self])
    #expect(try await reader.read { $0.recordCount(of: "Note") } == 4)
  }

  /// A connection whose first read of the index fails and ends the transaction, as
  /// SQLite does after an error of the disk.
  private final class EndingConnection: SQLConnection {
    private let connection: SQLiteConnection
    private var hasFailed = false

    init(_ connection: SQLiteConnection) { self.connection = connection }

    var dialect: SQLDialect { connection.dialect }
    var isIdle: Bool { connection.isIdle }

    func run(
      _ sql: String, _ values: [SQLValue], _ body: (any SQLRow) throws -> Void
    ) throws {
      if !hasFailed, sql.contains("INDEXED BY") {
        hasFailed = true
        try connection.run("ROLLBACK")
        throw SQLError(.inputOutput, "disk I/O error")
      }
      try connection.run(sql, values, body)
    }
  }

  @Test func repairStopsAfterEndOfTransaction() async throws {
    try await fill()
    let connection = EndingConnection(try SQLiteConnection(opening: path))
    let row = try #require(
      try ScopeRow.find(Array("main".utf8), mustExist: true, on: connection))
    let rows = try ScopeRows.read(row, on: connection).rows
    let writer = "SELECT writer FROM rejoin_scope"
    let before = try connection.integer(writer)
    let error = #expect(throws: SQLError.self) {
      try connection.changing {
        try rows.repairIndexes()
        _ = try rows.claim()
      }
    }
    #expect(error?.code == .inputOutput)
    #expect(try connection.integer(writer) == before)
  }

  /// An index lacks a record, as after a flipped bit in one of its pages.
  @Test func incompleteIndexIsRepairedByStore() async throws {
    try await fill()
    let index = try index()
    let connection = try SQLiteConnection(opening: path)
    // The index is detached while the row changes back.
    try connection.run("UPDATE rejoin_record SET state = 0 WHERE record = 2")
    try connection.run("PRAGMA writable_schema = 1")
    try connection.run(
      "DELETE FROM sqlite_master WHERE name = 'rejoin_existing'")
    connection.close()
    try run("UPDATE rejoin_record SET state = 3 WHERE record = 2")
    let again = try SQLiteConnection(opening: path)
    try again.run("PRAGMA writable_schema = 1")
    try again.run(
      "INSERT INTO sqlite_master VALUES "
        + "('index', 'rejoin_existing', 'rejoin_record', $1, $2)",
      .integer(index.page), .text(index.sql))
    again.close()
    let reader = try await StoreReader(at: path, schema: [Note.self])
    #expect(try await reader.read { $0.recordCount(of: "Note") } == 3)
    let store = try await ReplicaStore(at: path, schema: [Note.self])
    #expect(await store.read { $0.recordCount(of: "Note") } == 4)
    #expect(try await reader.read { $0.recordCount(of: "Note") } == 4)
    try await store.close()
    let check = try SQLiteConnection(opening: path)
    var lines: [String] = []
    try check.run("PRAGMA integrity_check", []) { row in
      lines.append(row.text(0) ?? "")
    }
    #expect(lines == ["ok"])
  }
}
