// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing

@testable import RejoinStore

@Suite final class StoreTests: StoreSuite {
  @Test func saveSurvivesReopening() async throws {
    let folder = try Folder()
    func store() async throws -> ReplicaStore {
      try await ReplicaStore(
        at: folder.file("notes.sqlite"), schema: [Note.self],
        wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(1) })
    }
    let first = try await store()
    let saved = try await first.save { transaction in
      transaction[Note.self, "1"].title = "Milk"
      return transaction[Note.self, "1"].title
    }
    #expect(saved.value == "Milk")
    #expect(saved.report.dot == Dot(DeviceID(1), 1))
    let second = try await store()
    #expect(await second.read { $0[Note.self, "1"]?.title } == "Milk")
    #expect(await second.deviceChange == nil)
    #expect(await second.version == first.version)
  }

  @Test func stateSurvivesReopening() throws {
    let store = try open(path, token: tokenStorage)
    for i in 1...40 {
      try store.update { replica in
        try replica.save { transaction in
          let note = transaction[Note.self, "\(i % 7)"]
          note.title = "title \(i)"
          for j in 0..<i { note.tags.insert("tag \(j)") }
          note.views.increment(by: Int64(i))
          note.log.append(Int64(i))
          if i % 11 == 0 { transaction.delete(RecordID("Note", "\(i % 7)")) }
        }
      }
    }
    try store.export { _ = $0.delta() }
    try store.write("last")
    let again = try open(path, token: tokenStorage, as: 9)
    #expect(again.deviceChange == nil)
    #expect(again.bytes == store.bytes)
  }

  @Test func scopesAreSeparateReplicas() throws {
    let (a, b) = (TestTokenStorage(), TestTokenStorage())
    let (one, other) = (
      try open(path, scope: "a", token: a, as: 1),
      try open(path, scope: "b", token: b, as: 2)
    )
    try one.write("mine")
    try other.write("yours")
    try one.write("mine again", to: "2")
    #expect(try open(path, scope: "a", token: a).bytes == one.bytes)
    #expect(try open(path, scope: "b", token: b).bytes == other.bytes)
    #expect(other.title == "yours")
  }

  @Test func laterStoreSupersedesEarlierOne() throws {
    let first = try open(path, token: tokenStorage)
    try first.write("first")
    let second = try open(path, token: tokenStorage)
    #expect(throws: StoreError.superseded) { try first.write("lost") }
    #expect(throws: StoreError.superseded) { try first.write("lost again") }
    #expect(first.title == "first")
    try second.write("second")
    #expect(throws: StoreError.superseded) { try first.write("lost") }
    #expect(first.title == "first")
    // The superseded store does not store a token.
    let before = tokenStorage.bytes
    #expect(throws: StoreError.superseded) { try first.export { $0.delta() } }
    #expect(tokenStorage.bytes == before)
    #expect(try open(path, token: tokenStorage).title == "second")
  }

  @Test func lockedDatabaseIsBusyAndUnchanged() throws {
    let store = try open(path, token: tokenStorage)
    try store.write("before")
    let other = try SQLiteConnection(opening: path)
    try other.run("BEGIN IMMEDIATE")
    let error = #expect(throws: StoreError.self) { try store.write("after") }
    guard case .busy = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(store.title == "before")
    // The lock is found before the change runs.
    var calls = 0
    #expect(throws: StoreError.self) { try store.update { _ in calls += 1 } }
    #expect(calls == 0)
    try other.run("ROLLBACK")
    try store.write("after")
    #expect(try open(path, token: tokenStorage).title == "after")
  }

  /// The disk becomes full at different sizes.
  @Test func fullDiskUndoesSave() throws {
    // The tables barely fit or do not fit, or the disk is full later.
    for pages in Array(12...24) + [30, 40, 60] {
      let path = folder.file("full-\(pages).sqlite")
      let tokenStorage = TestTokenStorage()
      let connection = try SQLiteConnection(opening: path)
      try connection.run("PRAGMA journal_mode = WAL")
      try connection.run("PRAGMA max_page_count = \(pages)")
      let store: StoredScope
      do {
        store = try StoredScope(
          "main", on: connection, schema: [Note.self],
          wallClock: ManualClock().wallClock, token: tokenStorage,
          makeDeviceID: { DeviceID(1) })
      } catch {
        // The disk is too small for the tables.
        #expect(throws: Never.self) { try open(path, token: tokenStorage) }
        continue
      }
      var (saved, isFull) = (0, false)
      while !isFull {
        let before = store.bytes
        do {
          try store.update { replica in
            try replica.save { transaction in
              for i in 0..<5 {
                transaction[Note.self, "\(saved)-\(i)"].title =
                  String(repeating: "x", count: 100)
              }
            }
          }
          saved += 1
        } catch StoreError.notDurable {
          #expect(store.bytes == before)
          isFull = true
        }
      }
      // The disk has room again.
      try connection.run("PRAGMA max_page_count = 100000")
      #expect(try store.write("fits").dot?.sequence == UInt64(saved + 1))
      let again = try open(path, token: tokenStorage)
      #expect(again.bytes == store.bytes)
      #expect(again.deviceChange == nil)
    }
  }

  @Test func throwingUpdateChangesNothing() throws {
    let store = try open(path, token: tokenStorage)
    try store.write("before")
    let before = store.bytes
    #expect(throws: Refused.self) {
      try store.update { replica in
        try replica.save { $0[Note.self, "1"].title = "after" }
        throw Refused()
      }
    }
    #expect(throws: Refused.self) {
      try store.update { try $0.save { _ in throw Refused() } }
    }
    #expect(store.bytes == before)
    #expect(try open(path, token: tokenStorage).bytes == before)
  }

  /// The number of reads does not depend on other records.
  @Test func failedChangeReadsOnlyChangedRows() throws {
    let connection = CountingConnection(try SQLiteConnection(opening: path))
    let writer = SwitchedWriter()
    let store = try StoredScope(
      "main", on: connection, schema: [Note.self], writing: writer.write,
      wallClock: ManualClock().wallClock, token: tokenStorage,
      makeDeviceID: { DeviceID(1) })
    try store.update { replica in
      try replica.save { transaction in
        for i in 0..<3000 { transaction[Note.self, "\(i)"].title = "\(i)" }
        for i in 0..<2000 { transaction[Note.self, "1"].tags.insert("\(i)") }
      }
    }
    try store.write("last")
    let before = store.bytes
    func expectTakenBack(
      _ change: (Replica) throws -> Void
    ) throws {
      connection.rows = 0
      writer.refuse()
      #expect(throws: Refused.self) { try store.update(change) }
      writer.current = nil
      #expect(store.bytes == before)
      #expect(connection.rows < 20)
    }
    try expectTakenBack { replica in
      try replica.save { transaction in
        transaction[Note.self, "1"].title = "lost"
        transaction[Note.self, "1"].tags.insert("lost")
        transaction[Note.self, "2"].views.increment()
        transaction[Note.self, "new"].log.append(1)
      }
      try replica.save { $0[Note.self, "another"].title = "lost" }
    }
    try store.write("kept", to: "1")
    try store.write("kept", to: "3000")
    let again = try open(path, token: tokenStorage, as: 9)
    #expect(again.deviceChange == nil && again.bytes == store.bytes)
  }

  @Test func readOnlyFileCanBeRead() throws {
    let store = try open(path, token: tokenStorage)
    try store.write("kept")
    let connection = try SQLiteConnection(opening: path, .reading)
    let stored = try StoredScope.read("main", on: connection)
    #expect(stored?.encoded() == store.bytes)
    #expect(try StoredScope.read("other", on: connection)?.encoded() == nil)
    let error = #expect(throws: StoreError.self) {
      try open(path, .reading, token: tokenStorage)
    }
    guard case .readOnly = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func openingFutureFormatThrowsNewerFormat() throws {
    try open(path, token: tokenStorage).write("kept")
    let connection = try SQLiteConnection(opening: path)
    try connection.run("UPDATE rejoin_scope SET format = 3")
    #expect(throws: StoreError.newerFormat(3)) {
      try open(path, token: tokenStorage)
    }
  }

  @Test func openingFutureTablesThrowsNewerFormat() throws {
    try open(path, token: tokenStorage).write("kept")
    let connection = try SQLiteConnection(opening: path)
    try connection.run("UPDATE rejoin_scope SET format = 4")
    try connection.run("CREATE TABLE rejoin_index (scope BIGINT)")
    #expect(throws: StoreError.newerFormat(4)) {
      try open(path, token: tokenStorage)
    }
  }

  @Test func openingInMissingFolderThrowsCannotOpen() throws {
    let error = #expect(throws: (any Error).self) {
      try open(folder.file("none/notes.sqlite"))
    }
    #expect((error as? SQLError)?.code == .cannotOpen)
  }

  /// A kill does not reveal a missing sync, because the system still writes its
  /// buffers.
  @Test func everyCommitIsSynced() async throws {
    let store = try await ReplicaStore(at: path, schema: [Note.self])
    #expect(try await store.setting("synchronous") == 2)
    #expect(try await store.setting("fullfsync") == 1)
  }

  @Test func appTablesAreWrittenOnlyWithSave() async throws {
    let writer = SwitchedWriter()
    let store = try await ReplicaStore(
      at: path, schema: [Note.self], writing: writer.write)
    let other = try SQLiteConnection(opening: path)
    try other.run("CREATE TABLE search (title BLOB UNIQUE)")
    @Sendable func index(
      _ connection: any SQLConnection, _ changes: RecordChanges
    ) throws {
      try connection.run("INSERT INTO search VALUES ($1)", .text("Milk"))
    }
    func rows() throws -> Int64? {
      try other.integer("SELECT count(*) FROM search")
    }
    // First the edits fail, then the tables, before and after a statement.
    writer.current = index
    await #expect(throws: Refused.self) {
      try await store.save { transaction in
        transaction[Note.self, "1"].title = "Milk"
        throw Refused()
      }
    }
    writer.current = { connection, changes in
      try index(connection, changes)
      throw Refused()
    }
    await #expect(throws: Refused.self) {
      try await store.save { $0[Note.self, "1"].title = "Milk" }
    }
    #expect(try rows() == 0)
    #expect(await store.read { $0[Note.self, "1"] } == nil)
    writer.current = index
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    await #expect(throws: SQLError.self) {
      try await store.save { $0[Note.self, "1"].title = "Bread" }
    }
    #expect(try rows() == 1)
    #expect(await store.read { $0[Note.self, "1"]?.title } == "Milk")
    let rows = try StoredScope.read("main", on: other)
    #expect(
      await rows?.encoded() == store.read { $0.replica.current.encoded() })
  }

  /// The caller that cancels a task learns whether the save was made.
  @Test func cancellationDoesNotInterruptSave() async throws {
    let store = try await ReplicaStore(at: path, schema: [Note.self])
    var acknowledged = 0
    for i in 0..<40 {
      let task = Task {
        try await store.save { $0[Note.self, "1"].views.increment() }
        try Task.checkCancellation()
        try await store.save { $0[Note.self, "1"].views.increment() }
        return ()
      }
      if i % 4 != 0 { try await Task.sleep(for: .microseconds(i * 40)) }
      task.cancel()
      switch await task.result {
      case .success: acknowledged += 2
      case .failure(let error):
        #expect(error is CancellationError)
        acknowledged += 1
      }
    }
    let views = await store.read { $0[Note.self, "1"]?.views }
    #expect(views == Int64(acknowledged))
    let rows = try StoredScope.read("main", on: SQLiteConnection(opening: path))
    #expect(
      await rows?.encoded() == store.read { $0.replica.current.encoded() })
  }
}
