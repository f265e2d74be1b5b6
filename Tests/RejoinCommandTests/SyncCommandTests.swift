// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinSQL
import RejoinStore
import RejoinSync
import RejoinTesting
import Testing

@testable import RejoinCommand

/// `rejoin sync`, with commands and servers.
@Suite struct SyncCommandTests {
  private struct Note: Entity {
    let title = register("title", of: String.self)
    let size = counter("size")
    let tags = set("tags", of: String.self)
  }

  private let folder: Folder

  init() throws {
    folder = try Folder()
    // As the command does.
    signal(SIGPIPE, SIG_IGN)
  }

  /// The route of a hub in the folder.
  private static let hub = "'\(rejoinPath)' serve --stdio hub.sqlite"

  private func path(_ name: String) -> String {
    folder.url.appending(path: "\(name).sqlite").path
  }

  /// Opens a store, calls a closure with it, and closes the store.
  @discardableResult
  private func withStore<Value: Sendable>(
    _ name: String, scope: String = "main", schema: Schema = [Note.self],
    tables: [RecordTable] = [], writing writer: TableWriter? = nil,
    _ body: (ReplicaStore) async throws -> Value
  ) async throws -> Value {
    let store = try await ReplicaStore(
      at: path(name), scope: scope, schema: schema, tables: tables,
      writing: writer)
    let value = try await body(store)
    try await store.close()
    return value
  }

  /// Saves a note in a store, whose key is the start of its title.
  private func save(_ title: String, in name: String) async throws {
    try await withStore(name) { store in
      try await store.save { transaction in
        let note = transaction[Note.self, String(title.prefix(9))]
        note.title = title
        note.tags.insert(name)
        transaction[Note.self, "all"].size.increment()
      }
    }
  }

  private func sync(
    _ name: String, _ route: String, _ options: String = ""
  ) async throws -> Printed {
    try folder.write(route, to: "route")
    return try await shell(
      "rejoin sync \(name).sqlite \"$(cat route)\" \(options)", in: folder)
  }

  @Test func storesSyncThroughPipesInParallel() async throws {
    let names = ["one", "two", "three"]
    for round in 0..<3 {
      for name in names { try await save("\(name) \(round)", in: name) }
      // After a sync of all, a second one brings what the others sent.
      for _ in 0..<2 {
        let printed = try await shell(
          """
          pids=
          for name in \(names.joined(separator: " ")); do
            rejoin sync $name.sqlite "\(Self.hub)" --as notes & pids="$pids $!"
          done
          code=0; for pid in $pids; do wait $pid || code=$?; done; exit $code
          """, in: folder)
        #expect(printed.code == 0, "\(printed.text)")
      }
    }
    var contents: Set<[UInt8]> = []
    for name in names {
      let (clock, count) = try await withStore(name) { store in
        let view = await store.read { $0[Note.self, "all"]?.size }
        return (await store.version, view)
      }
      #expect(count == 9)
      contents.insert(Array("\(clock.vectorClock.entries)".utf8))
    }
    #expect(contents.count == 1)
    let printed = try await sync("one", Self.hub, "--as notes")
    #expect(
      printed.text == """
        sent:      none
        received:  none
        unsent:    none
        synced:    yes

        """)
    #expect(printed.code == 0)
  }

  @Test func storesSyncThroughServer() async throws {
    let server = try RunningServer(in: folder)
    // The part is larger than the buffers of sockets.
    let large = String(repeating: "Milk", count: 1 << 20)
    try await save(large, in: "one")
    try await save("Bread", in: "two")
    let sent = try await sync("one", server.url)
    #expect(sent.code == 0, "\(sent.text)")
    #expect(sent.text.hasPrefix("sent:      2 records in "))
    #expect(sent.text.contains("\nreceived:  none\nunsent:    none\n"))
    let received = try await sync("two", server.url)
    #expect(received.code == 0, "\(received.text)")
    #expect(received.text.contains("\nreceived:  2 records in "))
    #expect(received.text.hasSuffix("\nsynced:    yes\n"))
    let title = try await withStore("two") { store in
      await store.read { $0[Note.self, "MilkMilkM"]?.title }
    }
    #expect(title == large)
  }

  /// The command has no schema, but the app keeps what it declares.
  @Test func keepsEntitiesAndFieldsAndTablesOfApp() async throws {
    let table = RecordTable(of: Note.self, "notes") {
      $0.column("title", \.title)
      $0.column("size", \.size)
    }
    let writer: TableWriter = { connection, changes in
      try connection.run("CREATE TABLE IF NOT EXISTS words (key, title)")
      if changes.isRebuild { try connection.run("DELETE FROM words") }
      for note in changes.changes(to: Note.self) {
        try connection.run(
          "DELETE FROM words WHERE key = $1", .text(note.key))
        guard let title = note.new?.title else { continue }
        try connection.run(
          "INSERT INTO words VALUES ($1, $2)", .text(note.key), .text(title))
      }
    }
    func app<Value: Sendable>(
      _ body: (ReplicaStore) async throws -> Value
    ) async throws -> Value {
      try await withStore("app", tables: [table], writing: writer, body)
    }
    let device = try await app { store in
      try await store.save(undoable: "Add") { transaction in
        transaction[Note.self, "1"].title = "Milk"
        transaction[Note.self, "1"].tags.insert("food")
        transaction[Note.self, "1"].size.increment(by: 3)
        transaction[Note.self, "2"].title = "Bread"
      }
      return await store.device
    }
    try await save("Eggs", in: "other")
    #expect(try await sync("other", Self.hub).code == 0)
    let printed = try await sync("app", Self.hub)
    #expect(printed.code == 0, "\(printed.text)")
    #expect(printed.text.hasPrefix("sent:      2 records in "))
    #expect(printed.text.contains("\nreceived:  2 records in "))

    try await app { store in
      #expect(await store.device == device)
      #expect(await store.deviceChange == nil)
      let titles = await store.read { view in
        ["1", "2", "Eggs"].map { view[Note.self, $0]?.title }
      }
      #expect(titles == ["Milk", "Bread", "Eggs"])
      let note = await store.read { view in
        (view[Note.self, "1"]?.tags, view[Note.self, "1"]?.size)
      }
      #expect(note.0 == ["food"] && note.1 == 3)
      #expect(await store.rebuiltTables == ["notes"])
      #expect(await store.undoName == "Add")
    }
    let connection = try SQLiteConnection(opening: path("app"))
    for (sql, count) in [
      ("SELECT count(*) FROM notes WHERE title IS NOT NULL", 3),
      ("SELECT size FROM notes WHERE id = '1'", 3),
      ("SELECT size FROM notes WHERE id = 'all'", 1),
      ("SELECT count(*) FROM words", 3),
      ("SELECT count(*) FROM words WHERE title = 'Eggs'", 1),
    ] {
      #expect(try connection.integer(sql) == Int64(count), "\(sql)")
    }
    connection.close()
    // The other device gets the fields unchanged.
    #expect(try await sync("other", Self.hub).code == 0)
    let tags = try await withStore("other") { store in
      await store.read { $0[Note.self, "1"]?.tags }
    }
    #expect(tags == ["food"])
  }

  @Test func scopesHaveOtherNamesAtPeer() async throws {
    try await withStore("one", scope: "list") { store in
      try await store.save { $0[Note.self, "1"].title = "Milk" }
    }
    let printed = try await sync("one", Self.hub, "--scope list --as=list-17")
    #expect(printed.code == 0, "\(printed.text)")
    let hub = try await Hub { [path = path("hub")] in
      try SQLiteConnection(opening: path)
    }
    #expect(try await hub.scopes().map(\.name) == ["list-17"])
  }

  @Test func refusalsFail() async throws {
    try await save("Milk", in: "one")
    #expect(try await sync("one", Self.hub).code == 0)
    try await Hub { [path = path("hub")] in
      try SQLiteConnection(opening: path)
    }.eraseScope("main")
    try await save("Bread", in: "one")
    let printed = try await sync("one", Self.hub)
    #expect(printed.code == 1)
    #expect(printed.text.contains("\nunsent:    "))
    #expect(printed.text.contains("The scope was erased, or"))
  }

  @Test func unusableStoresFail() async throws {
    func expect(
      _ reason: String, _ name: String, _ options: String = ""
    ) async throws {
      let printed = try await sync(name, "touch started; cat", options)
      #expect(printed.code == 1)
      #expect(printed.text.hasPrefix("rejoin: "))
      #expect(printed.text.contains(reason), "\(printed.text)")
      let files = try FileManager.default.contentsOfDirectory(
        atPath: folder.url.path)
      #expect(!files.contains("started"))
    }
    try await expect("missing.sqlite cannot be read: No such file", "missing")
    #expect(!FileManager.default.fileExists(atPath: path("missing")))
    try folder.write(
      String(repeating: "text ", count: 1_000), to: "text.sqlite")
    try await expect("file is not a database", "text")
    try await save("Milk", in: "one")
    try await expect(
      "has no scope \"x\" of a store; name one of \"main\"", "one", "--scope x")
    #expect(try await ReplicaStore.scopes(at: path("one")) == ["main"])
    #expect(try await sync("one", Self.hub).code == 0)
    try await expect("has no scope \"main\" of a store; name a store", "hub")
    let device = try await withStore("one") { await $0.device }
    try FileManager.default.moveItem(
      atPath: path("one") + ".token", toPath: path("token"))
    try await expect(
      "is not next to one.sqlite; sync the store in its app", "one")
    try FileManager.default.moveItem(
      atPath: path("token"), toPath: path("one") + ".token")
    #expect(try await withStore("one") { await $0.device } == device)
  }

  private static let garbage =
    "wrote bytes that are not an answer and exited with code"

  @Test(arguments: [
    ("http://127.0.0.1:1/", "cannot be reached"),
    ("exit 7", "ended without an answer and exited with code 7"),
    ("no-such-command", "ended without an answer and exited with code 127"),
    ("true", "ended without an answer and exited with code 0"),
    ("head -c 1 > /dev/null; printf '\\005ab'; exit 3", garbage + " 3"),
    ("echo hello", garbage + " 0"),
    ("yes", "bytes that are not an answer"),
    ("printf '\\377\\377\\377\\377\\017'", garbage + " 0"),
    ("head -c 1 > /dev/null; printf '\\001a'; sleep 100", "not an answer"),
    ("exec < /dev/null; cat /dev/zero", "bytes that are not an answer"),
    ("cat", "bytes that are not an answer"),
  ])
  func unusableRoutesFail(route: String, reason: String) async throws {
    try await save("Milk", in: "one")
    let printed = try await sync("one", route)
    #expect(printed.code == 1)
    #expect(printed.text.contains("\nunsent:    1 save\n"))
    #expect(printed.text.contains("rejoin: "))
    #expect(printed.text.contains(reason), "\(printed.text.prefix(2_000))")
    for name in ["NSError", "NSURLError", "Error Domain", "CommandError"] {
      #expect(!printed.text.contains(name), "\(printed.text.prefix(2_000))")
    }
    // The store is unharmed.
    #expect(try await sync("one", Self.hub).code == 0)
  }

  @Test(arguments: [
    "", "one.sqlite", "a b c", "a b --scope ''", "a http:///", "a b --watch",
  ])
  func wrongArgumentsExitWithTwo(words: String) async throws {
    try await save("Milk", in: "a")
    let printed = try await shell("rejoin sync \(words)", in: folder)
    #expect(printed.code == 2, "\(printed.text)")
  }

  /// The request is larger than the buffer of a pipe.
  @Test(arguments: ["yes", "exit 1", "exec < /dev/null; sleep 1"])
  func commandThatDoesNotReadFails(command: String) async throws {
    let route = try await ProcessRoute(command)
    await #expect(throws: CommandError.self) {
      try await route.ask([UInt8](repeating: 1, count: 1 << 20))
    }
    await route.close()
  }

  @Test func cancellationTerminatesCommand() async throws {
    let file = folder.url.appending(path: "id").path
    let route = try await ProcessRoute("echo $$ > '\(file)'; cat > /dev/null")
    let asking = Task { try await route.ask([1]) }
    var id: Int32?
    while id == nil {
      try await Task.sleep(for: .milliseconds(10))
      let text = try? String(contentsOfFile: file, encoding: .utf8)
      id = text.flatMap { Int32($0.dropLast()) }
    }
    asking.cancel()
    await #expect(throws: CancellationError.self) { try await asking.value }
    await route.close()
    #expect(kill(try #require(id), 0) == -1)
  }

  @Test func helpWarnsOfRunningApp() throws {
    let text = try rejoin("sync", "--help").text
    #expect(text.contains("Quit the app that uses the store first"))
  }
}
