// SPDX-License-Identifier: Apache-2.0

import Dispatch
import RejoinSQL
import RejoinTesting
import Testing

@testable import RejoinStore

/// Readers of a scope that a store of the same process writes.
@Suite final class StoreReaderTests: StoreSuite {
  private func openStore(
    scope: String = "main", schema: Schema = [Note.self],
    writing writer: TableWriter? = nil
  ) async throws -> ReplicaStore {
    try await ReplicaStore(
      at: path, scope: scope, schema: schema, writing: writer)
  }

  private func openReader(
    scope: String = "main", schema: Schema = [Note.self]
  ) async throws -> StoreReader {
    try await StoreReader(at: path, scope: scope, schema: schema)
  }

  @Test func snapshotShowsLastCommit() async throws {
    let store = try await openStore()
    try await store.save { transaction in
      for i in 0..<5 { transaction[Note.self, "\(i)"].title = "\(i)" }
    }
    let reader = try await store.reader()
    let (titles, count, device, version) = try await reader.read { view in
      (
        view.records(of: Note.self, after: "1", limit: 2).map(\.title),
        view.recordCount(of: Note.self), view.device, view.version
      )
    }
    #expect(titles == ["2", "3"])
    #expect(count == 5)
    #expect(await device == store.device)
    #expect(await version == store.version)
    try await store.save { $0.delete(RecordID("Note", "2")) }
    let keys = try await reader.read { $0.recordIDs(of: Note.self).map(\.key) }
    #expect(keys == ["0", "1", "3", "4"])
    let deleted = try await reader.read { $0.record(RecordID("Note", "2")) }
    #expect(deleted?.exists == false)
  }

  @Test func purgedRecordsAreNotListed() async throws {
    let store = try await openStore()
    for i in 0..<6 { try await store.save { $0[Note.self, "\(i)"].title = "" } }
    try await store.save { transaction in
      for i in 0..<5 { transaction.delete(RecordID("Note", "\(i)")) }
    }
    try await store.withReplica { replica in
      try replica.enroll(replica.device)
      _ = try replica.purgeDeletedRecords()
    }
    let reader = try await openReader()
    let all = try await reader.read {
      ($0.recordIDs(of: Note.self).map(\.key), $0.recordCount(of: Note.self))
    }
    #expect(all == (["5"], 1))
  }

  /// Each rule has its own flag.
  @Test func ruleOfSchemaDecidesAboutExistence() async throws {
    struct Task: Entity {
      static let entityName = "Note"
      let title = register("title", of: String.self)
      let deletions = DeletionRule.deleteWins
    }
    let store = try await openStore()
    let other = Replica(
      device: DeviceID(9), schema: [Note.self],
      wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(8) })
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    try other.apply(#require(await store.delta(since: ReplicaVersion())))
    try other.save { $0.delete(RecordID("Note", "1")) }
    try await store.save { $0[Note.self, "1"].title = "Bread" }
    try await store.apply(#require(other.delta()))
    for (schema, exists) in [([Note.self], true), ([Task.self], false)]
      as [(Schema, Bool)]
    {
      let reader = try await openReader(schema: schema)
      let shown = try await reader.read { view in
        (
          view.exists(RecordID("Note", "1")), view.recordCount(of: "Note"),
          view.allRecordIDs.count, view.recordIDs(of: "Note").count
        )
      }
      let count = exists ? 1 : 0
      #expect(shown == (exists, count, count, count))
    }
  }

  /// The body waits for a save, and reads the same state before and after.
  @Test func snapshotStaysAtOneCommit() async throws {
    let store = try await openStore()
    try await store.save { $0[Note.self, "1"].views.increment(by: 1) }
    let reader = try await store.reader()
    let begun = DispatchSemaphore(value: 0)
    let saved = DispatchSemaphore(value: 0)
    async let views = reader.read { view -> [Int64?] in
      let before = view[Note.self, "1"]?.views
      begun.signal()
      saved.wait()
      return [before, view[Note.self, "1"]?.views]
    }
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "waiting").async {
        begun.wait()
        continuation.resume()
      }
    }
    // Neither the save nor closing waits for the reader.
    try await store.save { $0[Note.self, "1"].views.increment(by: 1) }
    try await store.close()
    saved.signal()
    #expect(try await views == [1, 1])
    #expect(try await reader.read { $0[Note.self, "1"]?.views } == 2)
  }

  /// The records of a delta are written, and the transaction is still open.
  @Test func readerDoesNotWaitForApply() async throws {
    let writer = SwitchedWriter()
    let store = try await openStore(writing: writer.write)
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    let other = Replica(
      device: DeviceID(9), schema: [Note.self],
      wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(8) })
    try other.save { transaction in
      for i in 0..<100_000 { transaction[Note.self, "\(i)"].title = "Bread" }
    }
    let path = path
    writer.current = { _, _ in
      let shown = try StoreReader.read(
        Array("main".utf8), of: DurableFile(path: path), [Note.self]
      ) { view in
        (view.recordCount(of: Note.self), view.records(of: Note.self).count)
      }
      #expect(shown == (1, 1))
    }
    try await store.apply(#require(other.delta()))
    let count = try await store.reader().read { $0.recordCount(of: Note.self) }
    #expect(count == 100_000)
  }

  @Test func readerChangesNeitherFileNorLog() async throws {
    let store = try await openStore()
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    func bytes() throws -> [Data] {
      try ["", "-wal", ".token"].map {
        try Data(contentsOf: URL(filePath: path + $0))
      }
    }
    let before = try bytes()
    let reader = try await openReader()
    #expect(try await reader.read { $0[Note.self, "1"]?.title } == "Milk")
    #expect(try bytes() == before)
    try await store.save { $0[Note.self, "1"].title = "Bread" }
    #expect(await store.deviceChange == nil && !store.isSuperseded)
    try await store.close()
    let closed = try Data(contentsOf: URL(filePath: path))
    #expect(try await reader.read { $0[Note.self, "1"]?.title } == "Bread")
    #expect(try Data(contentsOf: URL(filePath: path)) == closed)
  }

  /// A process was killed and left its log.
  @Test func logOfKilledProcessIsRead() async throws {
    let store = try open(path, token: tokenStorage)
    try store.write("Milk")
    try folder.copy("notes.sqlite", to: "killed.sqlite")
    let killed = folder.file("killed.sqlite")
    let log = try Data(contentsOf: URL(filePath: killed + "-wal"))
    let reader = try await StoreReader(at: killed, schema: [Note.self])
    #expect(try await reader.read { $0[Note.self, "1"]?.title } == "Milk")
    #expect(try Data(contentsOf: URL(filePath: killed + "-wal")) == log)
  }

  @Test func referenceToMissingRecordIsHidden() async throws {
    struct Item: Entity {
      let note = toOne("note", Note.self)
      let notes = toMany("notes", Note.self)
    }
    let store = try await openStore(schema: [Item.self, Note.self])
    try await store.save { transaction in
      transaction[Note.self, "here"].title = "Milk"
      for (key, note) in [("1", "here"), ("2", "gone")] {
        transaction[Item.self, key].note = Reference(note)
        transaction[Item.self, key].notes.insert(Reference("here"))
        transaction[Item.self, key].notes.insert(Reference("gone"))
      }
    }
    let reader = try await openReader(schema: [Item.self, Note.self])
    let notes = try await reader.read { view in
      view.records(of: Item.self).map { item in
        [item.note?.key] + item.notes.map(\.key)
      }
    }
    #expect(notes == [["here", "here"], [nil, "here"]])
  }

  @Test func bodyThrowsItsOwnError() async throws {
    struct Failure: Error {}
    _ = try await openStore()
    let reader = try await openReader()
    await #expect(throws: Failure.self) {
      try await reader.read { _ in throw Failure() }
    }
  }

  private static func titles(in view: some ReadableReplica) -> [String?] {
    view.records(of: Note.self, limit: 1).map(\.title)
  }

  @Test func oneFunctionReadsStoreAndReader() async throws {
    let store = try await openStore()
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    let reader = try await store.reader()
    #expect(await store.read { Self.titles(in: $0) } == ["Milk"])
    #expect(try await reader.read { Self.titles(in: $0) } == ["Milk"])
  }
}

// Files that are missing or cannot be read.
extension StoreReaderTests {
  private func error(
    at path: String, scope: String = "main"
  ) async -> StoreError? {
    do {
      _ = try await StoreReader(at: path, scope: scope, schema: [Note.self])
      return nil
    } catch { return error }
  }

  @Test func missingStoreIsNotCreated() async throws {
    let missing = StoreError.notCreated(path: path, scope: "main")
    #expect(await error(at: path) == missing)
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(files == [])
    // A log without a file.
    try Data([1, 2, 3]).write(to: URL(filePath: path + "-wal"))
    #expect(await error(at: path) == missing)
    #expect(FileManager.default.fileExists(atPath: path + "-wal"))
    try FileManager.default.removeItem(atPath: path + "-wal")
    try Data().write(to: URL(filePath: path))
    #expect(await error(at: path) == missing)
    try FileManager.default.removeItem(atPath: path)
    try SQLiteConnection(opening: path).run("CREATE TABLE app (a)")
    #expect(await error(at: path) == missing)
    try await openStore().close()
    #expect(
      await error(at: path, scope: "other")
        == .notCreated(path: path, scope: "other"))
    #expect(await error(at: path) == nil)
  }

  @Test func otherFilesAreRefused() async throws {
    // The second folder has no size.
    for path in [folder.path, "/proc"] where DurableFile(path: path).isFolder {
      #expect(
        await error(at: path)
          == .cannotOpen(SQLError(.cannotOpen, "\(path) is a folder")))
    }
    try Data(repeating: 0x41, count: 8_192).write(to: URL(filePath: path))
    guard case .damaged = await error(at: path) else {
      Issue.record("a text was opened")
      return
    }
    guard case .cannotOpen = await error(at: "a\0b") else {
      Issue.record("a path with NUL was opened")
      return
    }
    let long = String(repeating: "x", count: 2_000)
    try FileManager.default.removeItem(atPath: path)
    try await openStore().close()
    #expect(
      await error(at: path, scope: long)
        == .scopeNameTooLong(byteCount: 2_000))
  }

  /// iOS denies access to a protected file while the phone is locked.
  @Test func deniedAccessIsProtection() {
    let denied = SQLError(.denied, "SQLite: authorization denied")
    #expect(StoreError(opening: denied) == .protected(denied))
    #expect("\(StoreError.protected(denied))".contains("unlocked"))
  }

  @Test func hubScopeIsRefused() async throws {
    let hub = try HubConnection(SQLiteConnection(opening: path)) { DeviceID(7) }
    let other = Replica(
      device: DeviceID(9), schema: [Note.self],
      wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(8) })
    try other.save { $0[Note.self, "1"].title = "Milk" }
    _ = try hub.apply(#require(other.delta()), in: "main")
    #expect(await error(at: path) == .scopeBelongsToHub)
  }

  @Test func storeInMemoryHasNoReader() async throws {
    let store = try await ReplicaStore.inMemory(schema: [Note.self])
    let error = await #expect(throws: StoreError.self) {
      try await store.reader()
    }
    guard case .cannotOpen = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  /// A later version migrates the file while a reader is open.
  @Test func laterFormatIsRefused() async throws {
    try await openStore().close()
    let reader = try await openReader()
    #expect(try await reader.read { $0.allRecordIDs } == [])
    let connection = try SQLiteConnection(opening: path)
    try connection.run("ALTER TABLE rejoin_record ADD COLUMN touched BIGINT")
    try connection.run("CREATE TABLE rejoin_more (a)")
    #expect(try await reader.read { $0.allRecordIDs } == [])
    try connection.run("UPDATE rejoin_scope SET format = 3")
    await #expect(throws: StoreError.newerFormat(3)) {
      try await reader.read { $0.allRecordIDs }
    }
    #expect(await error(at: path) == .newerFormat(3))
    await #expect(throws: StoreError.newerFormat(3)) {
      try await openStore()
    }
  }

  @Test func replacedFileIsReadInNextRead() async throws {
    for (name, title) in [("a.sqlite", "Milk"), ("b.sqlite", "Bread")] {
      let store = try await ReplicaStore(
        at: folder.file(name), schema: [Note.self])
      try await store.save { $0[Note.self, "1"].title = title }
      try await store.close()
    }
    let reader = try await StoreReader(
      at: folder.file("a.sqlite"), schema: [Note.self])
    #expect(try await reader.read { $0[Note.self, "1"]?.title } == "Milk")
    try FileManager.default.removeItem(atPath: folder.file("a.sqlite"))
    let missing = StoreError.notCreated(
      path: folder.file("a.sqlite"), scope: "main")
    await #expect(throws: missing) { try await reader.read { _ in } }
    try FileManager.default.moveItem(
      atPath: folder.file("b.sqlite"), toPath: folder.file("a.sqlite"))
    #expect(try await reader.read { $0[Note.self, "1"]?.title } == "Bread")
  }

  @Test func closedStoreHasNoReader() async throws {
    let store = try await openStore()
    let reader = try await store.reader()
    try await store.close()
    await #expect(throws: StoreError.closed) { try await store.reader() }
    #expect(try await reader.read { $0.allRecordIDs }.isEmpty)
  }

  @Test func replacedFileHasNoReader() async throws {
    let store = try await openStore()
    try FileManager.default.removeItem(atPath: path)
    try Data([1]).write(to: URL(filePath: path))
    await #expect(throws: StoreError.fileReplaced(path)) {
      try await store.reader()
    }
  }

  @Test func snapshotEndsWithItsRead() async throws {
    let process = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      final class Box: @unchecked Sendable {
        var view: StoreReader.Snapshot?
      }
      let folder = try Folder()
      let store = try await ReplicaStore(
        at: folder.file("a.sqlite"), schema: [Note.self])
      let box = Box()
      try await store.reader().read { box.view = $0 }
      _ = box.view?.allRecordIDs
    }
    let text = String(decoding: process.standardErrorContent, as: UTF8.self)
    #expect(
      text.contains("A snapshot must not be used after `read` returned"),
      "\(text.prefix(300))")
  }
}
