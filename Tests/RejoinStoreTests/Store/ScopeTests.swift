// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing

@testable import RejoinStore

/// The scopes of a file: listed, found, and deleted.
@Suite final class ScopeTests: StoreSuite {
  private func store(
    _ scope: String = "main", recovering recovery: StoreRecovery? = nil,
    token: (any TokenStorage)? = nil, as device: UInt64 = 1
  ) async throws -> ReplicaStore {
    try await ReplicaStore(
      at: path, scope: scope, schema: [Note.self],
      wallClock: ManualClock().wallClock, token: token, recovering: recovery,
      makeDeviceID: { DeviceID(device) })
  }

  private func fill(_ store: ReplicaStore, with text: String) async throws {
    for i in 0..<100 {
      try await store.save(undoable: text) {
        $0[Note.self, "\(i / 2)"].title = "\(text), \(i)"
      }
    }
    _ = try await store.delta(since: ReplicaVersion())
  }

  private func holds(_ text: String) throws -> Bool {
    try ["", "-wal"].contains { end in
      let file = URL(filePath: path + end)
      guard FileManager.default.fileExists(atPath: file.path) else {
        return false
      }
      return try Data(contentsOf: file).range(of: Data(text.utf8)) != nil
    }
  }

  @Test func scopesOfDevicesAreListed() async throws {
    #expect(try await ReplicaStore.scopes(at: path) == [])
    _ = try await store("b")
    _ = try await store("a")
    let hub = try await Hub(connections: 1) { [path] in
      try SQLiteConnection(opening: path)
    }
    let replica = Replica(
      device: DeviceID(5), schema: [Note.self],
      wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(6) })
    try replica.save { $0[Note.self, "1"].title = "Milk" }
    let session = hub.makeSession { _ in }
    _ = try await session.apply(try #require(replica.delta()), in: "shared")
    #expect(try await ReplicaStore.scopes(at: path) == ["b", "a"])
    try SQLiteConnection(opening: folder.file("app")).run(
      "CREATE TABLE t (a)")
    #expect(try await ReplicaStore.scopes(at: folder.file("app")) == [])
    try Data("no database, and long enough".utf8).write(
      to: URL(filePath: folder.file("text")))
    await #expect(throws: StoreError.self) {
      try await ReplicaStore.scopes(at: self.folder.file("text"))
    }
  }

  @Test func deletedScopeLeavesNothing() async throws {
    let (store, other) = (try await store(), try await store("b", as: 2))
    try await fill(store, with: "a secret of the user")
    try await fill(other, with: "a note that stays")
    #expect(try holds("a secret of the user"))
    var changes = await store.changes.makeAsyncIterator()
    _ = try await changes.next()
    try await store.deleteScope()
    #expect(try !holds("a secret of the user"))
    #expect(try holds("a note that stays"))
    #expect(!DurableFile(path: path + ".token").exists)
    #expect(try await ReplicaStore.scopes(at: path) == ["b"])
    let rows = try SQLiteConnection(opening: path, .reading)
    for table in Tables.names {
      let count = try rows.integer("SELECT count(*) FROM \(table)") ?? 0
      let others = try rows.integer(
        "SELECT count(*) FROM \(table) WHERE scope = 2")
      #expect(count == others, "\(table)")
    }
    await #expect(throws: StoreError.closed) { _ = try await changes.next() }
    await #expect(throws: StoreError.closed) {
      try await store.save { $0[Note.self, "1"].title = "late" }
    }
    try await store.deleteScope()
    // The other scope continues, and the deleted one starts again.
    try await other.save { $0[Note.self, "new"].title = "new" }
    let again = try await self.store(as: 3)
    #expect(await again.device == DeviceID(3))
    #expect(await again.deviceChange == nil)
    #expect(await again.read { $0.recordCount(of: Note.self) } == 0)
    #expect(await again.undoName == nil)
  }

  /// The earlier store still exists.
  @Test func recreatedScopeIsNotSuperseded() async throws {
    var earlier: [ReplicaStore] = []
    for i in 1...20 as ClosedRange<UInt64> {
      let store = try await store(as: i)
      try await store.save { $0[Note.self, "1"].title = "\(i)" }
      #expect(!store.isSuperseded)
      if i % 2 == 0 {
        try await store.deleteScope()
      } else {
        try await store.close()
        for end in ["", ".token"] {
          try FileManager.default.removeItem(atPath: path + end)
        }
      }
      earlier.append(store)
    }
  }

  /// Another store creates the scope again before its token is removed.
  @Test func laterDeletionKeepsTokenOfNewScope() throws {
    let store = try open(path, token: tokenStorage)
    try store.write("Milk")
    tokenStorage.fails = true
    #expect(throws: StoreError.self) { try store.delete() }
    tokenStorage.fails = false
    let again = try StoredScope(
      "main", on: SQLiteConnection(opening: path), recovering: .asNewDevice,
      schema: [Note.self], wallClock: ManualClock().wallClock,
      token: tokenStorage,
      makeDeviceID: { DeviceID(2) })
    try again.write("Bread")
    try again.export { _ in }
    let token = tokenStorage.bytes
    try store.delete()
    #expect(tokenStorage.bytes == token)
  }

  /// The new scope has the row number of the deleted one.
  @Test func earlierStoreOfDeletedScopeIsSuperseded() throws {
    let first = try open(path, token: tokenStorage)
    try first.write("Milk")
    let second = try open(path, token: tokenStorage)
    try second.delete()
    #expect(throws: StoreError.superseded) { try first.write("late") }
    let third = try open(path, token: tokenStorage, as: 2)
    try third.write("Bread")
    #expect(throws: StoreError.superseded) { try first.write("late") }
    #expect(throws: StoreError.superseded) { try first.delete() }
    #expect(third.title == "Bread")
    #expect(try open(path, token: tokenStorage, as: 3).title == "Bread")
  }

  /// The process exits after each statement and each access to the token.
  @Test func interruptedDeletionKeepsScopeOrThrowsMissing() throws {
    struct Exited: Error {}
    var (intact, missing) = (0, 0)
    for step in 0... {
      let (path, tokenStorage) = (
        folder.file("\(step).sqlite"), TestTokenStorage()
      )
      let file = try SQLiteConnection(opening: path)
      let connection = HookedConnection(file)
      let store = try StoredScope(
        "main", on: connection, schema: [Note.self],
        wallClock: ManualClock().wallClock, token: tokenStorage,
        makeDeviceID: { DeviceID(1) })
      try store.write("Milk")
      try store.export { _ in }
      var left = step
      connection.after = { _, _ in
        left -= 1
        if left < 0 { throw Exited() }
      }
      tokenStorage.fails = true
      #expect(throws: StoreError.self) { try store.delete() }
      tokenStorage.fails = false
      file.close()
      do {
        let again = try open(path, token: tokenStorage, as: 2)
        #expect(again.title == "Milk" && again.deviceChange == nil)
        intact += 1
      } catch StoreError.missing(let token?) {
        #expect(token.device == DeviceID(1) && token.sequence == 1)
        missing += 1
        let again = try StoredScope(
          "main", on: SQLiteConnection(opening: path), recovering: .asNewDevice,
          schema: [Note.self], wallClock: ManualClock().wallClock,
          token: tokenStorage, makeDeviceID: { DeviceID(2) })
        #expect(again.replica.recordIDs(of: "Note").isEmpty)
        #expect(again.replica.ownDevices == [DeviceID(1), DeviceID(2)])
      }
      if left > 0 { break }
    }
    #expect(intact > 5 && missing > 0)
  }

  @Test func nextDeletionRemovesLeftToken() throws {
    let store = try open(path, token: tokenStorage)
    try store.write("Milk")
    tokenStorage.fails = true
    let error = #expect(throws: StoreError.self) { try store.delete() }
    guard case .tokenNotRemoved = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    tokenStorage.fails = false
    #expect {
      try open(path, token: tokenStorage, as: 2)
    } throws: { error in
      if case StoreError.missing(.some) = error { true } else { false }
    }
    try store.delete()
    #expect(try open(path, token: tokenStorage, as: 2).deviceChange == nil)
  }

  /// Opening reads the rows of one scope, regardless of the others.
  @Test func openingReadsOneScope() throws {
    func rows(besides others: Int) throws -> Int {
      let path = folder.file("\(others).sqlite")
      let tokenStorage = TestTokenStorage()
      try open(path, scope: "mine", token: tokenStorage).write("Milk")
      for i in 0..<others { try open(path, scope: "\(i)").write("Bread") }
      let connection = CountingConnection(try SQLiteConnection(opening: path))
      let store = try StoredScope(
        "mine", on: connection, schema: [Note.self],
        wallClock: ManualClock().wallClock, token: tokenStorage,
        makeDeviceID: { DeviceID(2) })
      #expect(store.title == "Milk" && store.deviceChange == nil)
      // A missing scope needs no search.
      connection.reset()
      _ = try StoredScope(
        "new", on: connection, schema: [Note.self],
        wallClock: ManualClock().wallClock, token: TestTokenStorage(),
        makeDeviceID: { DeviceID(3) })
      return connection.rows
    }
    #expect(try rows(besides: 1) == rows(besides: 40))
    // A scope with a small part of the records is read by an index.
    let plan = try SQLiteConnection(opening: folder.file("40.sqlite"))
    var steps: [String] = []
    try plan.run(
      "EXPLAIN QUERY PLAN SELECT body FROM rejoin_record r WHERE scope = 1", []
    ) { row in
      if case .text(let step) = row.value(3) { steps.append(step) }
    }
    #expect(steps.allSatisfy { $0.contains("USING INDEX") })
  }

  /// Each byte of a scope's name, in the row and in the index.
  @Test func damagedNameIsDamage() throws {
    let name = "the name of a scope"
    do {
      let store = try open(path, scope: name, token: tokenStorage)
      try store.write("Milk")
      try store.export { _ in }
      try store.update { _ in }
    }
    try SQLiteConnection(opening: path).run("PRAGMA journal_mode = DELETE")
    let bytes = Array(try Data(contentsOf: URL(filePath: path)))
    let text = Array(name.utf8)
    let places = bytes.indices.filter {
      bytes.dropFirst($0).starts(with: text)
    }
    #expect(places.count == 2)
    for place in places {
      for i in text.indices {
        var damaged = bytes
        damaged[place + i] ^= 2
        try Data(damaged).write(to: URL(filePath: path))
        expectDamaged("byte \(i) at \(place)") {
          let connection = try SQLiteConnection(opening: path)
          return try StoredScope(
            name, on: connection, schema: [Note.self],
            wallClock: ManualClock().wallClock, token: tokenStorage,
            makeDeviceID: { DeviceID(2) })
        }
      }
    }
  }
}
