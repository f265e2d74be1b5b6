// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing
import _RejoinVerification

@testable import Rejoin
@testable import RejoinStore
@testable import RejoinSync

/// The statuses of an engine, with a network and without.
@Suite class SyncStatusTests: EngineSuite {
  private func launch(
    _ name: String = "phone",
    asking ask: @escaping @Sendable ([UInt8]) async throws -> [UInt8] = { _ in
      throw Offline()
    }
  ) async throws -> (ReplicaStore, SyncEngine) {
    let store = try await store(name)
    return (store, engine(store, asking: ask))
  }

  @Test func statusSurvivesLaunch() async throws {
    let session = try await session()
    do {
      let (phone, engine) = try await launch { await session.answer($0) }
      try await phone.write("Milk")
      await engine.sync()
      for i in 0..<3 { try await phone.write("offline", to: "\(i)") }
      // Nothing is closed, as after a kill.
    }
    let (phone, engine) = try await launch()
    var statuses = engine.statuses.makeAsyncIterator()
    let first = try #require(await statuses.next()?.first)
    #expect(first.unsentSaves == 3 && !first.isUploaded && !first.isSynced)
    #expect(first.lastSynced != nil && first.error == nil)
    let failed = try #require(await engine.sync().first)
    #expect(failed.unsentSaves == 3 && failed.error is Offline)
    #expect(failed.state == .waiting(until: clock.now + 2_000))
    #expect(failed.problem?.contains("tries again") == true)
    try await phone.close()
  }

  @Test func failedPassNotesWhatRouteShowed() async throws {
    let session = try await session()
    do {
      let count = Locked(0)
      let (phone, engine) = try await launch { request in
        let isFirst = count.withLock { count in
          count += 1
          return count <= 2
        }
        if !isFirst { throw Offline() }
        return await session.answer(request)
      }
      try await phone.fill(2_000, titles: String(repeating: "long", count: 200))
      #expect(await engine.sync().first?.error is Offline)
      await engine.stop()
    }
    let (phone, engine) = try await launch()
    let status = try #require(await engine.publish().first)
    #expect(status.unsentSaves == 1 && status.lastSynced == nil)
    let note = try #require(await phone.note("route hub"))
    let shown = try #require(RouteNote(decoding: note)?.shown)
    #expect(shown != ReplicaVersion())
  }

  @Test func killBeforeNoteOnlyCostsAnExchange() async throws {
    let session = try await session()
    do {
      let (phone, engine) = try await launch { await session.answer($0) }
      try await phone.write("Milk")
      await engine.sync()
      await engine.stop()
      try await phone.close()
    }
    let database = try SQLiteConnection(opening: path("phone"))
    try database.run("DELETE FROM rejoin_note")
    let (_, engine) = try await launch { await session.answer($0) }
    #expect(await engine.publish().map(\.unsentSaves) == [1])
    #expect(await engine.sync().map(\.isSynced) == [true])
  }

  @Test func damagedNoteIsEmpty() async throws {
    let session = try await session()
    for change in [
      "value = substr(value, 1, length(value) - 1) || x'00'",
      "row_check = row_check + 1", "name = x'00'", "value = x''",
      "value = 'text'",
    ] {
      let name = "\(change.utf8.count)-\(change.hashValue)"
      do {
        let (phone, engine) = try await launch(name) {
          await session.answer($0)
        }
        try await phone.write("Milk")
        await engine.sync()
        await engine.stop()
        try await phone.close()
      }
      do {
        let database = try SQLiteConnection(opening: path(name))
        try database.run("UPDATE rejoin_note SET \(change)")
        database.close()
      }
      let (phone, engine) = try await launch(name) { await session.answer($0) }
      #expect(await engine.publish().map(\.isUploaded) == [false], "\(change)")
      #expect(await engine.sync().map(\.isSynced) == [true], "\(change)")
      await engine.stop()
      try await phone.close()
    }
  }

  /// An app that gives the route to another scope sees nothing of the first one.
  @Test func noteOfOtherScopeIsNotUsed() async throws {
    let session = try await session()
    do {
      let (phone, engine) = try await launch { await session.answer($0) }
      try await phone.write("Milk")
      #expect(await engine.sync().map(\.isSynced) == [true])
      await engine.stop()
    }
    let phone = try await store("phone")
    let engine = SyncEngine(
      phone,
      routes: [SyncRoute("hub", scope: "other") { _ in throw Offline() }],
      time: clock.time)
    #expect(await engine.publish().map(\.isUploaded) == [false])
    #expect(await engine.sync().map(\.unsentSaves) == [1])
  }

  @Test func storeOfEarlierBuildOpens() async throws {
    let session = try await session()
    do {
      let phone = try await store("phone")
      try await phone.write("Milk")
      try await phone.close()
      let database = try SQLiteConnection(opening: path("phone"))
      let count = try database.integer(
        "SELECT count(*) FROM sqlite_master WHERE name = 'rejoin_note'")
      #expect(count == 0)
    }
    let (_, engine) = try await launch { await session.answer($0) }
    #expect(await engine.publish().map(\.unsentSaves) == [1])
    #expect(await engine.sync().map(\.isSynced) == [true])
  }

  @Test func deletedScopeLeavesNoNote() async throws {
    let session = try await session()
    let (phone, engine) = try await launch { await session.answer($0) }
    try await phone.write("Milk")
    await engine.sync()
    try await phone.deleteScope()
    let database = try SQLiteConnection(opening: path("phone"))
    #expect(try database.integer("SELECT count(*) FROM rejoin_note") == 0)
    // Signing in again starts without a hint, under a new device ID.
    let former = await phone.device
    let requests = Line { await session.answer($0) }
    let (again, second) = try await launch { try await requests.ask($0) }
    #expect(await again.device != former)
    await second.sync()
    let first = try #require(await requests.requests.first)
    #expect(try SyncMessage(decoding: first).part == nil)
    #expect(await again.titles == ["Milk"])
  }

  @Test func idlePassWritesNothing() async throws {
    let session = try await session()
    for i in 0..<50 {
      let other = try await ReplicaStore.inMemory(schema: [Item.self])
      try await other.write("\(i)", to: "\(i)")
      try await other.sync(scope: "s") { await session.answer($0) }
    }
    let (phone, engine) = try await launch { await session.answer($0) }
    try await phone.write("Milk")
    await engine.sync()
    await engine.sync()
    let databases = try ["phone", "hub"].map {
      try SQLiteConnection(opening: path($0))
    }
    let versions = try databases.map { try $0.integer("PRAGMA data_version") }
    for _ in 0..<5 {
      clock.advance(by: 60_000)
      #expect(await engine.sync().map(\.isSynced) == [true])
    }
    #expect(
      try databases.map { try $0.integer("PRAGMA data_version") } == versions)
    try await phone.write("Rye")
    #expect(
      try databases.map { try $0.integer("PRAGMA data_version") } != versions)
  }

  /// As many saves can be others.
  @Test func otherHistoryIsNotUploaded() {
    let device = DeviceID(1)
    let versions = [7, 8].map { (digest: UInt64) in
      var version = ReplicaVersion()
      version.insert(
        DeviceSave(sequence: 9, time: .zero, digest: digest), of: device)
      return version
    }
    #expect(versions[0].saveCount(beyond: versions[0]) == 0)
    #expect(versions[0].saveCount(beyond: versions[1]) == 1)
  }

  @Test func statusesArePublishedTenTimesASecond() async throws {
    let session = try await session()
    let (phone, engine) = try await launch { await session.answer($0) }
    await engine.sync()
    let (statuses, seen) = (engine.statuses, Locked<[Int]>([]))
    let watch = Task {
      for await all in statuses {
        seen.withLock { $0.append(all.first?.unsentSaves ?? -1) }
      }
    }
    try await wait { seen.withLock { !$0.isEmpty } }
    clock.advance(by: 100)
    for i in 0..<200 { try await phone.write("\(i)") }
    try await wait { await engine.publish().first?.unsentSaves == 200 }
    #expect(seen.withLock { $0.count } <= 3)
    clock.advance(by: 100)
    try await wait { seen.withLock { $0.last } == 200 }
    #expect(seen.withLock { $0.count } <= 4)
    // An unchanged status is not published again.
    let count = seen.withLock { $0.count }
    for _ in 0..<10 {
      await engine.publish()
      clock.advance(by: 100)
    }
    #expect(seen.withLock { $0.count } == count)
    watch.cancel()
  }

  /// While 50 devices save, a device is uploaded within two passes.
  @Test func busyHubShowsUploadWithinTwoPasses() async throws {
    let session = try await session()
    var others: [ReplicaStore] = []
    for _ in 0..<50 {
      others.append(try await ReplicaStore.inMemory(schema: [Item.self]))
    }
    let writers = others
    let (phone, engine) = try await launch { request in
      // Between any two requests, each of the others saves.
      for (i, other) in writers.enumerated() {
        try await other.write("\(i)", to: "\(i)")
        let part = try await other.delta(since: session.version(of: "s"))
        if let part { try await session.apply(part, in: "s") }
      }
      return await session.answer(request)
    }
    try await phone.write("Milk", to: "phone")
    var passes = 1
    while await engine.sync().first?.isUploaded != true, passes < 10 {
      passes += 1
    }
    #expect(passes <= 2)
  }

  @Test func problemHasRemedy() async throws {
    let errors: [any Error] = [
      SyncRefusal.gone, HTTPRouteError.status(404), Offline(),
      WireError(code: .invalid, offset: 3, expected: "an answer"),
    ]
    for error in errors {
      let (_, engine) = try await launch("\(UUID())") { _ in throw error }
      let problem = try #require(await engine.sync().first?.problem)
      #expect(problem.contains(". ") && problem.hasSuffix("."), "\(problem)")
    }
  }
}
