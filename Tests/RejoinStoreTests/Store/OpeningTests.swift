// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing

@testable import RejoinStore

/// A store opens with its content, or reports what is missing.
@Suite final class OpeningTests: StoreSuite {
  private func store(
    _ name: String = "notes.sqlite", scope: String = "main",
    recovering recovery: StoreRecovery? = nil, as device: UInt64 = 1
  ) async throws -> ReplicaStore {
    try await ReplicaStore(
      at: folder.file(name), scope: scope, schema: [Note.self],
      wallClock: ManualClock().wallClock, recovering: recovery,
      makeDeviceID: { DeviceID(device) })
  }

  private func remove(_ names: String...) throws {
    for name in names {
      try FileManager.default.removeItem(atPath: folder.file(name))
    }
  }

  /// Saves twice, and sends both saves.
  private func fill(_ scope: String = "main") async throws {
    let store = try await store(scope: scope)
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    try await store.save { $0[Note.self, "1"].title = "Bread" }
    _ = try await store.delta(since: ReplicaVersion())
    try await store.close()
  }

  @Test func openingWithoutFileThrowsMissing() async throws {
    try await fill()
    try remove("notes.sqlite")
    for _ in 0..<2 {
      // The failed attempt must not leave an empty store.
      let error = await #expect(throws: StoreError.self) {
        _ = try await self.store(as: 2)
      }
      guard case .missing(let token?) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(token.device == DeviceID(1) && token.sequence == 2)
      #expect("\(StoreError.missing(token))".contains("save 2"))
      #expect("\(StoreError.missing(token))".contains("recovering"))
    }
    let again = try await store(recovering: .asNewDevice, as: 2)
    let change = try #require(await again.deviceChange)
    #expect(change.old == DeviceID(1) && change.new == DeviceID(2))
    #expect(change.lastStored == 0 && change.lastSent == 2)
    try await again.save { $0[Note.self, "2"].title = "Butter" }
    try await again.close()
    let device = try await store(as: 3).device
    #expect(device == DeviceID(2))
  }

  @Test func openingWithoutScopeThrowsMissing() async throws {
    try await fill("b")
    try SQLiteConnection(opening: path).run("DELETE FROM rejoin_scope")
    await #expect {
      _ = try await self.store(scope: "b", as: 2)
    } throws: { error in
      if case StoreError.missing(.some) = error { true } else { false }
    }
    // A scope that never existed is created.
    let other = try await store(scope: "c", as: 2)
    #expect(await other.deviceChange == nil)
  }

  @Test func openingWithDamagedTokenAloneThrowsMissing() async throws {
    try await fill()
    try remove("notes.sqlite")
    try Data([1, 2, 3]).write(to: URL(filePath: path + ".token"))
    await #expect(throws: StoreError.missing(nil)) {
      _ = try await self.store(as: 2)
    }
    let again = try await store(recovering: .asNewDevice, as: 2)
    #expect(await again.device == DeviceID(2))
  }

  @Test func openingEarlierStateReportsMissingSaves() async throws {
    let first = try await store()
    try await first.save { $0[Note.self, "1"].title = "Milk" }
    try folder.copy("notes.sqlite", to: "backup.sqlite")
    try await first.save { $0[Note.self, "1"].title = "Bread" }
    let sent = try #require(try await first.delta(since: ReplicaVersion()))
    try await first.close()
    for end in ["", "-wal"] where DurableFile(path: path + end).exists {
      try remove("notes.sqlite" + end)
    }
    try folder.copy("backup.sqlite", to: "notes.sqlite")
    let again = try await store(as: 2)
    let change = try #require(await again.deviceChange)
    #expect(change.lastStored == 1 && change.lastSent == 2)
    try await again.apply(sent)
    #expect(await again.read { $0[Note.self, "1"]?.title } == "Bread")
  }

  /// The process exits before the tables exist, or before the token does.
  @Test func openingUnfinishedStoreDoesNotThrowMissing() throws {
    final class MemoryTokenStorage: TokenStorage, @unchecked Sendable {
      var bytes: [UInt8]?
      /// The number of tokens that are kept before the process exits.
      var left = 2
      struct Ended: Error {}
      func load() -> [UInt8]? { bytes }
      func store(_ bytes: [UInt8]) throws {
        if left == 0 { throw Ended() }
        left -= 1
        self.bytes = bytes
      }
    }
    for count in 0..<2 {
      let (path, tokenStorage) = (
        folder.file("\(count).sqlite"), MemoryTokenStorage()
      )
      tokenStorage.left = count
      #expect(throws: StoreError.self) { try open(path, token: tokenStorage) }
      tokenStorage.left = 2
      let store = try open(path, token: tokenStorage, as: 2)
      #expect(store.deviceChange == nil)
      try store.write("Milk")
      #expect(try open(path, token: tokenStorage, as: 3).title == "Milk")
    }
  }

  @Test func databaseWithoutFileLeavesNoToken() async throws {
    let before = FileManager.default.currentDirectoryPath
    for path in ["", ":memory:"] {
      await #expect(throws: StoreError.self) {
        _ = try await ReplicaStore(at: path, schema: [Note.self])
      }
    }
    let store = try await ReplicaStore.inMemory(schema: [Note.self])
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    #expect(try await store.delta(since: ReplicaVersion()) != nil)
    #expect(await store.read { $0[Note.self, "1"]?.title } == "Milk")
    let files = try FileManager.default.contentsOfDirectory(atPath: before)
    #expect(!files.contains { $0.hasSuffix(".token") || $0 == ":memory:" })
  }

  @Test func closingLeavesOneFile() async throws {
    let store = try await store()
    var changes = await store.changes.makeAsyncIterator()
    _ = try await changes.next()
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    try await store.close()
    try await store.close()
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        == ["notes.sqlite", "notes.sqlite.token"])
    await #expect(throws: StoreError.closed) {
      try await store.save { $0[Note.self, "1"].title = "Bread" }
    }
    await #expect(throws: StoreError.closed) {
      try await store.delta(since: ReplicaVersion())
    }
    await #expect(throws: StoreError.closed) {
      try await store.backup(to: self.folder.file("backup.sqlite"))
    }
    #expect(await store.read { $0[Note.self, "1"]?.title } == "Milk")
    // Pending changes are delivered first.
    #expect(try await changes.nextChanges()?.all.count == 1)
    await #expect(throws: StoreError.closed) { _ = try await changes.next() }
    let again = try await self.store(as: 2)
    #expect(await again.deviceChange == nil)
    #expect(await again.read { $0[Note.self, "1"]?.title } == "Milk")
  }

  @Test func backupWritesOneCompleteFile() async throws {
    let store = try await store()
    for i in 0..<50 {
      try await store.save { $0[Note.self, "\(i)"].title = "\(i)" }
    }
    let backup = folder.file("backup.sqlite")
    try await store.backup(to: backup)
    // The store is in use before and after the backup.
    try await store.save { $0[Note.self, "later"].title = "later" }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path)
        .filter { $0.hasPrefix("backup") } == ["backup.sqlite"])
    await #expect {
      try await store.backup(to: backup)
    } throws: { error in
      if case StoreError.notCopied = error { true } else { false }
    }
    await #expect(throws: StoreError.self) {
      try await store.backup(to: self.folder.file("none/backup.sqlite"))
    }
    let copy = try await self.store("backup.sqlite", as: 2)
    #expect(await copy.device == DeviceID(2))
    #expect(await copy.deviceChange?.lastSent == nil)
    #expect(await copy.read { $0.recordIDs(of: "Note").count } == 50)
    #expect(await store.read { $0.recordIDs(of: "Note").count } == 51)
  }

  @Test func openingAgainEndsObserversOfFormerStore() async throws {
    let first = try await store()
    try await first.save { $0[Note.self, "1"].title = "Milk" }
    var changes = await first.changes.makeAsyncIterator()
    _ = try await changes.next()
    var values = first.values(of: Note.self, key: "1").makeAsyncIterator()
    #expect(try await values.next()??.title == "Milk")
    #expect(!first.isSuperseded)
    // The link is another name for the same file.
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("link.sqlite"), withDestinationPath: path)
    let token = TokenFile(beside: path)
    let second = try await ReplicaStore(
      at: folder.file("link.sqlite"), schema: [Note.self],
      wallClock: ManualClock().wallClock, token: token,
      makeDeviceID: { DeviceID(2) })
    try await second.save { $0[Note.self, "1"].title = "Bread" }
    #expect(first.isSuperseded && !second.isSuperseded)
    await #expect(throws: StoreError.superseded) {
      _ = try await changes.next()
    }
    await #expect(throws: StoreError.superseded) { _ = try await values.next() }
    var late = await first.changes.makeAsyncIterator()
    _ = try await late.next()
    await #expect(throws: StoreError.superseded) { _ = try await late.next() }
    #expect(await first.read { $0[Note.self, "1"]?.title } == "Milk")
    await #expect(throws: StoreError.superseded) {
      try await first.save { $0[Note.self, "1"].title = "Butter" }
    }
    // Another scope of the file is another replica.
    _ = try await store(scope: "b", as: 3)
    #expect(!second.isSuperseded)
  }

  /// The second store stands for another process.
  @Test func changeDetectsSupersedingProcess() throws {
    let first = try open(path, token: tokenStorage)
    let (pending, signals) = first.observers.observe()
    _ = try open(path, token: tokenStorage)
    #expect(first.observers.failure == nil)
    #expect(throws: StoreError.superseded) { try first.write("lost") }
    #expect(first.observers.failure == .superseded)
    #expect(pending.failure == .superseded)
    _ = signals
  }

  @Test func openingWithoutMainFileKeepsLog() async throws {
    let first = try await store()
    _ = try await first.setting("wal_autocheckpoint = 0")
    try await first.save { $0[Note.self, "1"].title = "Milk" }
    _ = try await first.delta(since: ReplicaVersion())
    // The copy stands for a killed process whose main file was moved.
    try folder.copy("notes.sqlite", to: "killed.sqlite")
    try FileManager.default.copyItem(
      atPath: path + ".token", toPath: folder.file("killed.sqlite.token"))
    try FileManager.default.moveItem(
      atPath: folder.file("killed.sqlite"), toPath: folder.file("away"))
    await #expect {
      _ = try await self.store("killed.sqlite", as: 2)
    } throws: { error in
      if case StoreError.missing(.some) = error { true } else { false }
    }
    try FileManager.default.moveItem(
      atPath: folder.file("away"), toPath: folder.file("killed.sqlite"))
    let again = try await store("killed.sqlite", as: 2)
    #expect(await again.deviceChange == nil)
    #expect(await again.read { $0[Note.self, "1"]?.title } == "Milk")
  }

  @Test func failedRecoveryKeepsToken() async throws {
    try await fill()
    let bytes = try TokenFile(beside: path).load()
    tokenStorage.bytes = bytes
    // Writing the row of the scope fails.
    let full = FailingConnection(
      try SQLiteConnection(opening: folder.file("full.sqlite"))
    ) { sql in
      sql.hasPrefix("INSERT") ? SQLError(.full, "the disk is full") : nil
    }
    #expect(throws: StoreError.self) {
      try StoredScope(
        "main", on: full, recovering: .asNewDevice, schema: [Note.self],
        wallClock: ManualClock().wallClock, token: tokenStorage,
        makeDeviceID: { DeviceID(2) })
    }
    #expect(tokenStorage.bytes == bytes)
  }

  /// Two stores of a process open a scope, and the second one is first to be
  /// registered.
  @Test func laterWriterSupersedesEarlierWriter() throws {
    let (first, second) = (
      try open(path, token: tokenStorage), try open(path, token: tokenStorage)
    )
    let scopes = OpenScopes()
    let file = try #require(DurableFile(path: path).identity)
    let key = OpenScopes.Key(file: file, scope: Array("main".utf8))
    scopes.open(key, by: second.observers, as: second.writer)
    scopes.open(key, by: first.observers, as: first.writer)
    #expect(first.observers.failure == .superseded)
    #expect(second.observers.failure == nil)
  }

  @Test func undoneChangeDoesNotChangeDevice() throws {
    let store = try open(path, token: tokenStorage)
    try store.write("Milk")
    try folder.copy("notes.sqlite", to: "clone.sqlite")
    let own = TestTokenStorage()
    own.bytes = tokenStorage.bytes
    let writer = SwitchedWriter()
    let clone = try open(
      folder.file("clone.sqlite"), writing: writer.write, token: own, as: 5)
    try store.write("Bread")
    let sent = try #require(try store.export { $0.delta() })
    try clone.update { _ = $0.apply(sent) }
    writer.refuse()
    #expect(throws: Refused.self) { try clone.write("lost") }
    writer.current = nil
    #expect(clone.replica.device == DeviceID(1))
    #expect(clone.replica.deviceChange == nil)
    try clone.write("kept")
    #expect(clone.deviceChange?.new == DeviceID(5))
  }

  @Test func observerDuringChangeMissesThatChange() throws {
    let store = try open(path, token: tokenStorage)
    try store.write("Milk")
    let observers = store.observers
    let (early, signals) = observers.observe(RecordID("Note", "1"))
    var late: (PendingChanges, signals: AsyncStream<Void>)?
    try store.update { replica in
      try replica.save { $0[Note.self, "1"].title = "Bread" }
      late = observers.observe()
    }
    #expect(early.take()?.all.count == 1)
    #expect(late?.0.take() == nil)
    try store.write("Butter")
    #expect(late?.0.take()?.changes(to: Note.self).first?.old?.title == "Bread")
    _ = signals
  }
}
