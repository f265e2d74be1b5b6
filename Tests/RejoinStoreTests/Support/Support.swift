// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing

@testable import RejoinStore

struct Note: Entity {
  let title = register("title", of: String.self)
  let tags = set("tags", of: String.self)
  let blocked = set("blocked", of: String.self)
  let views = counter("views")
  let log = ledger("log")
}

/// A token in memory, which can be lost, replaced or inaccessible.
final class TestTokenStorage: TokenStorage, @unchecked Sendable {
  // Each test has its own tokenStorage and uses it on one thread.
  var bytes: [UInt8]?
  var fails = false
  struct Failure: Error {}

  func load() throws -> [UInt8]? {
    if fails { throw Failure() }
    return bytes
  }

  func store(_ bytes: [UInt8]) throws {
    if fails { throw Failure() }
    self.bytes = bytes
  }
}

/// A writer of tables that a test can replace.
final class SwitchedWriter: @unchecked Sendable {
  // Each test uses its writer on one thread at a time.
  var current: TableWriter?

  init(_ current: TableWriter? = nil) { self.current = current }

  var write: TableWriter { { try self.current?($0, $1) } }

  /// Makes each change throw an error.
  func refuse() { current = { _, _ in throw Refused() } }
}

struct Refused: Error {}

/// A folder that is removed with the last reference.
final class Folder {
  let path: String

  init() throws {
    let url = FileManager.default.temporaryDirectory.appending(
      path: "rejoin-\(UUID())")
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Copies a database with its log.
  func copy(_ name: String, to copy: String) throws {
    for end in ["", "-wal"] {
      try? FileManager.default.removeItem(atPath: file(copy + end))
      if FileManager.default.fileExists(atPath: file(name + end)) {
        try FileManager.default.copyItem(
          atPath: file(name + end), toPath: file(copy + end))
      }
    }
    try? FileManager.default.removeItem(atPath: file(copy + "-shm"))
  }
}

/// A suite whose tests have their own folder, database and token.
class StoreSuite {
  let folder: Folder
  let tokenStorage = TestTokenStorage()
  var path: String { folder.file("notes.sqlite") }

  init() throws { folder = try Folder() }
}

/// A connection that counts the rows that it reads and lists its statements.
final class CountingConnection: SQLConnection {
  private let connection: any SQLConnection
  var rows = 0
  var statements: [String] = []
  /// The statements whose answers a connection over a network waits for.
  var roundTrips = 0
  /// The number of bytes in the values of the statements that write.
  var writtenBytes = 0
  /// Statements that run but lose their answer.
  var lost: Set<String> = []
  var dialect: SQLDialect { connection.dialect }
  var isIdle: Bool { connection.isIdle }

  init(_ connection: any SQLConnection) { self.connection = connection }

  /// The statements that write.
  var writes: [String] {
    statements.filter { statement in
      ["INSERT", "UPDATE", "DELETE"].contains { statement.hasPrefix($0) }
    }
  }

  /// Resets the counts.
  func reset() {
    (rows, statements, roundTrips, writtenBytes) = (0, [], 0, 0)
  }

  private func count(_ sql: String, _ values: [SQLValue]) {
    statements.append(sql)
    guard ["INSERT", "UPDATE"].contains(where: { sql.hasPrefix($0) }) else {
      return
    }
    for value in values {
      switch value {
      case .bytes(let bytes): writtenBytes += bytes.count
      case .text(let text): writtenBytes += text.utf8.count
      default: writtenBytes += 8
      }
    }
  }

  func run(_ sql: String, _ values: [SQLValue]) throws {
    count(sql, values)
    if sql == "COMMIT" || sql == "ROLLBACK" { roundTrips += 1 }
    try connection.run(sql, values)
    if lost.contains(sql) { throw SQLError(.busy, "the answer is lost") }
  }

  func run(
    _ sql: String, _ values: [SQLValue], _ body: (any SQLRow) throws -> Void
  ) throws {
    count(sql, values)
    roundTrips += 1
    try connection.run(sql, values) { row in
      rows += 1
      try body(row)
    }
    if lost.contains(sql) { throw SQLError(.busy, "the answer is lost") }
  }
}

/// Opens a scope of a file as ``ReplicaStore`` does, for one thread.
func open(
  _ path: String, _ mode: SQLiteConnection.Mode = .writing,
  scope: String = "main", tables: [RecordTable] = [],
  writing writer: TableWriter? = nil,
  token: any TokenStorage = TestTokenStorage(), as device: UInt64 = 1
) throws -> StoredScope {
  let connection = try SQLiteConnection(opening: path, mode, timeout: .zero)
  try connection.run("PRAGMA journal_mode = WAL")
  return try StoredScope(
    scope, on: connection, schema: [Note.self], tables: tables,
    writing: writer, wallClock: ManualClock().wallClock, token: token,
    makeDeviceID: { DeviceID(device) })
}

extension StoredScope {
  @discardableResult
  func write(_ title: String, to key: String = "1") throws -> SaveReport {
    try update { try $0.save { $0[Note.self, key].title = title } }
  }

  var title: String? { read { $0[Note.self, "1"]?.title } }

  var bytes: [UInt8] { replica.state.encoded() }
}

/// Expects that opening throws an error for a damaged store.
func expectDamaged(_ damage: String, _ open: () throws -> StoredScope) {
  let error = #expect(throws: StoreError.self) { try open() }
  guard case .damaged = error else {
    Issue.record("\(damage): \(String(describing: error))")
    return
  }
}
