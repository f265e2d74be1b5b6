// SPDX-License-Identifier: Apache-2.0

import RejoinPolicies
import RejoinSQL
import RejoinStore
import Testing

/// The lines of the article and of the modules' pages.
@Suite struct SavingRecordsToDiskArticle {
  /// A keychain in memory.
  private final class Items: @unchecked Sendable {
    var items: [String: [UInt8]] = [:]
  }

  private struct Keychain: TokenStorage {
    func load() throws -> [UInt8]? { try readItem("rejoin-token") }
    func store(_ bytes: [UInt8]) throws { try writeItem("rejoin-token", bytes) }

    private let items = Items()
    private func readItem(_ name: String) throws -> [UInt8]? {
      items.items[name]
    }
    private func writeItem(_ name: String, _ bytes: [UInt8]) throws {
      items.items[name] = bytes
    }
  }

  /// The lines that the app shows.
  private final class Screen: Sendable {
    private let shown = Locked<[String]>([])
    var lines: [String] { shown.withLock { $0 } }
    func add(_ line: String) { shown.withLock { $0.append(line) } }
  }

  @Test func article() async throws {
    let folder = try Folder()
    let path = folder.file("notes.sqlite")
    let store = try await ReplicaStore(at: path, schema: [Note.self])

    try await store.save { transaction in
      transaction[Note.self, "1"].title = "Milk"
      transaction[Note.self, "1"].tags.insert("shopping")
    }
    #expect(await store.read { $0[Note.self, "1"]?.title } == "Milk")
    try await store.withReplica { try $0.purgeDeletedRecords() }

    let reader = try await store.reader()
    let page = try await reader.read { $0.records(of: Note.self, limit: 50) }
    #expect(page.map(\.title) == ["Milk"])

    let screen = Screen()
    @Sendable func show(_ title: String?) {
      screen.add("shows \(title ?? "-")")
    }
    @Sendable func hide(_ key: String) { screen.add("hides \(key)") }
    let values = Task {
      for try await note in store.values(of: Note.self, key: "1") {
        show(note?.title)
      }
    }
    let changes = Task {
      for try await update in await store.changes {
        guard case .changes(let changes) = update else { continue }
        for change in changes.changes(to: Note.self) where change.new == nil {
          hide(change.key)
        }
      }
    }
    while screen.lines.isEmpty { await Task.yield() }
    #expect(screen.lines == ["shows Milk"])
    // An observer that starts after a change does not receive it.
    while !Set(["hides 1", "shows -"]).isSubset(of: screen.lines) {
      try await store.save { $0.undelete(RecordID("Note", "1")) }
      try await store.save { $0[Note.self, "1"].delete() }
    }
    values.cancel()
    changes.cancel()
    try await store.save { $0.undelete(RecordID("Note", "1")) }

    try await store.save(undoable: "Rename") {
      $0[Note.self, "1"].title = "Cheese"
    }
    #expect(await store.undoName == "Rename")
    try await store.undo()
    #expect(await store.read { $0[Note.self, "1"]?.title } == "Milk")
    try await store.redo()
    #expect(await store.read { $0[Note.self, "1"]?.title } == "Cheese")

    var form = await store.read { $0.draft(of: Note.self, key: "1") }
    form.title = "Ham"
    try await store.commit(form, under: .merge, undoable: "Edit note")
    #expect(await store.undoName == "Edit note")
    try await store.undo()
    #expect(await store.read { $0[Note.self, "1"]?.title } == "Cheese")

    var kept: [FieldLocation] = []
    func showKept(_ fields: [FieldLocation]) { kept = fields }
    func askToSkip(_ fields: [FieldLocation]) { kept = fields }
    try await store.withReplica { replica in
      let other = replica.fork(as: .random())
      try other.save { $0[Note.self, "1"].title = "Ham" }
      _ = replica.merge(other)
    }
    switch try await store.undo() {
    case .done(let report): showKept(report.unrevertedFields)  // changed later
    case .prevented(let fields): askToSkip(fields)  // nothing was undone
    case .nothing: break
    }
    #expect(kept.map(\.field.name) == ["title"])
    try await store.discardUndo()
    #expect(await store.undoName == nil)

    try await store.save { $0[Note.self, "1"].title = "Bread" }

    let other = try await ReplicaStore(
      at: folder.file("other.sqlite"), schema: [Note.self], token: Keychain())
    let itsVersion = await other.version
    let isUpToDate = await store.version.covers(itsVersion)
    #expect(isUpToDate)
    let delta = try await store.delta(since: itsVersion)
    #expect(try await !other.apply(#require(delta)).hasFaults)
    #expect(await other.read { $0[Note.self, "1"]?.tags } == ["shopping"])
    try await other.save { $0[Note.self, "1"].title = "Butter" }
    let received = try #require(
      try await other.delta(since: store.version))
    try await store.apply(received)
    #expect(await store.read { $0[Note.self, "1"]?.title } == "Butter")
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        .filter { $0.hasSuffix(".token") } == ["notes.sqlite.token"])
    withExtendedLifetime(folder) {}
  }

  @Test func recordsAreShownAsTable() async throws {
    let folder = try Folder()
    let path = folder.file("notes.sqlite")
    let notes = RecordTable(of: Note.self, "notes") {
      $0.column("title", \.title)
    }
    let store = try await ReplicaStore(
      at: path, schema: [Note.self], tables: [notes])
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    #expect(
      try SQLiteConnection(opening: path).integer(
        "SELECT count(*) FROM notes WHERE title = 'Milk'") == 1)
  }

  @Test func missingStoreIsOpenedAsNewDevice() async throws {
    let folder = try Folder()
    let path = folder.file("notes.sqlite")
    let backup = folder.file("backup.sqlite")
    @Sendable func openStore(
      recovering recovery: StoreRecovery? = nil
    ) async throws -> ReplicaStore {
      try await ReplicaStore(
        at: path, schema: [Note.self], recovering: recovery)
    }
    var store = try await openStore()
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    try await store.backup(to: backup)
    try await store.close()
    #expect(FileManager.default.fileExists(atPath: backup))
    try FileManager.default.removeItem(atPath: path)
    do {
      store = try await openStore()
    } catch StoreError.missing {
      store = try await openStore(recovering: .asNewDevice)
    }
    #expect(await store.deviceChange != nil)
    withExtendedLifetime(folder) {}
  }

  @Test func signingOutDeletesScopes() async throws {
    let folder = try Folder()
    let path = folder.file("notes.sqlite")
    @Sendable func openStore(
      scope: String = "main"
    ) async throws -> ReplicaStore {
      try await ReplicaStore(at: path, scope: scope, schema: [Note.self])
    }
    var warning: String?
    func warn(_ text: String) { warning = text }
    let store = try await openStore()
    if let error = await store.writeError {
      warn("Changes cannot be saved now. \(error)")
    }
    #expect(warning == nil)
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    _ = try await openStore(scope: "shared")
    for name in try await ReplicaStore.scopes(at: path) {
      try await openStore(scope: name).deleteScope()
    }
    #expect(try await ReplicaStore.scopes(at: path) == [])
    withExtendedLifetime(folder) {}
  }

  @Test func connectionRunsStatementsWithoutStore() throws {
    let folder = try Folder()
    let connection = try SQLiteConnection(
      opening: folder.file("notes.sqlite"))
    try connection.run("CREATE TABLE note (title TEXT)")
    try connection.run("INSERT INTO note VALUES ($1)", .text("Milk"))
    #expect(
      try connection.integer(
        "SELECT count(*) FROM note WHERE title = 'Milk'") == 1)
    let error = #expect(throws: SQLError.self) {
      try connection.run("SELECT nothing")
    }
    #expect(error?.code == .other("1"))
    #expect(throws: SQLError.self) { try connection.run("") }
    withExtendedLifetime(folder) {}
  }
}
