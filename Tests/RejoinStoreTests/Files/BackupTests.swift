// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing

@testable import RejoinStore

/// Copies of a store, whose path never names an incomplete file.
@Suite final class BackupTests: StoreSuite {
  private struct Stopped: Error {}

  private var files: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }
  }

  /// Opens a store that calls `body` after SQLite wrote a copy.
  private func store(
    afterCopying body: @escaping (String) throws -> Void
  ) throws -> StoredScope {
    let connection = HookedConnection(try SQLiteConnection(opening: path))
    try connection.run("PRAGMA journal_mode = WAL")
    connection.after = { sql, values in
      guard sql.hasPrefix("VACUUM"), case .text(let path)? = values.first else {
        return
      }
      try body(path)
    }
    return try StoredScope(
      "main", on: connection, schema: [Note.self],
      wallClock: ManualClock().wallClock, token: tokenStorage,
      makeDeviceID: { DeviceID(1) })
  }

  @Test func incompleteCopyHasOtherName() throws {
    let copy = folder.file("copy.sqlite")
    var written: [String] = []
    let store = try store { path in
      written.append(path)
      #expect(!DurableFile(path: copy).exists)
    }
    try store.write("Milk")
    try store.copy(to: copy)
    #expect(written.count == 1 && written[0] != copy)
    #expect(written[0].hasPrefix(copy + ".") && written[0].hasSuffix(".new"))
    #expect(try files.filter { $0.hasPrefix("copy") } == ["copy.sqlite"])
    #expect(try open(copy, as: 2).title == "Milk")
  }

  @Test func failedCopyLeavesNoFile() throws {
    let copy = folder.file("copy.sqlite")
    let store = try store { _ in throw Stopped() }
    try store.write("Milk")
    #expect(throws: StoreError.self) { try store.copy(to: copy) }
    #expect(try files.filter { $0.hasPrefix("copy") } == [])
  }

  /// Both find that the path has no file.
  @Test func laterCopyKeepsEarlierCopy() throws {
    let copy = folder.file("copy.sqlite")
    let other = try open(folder.file("other.sqlite"), as: 2)
    try other.write("Bread")
    let store = try store { _ in try other.copy(to: copy) }
    try store.write("Milk")
    let error = #expect(throws: StoreError.self) { try store.copy(to: copy) }
    guard case .notCopied(let cause) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(cause.message.contains(copy))
    #expect(try files.filter { $0.hasPrefix("copy") } == ["copy.sqlite"])
    #expect(try open(copy, as: 3).title == "Bread")
  }

  @Test func existingFileIsNotTouched() throws {
    let store = try open(path, token: tokenStorage)
    try store.write("Milk")
    let copy = folder.file("copy.sqlite")
    try Data("mine".utf8).write(to: URL(filePath: copy))
    // The log of a store that was at this path.
    let log = folder.file("log.sqlite")
    try Data("mine".utf8).write(to: URL(filePath: log + "-wal"))
    let journal = folder.file("journal.sqlite")
    try Data("mine".utf8).write(to: URL(filePath: journal + "-journal"))
    for path in [copy, log, journal, folder.path, "", folder.file("a\0b")] {
      let error = #expect(throws: StoreError.self) { try store.copy(to: path) }
      guard case .notCopied = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
    }
    #expect(try Data(contentsOf: URL(filePath: copy)) == Data("mine".utf8))
    #expect(try files.filter { $0.hasPrefix("a") } == [])
  }
}

/// A connection that calls closures before and after each statement.
final class HookedConnection: SQLConnection {
  private let connection: SQLiteConnection
  var before: (String) throws -> Void = { _ in }
  var after: (String, [SQLValue]) throws -> Void = { _, _ in }

  init(_ connection: SQLiteConnection) { self.connection = connection }

  var dialect: SQLDialect { .sqlite }
  var isIdle: Bool { connection.isIdle }

  func run(
    _ sql: String, _ values: [SQLValue], _ body: (any SQLRow) throws -> Void
  ) throws {
    try before(sql)
    try connection.run(sql, values, body)
    try after(sql, values)
  }
}
