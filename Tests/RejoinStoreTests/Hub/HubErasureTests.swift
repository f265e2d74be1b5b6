// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing

@testable import Rejoin
@testable import RejoinSQL
@testable import RejoinStore

/// The erasure of a hub's scopes.
@Suite final class HubErasureTests: HubSuite {
  private static let tables = [
    "rejoin_device", "rejoin_record", "rejoin_patch", "rejoin_touch",
    "rejoin_digest",
  ]

  /// The number of a scope's row.
  private func number(
    of name: String, _ connection: any SQLConnection
  ) throws -> Int64 {
    try connection.integer(
      "SELECT scope FROM rejoin_scope WHERE name = $1",
      .bytes(Array(name.utf8))) ?? 0
  }

  /// The numbers of a scope's rows in each table.
  private func rows(
    of name: String, _ connection: any SQLConnection
  ) throws -> [Int64] {
    let scope = try number(of: name, connection)
    return try HubErasureTests.tables.map { table in
      try connection.integer(
        "SELECT count(*) FROM \(table) WHERE scope = $1", .integer(scope)) ?? 0
    }
  }

  /// Adds 150 devices, 2,700 records and patches to a scope.
  private func fill(_ name: String, _ hub: HubConnection) throws {
    let phone = replica(1)
    try phone.save { transaction in
      for i in 0..<2_500 { transaction[Note.self, "\(i)"].title = "Milk \(i)" }
    }
    _ = try hub.apply(#require(phone.delta()), in: name)
    let all = replica(1_000)
    for i in 2...150 {
      let other = replica(UInt64(i))
      try write(other, "\(i)", "of \(i)")
      all.merge(other)
    }
    _ = try hub.apply(#require(all.delta()), in: name)
    let large = replica(2_000)
    let text = String(repeating: "x", count: 300_000)
    for i in 0..<10 {
      try large.save { $0[Note.self, "large \(i)"].title = text }
    }
    _ = try hub.apply(#require(large.delta()), in: name)
    let before = large.version
    for i in 0..<10 { try write(large, "large \(i)") }
    _ = try hub.apply(#require(large.delta(since: before)), in: name)
  }

  @Test(arguments: Database.available)
  func requestsForErasedScopeAreRefused(_ database: Database) async throws {
    let (path, scope) = (self.path, self.scope)
    let hub = try await Hub(connections: 2) { try database.connect(path) }
    let session = hub.makeSession { _ in }
    let phone = replica(1)
    try write(phone, "1", "2")
    let delta = try #require(phone.delta())
    let part = try #require(delta.split(into: 2).first)
    #expect(part.intervals.isEmpty)
    for name in [scope, scope + " other"] {
      try await session.apply(delta, in: name)
    }
    try await hub.eraseScope(scope)
    let other = try await Hub(connections: 1) { try database.connect(path) }
    for session in [session, other.makeSession { _ in }] {
      await #expect(throws: StoreError.scopeErased) {
        try await session.version(of: scope)
      }
      await #expect(throws: StoreError.scopeErased) {
        try await session.delta(since: ReplicaVersion(), in: scope)
      }
      await #expect(throws: StoreError.scopeErased) {
        try await session.delta(
          since: ReplicaVersion(), byteLimit: 1_000, in: scope)
      }
      for delta in [delta, part] {
        await #expect(throws: StoreError.scopeErased) {
          try await session.apply(delta, in: scope)
        }
      }
      await #expect(throws: StoreError.scopeErased) {
        try await session.recordVersion(
          phone.version, of: phone.device, in: scope)
      }
      #expect(
        try await session.delta(since: ReplicaVersion(), in: scope + " other")
          == delta)
    }
    let listed = try await hub.scopes(
      after: String(scope.dropLast()), limit: 2)
    #expect(listed.map(\.name) == [scope, scope + " other"])
    #expect(listed.map(\.isErased) == [true, false])
    // A store of a device cannot use the name.
    if database == .sqlite {
      #expect(throws: StoreError.scopeBelongsToHub) {
        try open(path, scope: scope)
      }
      #expect(throws: StoreError.scopeErased) {
        try StoredScope.read(scope, on: self.connect(database))
      }
    }
  }

  @Test(arguments: Database.available)
  func erasureDeletesAllRowsOfScope(_ database: Database) async throws {
    let connection = try connect(database)
    let scopes = try HubConnection(
      connection, patching: .forTesting, makeDeviceID: DeviceID.random)
    let other = scope + " other"
    for name in [scope, other] { try fill(name, scopes) }
    let before = try rows(of: other, connection)
    #expect(before[0] > 150 && before[1] > 2_600 && before[3] > 2_700)
    #expect(before[2] > 0)
    let path = self.path
    let hub = try await Hub(connections: 1) { try database.connect(path) }
    try await hub.eraseScope(scope)
    #expect(try rows(of: scope, connection) == [0, 0, 0, 0, 0])
    #expect(try rows(of: other, connection) == before)
    if database == .sqlite {
      let summary = try StoreSummary(of: connection, checksPages: true)
      #expect(summary.scopes.map(\.name) == [other])
      #expect(summary.erasedScopes == [scope])
      #expect(summary.faults == [])
    }
    // An earlier version of the library refuses the format of the row.
    #expect(
      try connection.integer(
        "SELECT format + length(head) FROM rejoin_scope WHERE scope = $1",
        .integer(number(of: scope, connection))) == 2)
  }

  /// A process can stop after each batch.
  @Test(arguments: Database.available)
  func stoppedErasureContinues(_ database: Database) throws {
    let connection = try connect(database)
    let hub = try HubConnection(
      connection, patching: .forTesting, makeDeviceID: DeviceID.random)
    var count = 0
    for stop in 0..<100 {
      let name = "\(scope) \(stop)"
      try fill(name, hub)
      var batch: ErasureBatch? = ErasureBatch()
      count = 0
      while let next = batch, count <= stop {
        try hub.make(.erase(next), in: name)
        (count, batch) = (count + 1, next.following)
        #expect(throws: StoreError.scopeErased) {
          try hub.version(of: name)
        }
      }
      let found = try #require(
        try hub.scopes(after: String(name.dropLast()), limit: 200)
          .first { $0.name == name })
      #expect(found.isErased)
      #expect((found.records > 0) == (batch != nil))
      try hub.eraseScope(name)
      #expect(try rows(of: name, connection) == [0, 0, 0, 0, 0])
      let end = try hub.scopes(after: String(name.dropLast()), limit: 200)
        .first { $0.name == name }
      #expect(end?.records == 0 && end?.devices == 0)
      if batch == nil { break }
    }
    #expect(count > 6)
  }

  /// Requests for other scopes wait for a batch.
  @Test(arguments: Database.available)
  func batchesAreSmall(_ database: Database) throws {
    let connection = try connect(database)
    let hub = try HubConnection(
      connection, patching: .forTesting, makeDeviceID: DeviceID.random)
    try fill(scope, hub)
    func bytes() throws -> Int64 {
      try connection.integer(
        "SELECT coalesce(sum(length(body)), 0) FROM rejoin_record "
          + "WHERE scope = $1", .integer(number(of: scope, connection))) ?? 0
    }
    var batch: ErasureBatch? = ErasureBatch()
    var (before, size) = (try rows(of: scope, connection), try bytes())
    while let next = batch {
      try hub.make(.erase(next), in: scope)
      let (now, rest) = (try rows(of: scope, connection), try bytes())
      let deleted = zip(before, now).map { $0 - $1 }
      #expect(deleted[0] + deleted[3] <= 1_100)
      #expect(deleted[1] <= 1_000)
      #expect(size - rest <= (1 << 20) + 400_000)
      (before, size, batch) = (now, rest, next.following)
    }
    #expect(before == [0, 0, 0, 0, 0])
  }

  /// The rows of a batch are deleted, whether its transaction was committed or
  /// not.
  @Test(arguments: Database.available)
  func batchIsRepeatedAfterLostAnswer(_ database: Database) throws {
    let counting = CountingConnection(try connect(database))
    let connection = try connect(database)
    let hub = try HubConnection(
      counting, patching: .forTesting, makeDeviceID: DeviceID.random)
    try fill(scope, hub)
    let delete = "DELETE FROM rejoin_device WHERE device = $1"
    var batch: ErasureBatch? = ErasureBatch()
    while let next = batch {
      for lost in ["COMMIT", delete] {
        counting.lost = [lost]
        _ = try? hub.make(.erase(next), in: scope)
      }
      counting.lost = []
      try hub.make(.erase(next), in: scope)
      batch = next.following
    }
    #expect(try rows(of: scope, connection) == [0, 0, 0, 0, 0])
  }

  /// A device can have a scope that the hub never had.
  @Test(arguments: Database.available)
  func unusedNameCanBeErased(_ database: Database) async throws {
    let (path, scope) = (self.path, self.scope)
    let hub = try await Hub(connections: 1) { try database.connect(path) }
    for _ in 0..<2 { try await hub.eraseScope(scope) }
    let phone = replica(1)
    try write(phone, "1")
    await #expect(throws: StoreError.scopeErased) {
      try await hub.makeSession { _ in }.apply(
        #require(phone.delta()), in: scope)
    }
    #expect(
      try await hub.scopes(after: String(scope.dropLast()), limit: 1)
        .map(\.isErased) == [true])
    let long = scope + String(repeating: "x", count: 1_024)
    await #expect(
      throws: StoreError.scopeNameTooLong(byteCount: long.utf8.count)
    ) {
      try await hub.eraseScope(long)
    }
  }

  @Test func scopeOfDeviceCannotBeErased() async throws {
    let path = self.path
    try open(path).write("Milk")
    let hub = try await Hub(connections: 1) {
      try Database.sqlite.connect(path)
    }
    await #expect(throws: StoreError.scopeBelongsToDevice) {
      try await hub.eraseScope("main")
    }
    #expect(
      try await ReplicaStore.scopes(at: path) == ["main"])
    #expect(try StoredScope.read("main", on: connect(.sqlite)) != nil)
  }

  /// A delta is either committed before the mark, or refused.
  @Test(arguments: Database.available)
  func requestsAddNoRowsDuringErasure(_ database: Database) async throws {
    let (path, scope) = (self.path, self.scope)
    let hubs = [
      try await Hub(connections: 2) { try database.connect(path) },
      try await Hub(connections: 2) { try database.connect(path) },
    ]
    let phones = (1...40).map { replica(UInt64($0)) }
    for phone in phones { try write(phone, "\(phone.device)", "all") }
    try await hubs[0].makeSession { _ in }.apply(
      #require(phones[0].delta()), in: scope)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (i, phone) in phones.enumerated() {
        let delta = try #require(phone.delta())
        let session = hubs[i % 2].makeSession { _ in }
        group.addTask {
          do { try await session.apply(delta, in: scope) } catch StoreError
            .scopeErased
          {}
        }
        if i == 20 {
          for hub in hubs { group.addTask { try await hub.eraseScope(scope) } }
        }
      }
      try await group.waitForAll()
    }
    #expect(try rows(of: scope, connect(database)) == [0, 0, 0, 0, 0])
  }

  /// In SQLite, requests for all scopes share a transaction.
  @Test func erasedScopeDoesNotAffectOthersInTransaction() throws {
    let connection = CountingConnection(try connect(.sqlite))
    let hub = try HubConnection(connection, makeDeviceID: DeviceID.random)
    try hub.eraseScope(scope)
    let phone = replica(1)
    try write(phone, "1")
    let delta = try #require(phone.delta())
    connection.reset()
    let results = try hub.make([
      (scope, .join(delta) { _ in }), ("other", .join(delta) { _ in }),
      ("gone", .join(delta) { _ in }), ("gone", .erase(ErasureBatch())),
    ])
    #expect(
      results.map { (try? $0.get()) != nil } == [false, true, false, true])
    #expect(connection.statements.count { $0 == "COMMIT" } == 1)
    #expect(try hub.delta(since: ReplicaVersion(), in: "other") == delta)
    for name in [scope, "gone"] {
      #expect(throws: StoreError.scopeErased) { try hub.version(of: name) }
    }
  }

  @Test func contentIsOverwritten() async throws {
    let path = self.path
    let hub = try await Hub(connections: 2) {
      let connection = try Database.sqlite.connect(path)
      try connection.run("PRAGMA secure_delete = 0")
      return connection
    }
    let session = hub.makeSession { _ in }
    let phone = replica(1)
    for i in 0..<50 {
      let text = String(repeating: "secret content ", count: i * 10 + 1)
      try phone.save { transaction in
        for key in 0..<10 {
          transaction[Note.self, "secret content \(key)"].title = text
        }
      }
      let held = try await session.version(of: scope)
      try await session.apply(#require(phone.delta(since: held)), in: scope)
    }
    func isStored() throws -> Bool {
      try ["", "-wal"].contains { end in
        let file = URL(filePath: path + end)
        return try FileManager.default.fileExists(atPath: file.path)
          && Data(contentsOf: file).range(of: Data("secret content".utf8))
            != nil
      }
    }
    #expect(try isStored())
    try await hub.eraseScope(scope)
    #expect(try !isStored())
  }

  @Test func cancellationStopsErasureBetweenBatches() async throws {
    let (path, scope) = (self.path, self.scope)
    try fill(scope, hub(.sqlite))
    let hub = try await Hub(connections: 1) {
      try Database.sqlite.connect(path)
    }
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await hub.eraseScope(scope)
    }
    await #expect(throws: StoreError.canceled) { try await task.value }
    // The hub can still be used, and the scope is not erased.
    #expect(try await hub.scopes().map(\.isErased) == [false])
    try await hub.eraseScope(scope)
    #expect(try rows(of: scope, connect(.sqlite)) == [0, 0, 0, 0, 0])
  }

  @Test func leftRowOfErasedScopeIsDamage() throws {
    let connection = try connect(.sqlite)
    let hub = try HubConnection(connection, makeDeviceID: DeviceID.random)
    let phone = replica(1)
    try write(phone, "1")
    _ = try hub.apply(#require(phone.delta()), in: scope)
    let scope = try number(of: scope, connection)
    try hub.eraseScope(self.scope)
    try connection.run(
      "INSERT INTO rejoin_touch (scope, record, device, n) "
        + "VALUES ($1, 1, 1, 1)", .integer(scope))
    #expect(throws: StoreError.self) {
      try StoreSummary(of: connection, checksPages: false)
    }
  }
}
