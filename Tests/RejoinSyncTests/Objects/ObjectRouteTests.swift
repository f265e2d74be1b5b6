// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinTesting
import Testing
import _RejoinVerification

@testable import Rejoin
@testable import RejoinStore
@testable import RejoinSync

/// Engines that meet in a storage.
@Suite class ObjectRouteTests: EngineSuite {
  private let storage = SharedStorage(isDrive: false)

  private func route(_ device: Int, scope: String = "s") -> SyncRoute {
    SyncRoute("bucket", scope: scope, objects: storage.view(of: device))
  }

  private func engine(
    _ store: ReplicaStore, _ device: Int, _ others: [SyncRoute] = []
  ) -> SyncEngine {
    SyncEngine(store, routes: others + [route(device)], time: clock.time)
  }

  private var names: [String] {
    storage.state.withLock { $0.objects.keys.sorted() }
  }

  private func calls(_ body: () async throws -> Void) async rethrows
    -> [SharedStorage.Call]
  {
    storage.calls.withLock { $0 = [] }
    try await body()
    return storage.calls.withLock { $0 }
  }

  @Test func savesTravelThroughStorage() async throws {
    let (phone, tablet) = (try await store(), try await store())
    let (one, other) = (engine(phone, 1), engine(tablet, 2))
    try await phone.write("Milk")
    let sent = try #require(await one.sync().first)
    #expect(sent.isUploaded && sent.isSynced && sent.error == nil)
    #expect(sent.lastSynced == clock.now)
    let received = try #require(await other.sync().first)
    #expect(received.isUploaded && received.isSynced)
    #expect(await tablet.titles == ["Milk"])
    #expect(await tablet.version.covers(await phone.version))
  }

  @Test func idlePassListsOnce() async throws {
    let stores = [
      try await store(), try await store(), try await store(),
      try await store(),
    ]
    let engines = stores.enumerated().map { engine($1, $0) }
    for _ in 0..<3 {
      for (i, store) in stores.enumerated() {
        try await store.write("\(i)", to: "\(i)")
        await engines[i].sync()
      }
    }
    for engine in engines { await engine.sync() }
    for (i, engine) in engines.enumerated() {
      let calls = await calls { await engine.sync() }
      #expect(calls == [.list], "device \(i)")
    }
  }

  @Test func saveIsStoredAfterFifteenSeconds() async throws {
    let phone = try await store()
    let engine = engine(phone, 1)
    await engine.start()
    await engine.sync()
    try await phone.write("Milk")
    try await wait { await engine.plannedTime != nil }
    #expect(await engine.plannedTime == clock.uptime + 15_000)
    clock.advance(by: 14_999)
    #expect(names.isEmpty)
    clock.advance(by: 1)
    try await wait { !names.isEmpty }
    await engine.stop()
  }

  /// A device with both routes brings saves from the server into the storage.
  @Test func savesOfServerAreRelayed() async throws {
    let (phone, tablet) = (try await store(), try await store())
    let session = try await session()
    try await tablet.write("Milk")
    try await tablet.sync(scope: "s") { await session.answer($0) }
    let hub = SyncRoute("hub", scope: "s") { await session.answer($0) }
    let engine = engine(phone, 1, [hub])
    await engine.start()
    var statuses = await engine.sync()
    #expect(statuses.map(\.unsentSaves) == [0, 1])
    #expect(names.isEmpty)
    // The time is random, and here the latest one.
    #expect(await engine.plannedTime == clock.uptime + 1_200_000)
    #expect(statuses[1].state == .idle)
    clock.advance(by: 1_200_000)
    try await wait { !names.isEmpty }
    try await wait { await !engine.isPassing }
    statuses = await engine.publish()
    #expect(statuses.map(\.unsentSaves) == [0, 0])
    #expect(await engine.plannedTime == nil)
    await engine.stop()
  }

  /// The system starts the app for two seconds every hour.
  @Test func shortProcessesRelay() async throws {
    let (phone, tablet) = (try await store("phone"), try await store())
    try await tablet.write("Milk")
    let delta = try #require(try await tablet.delta(since: ReplicaVersion()))
    _ = try await phone.apply(delta)
    for hour in 0..<2 {
      #expect(names.isEmpty, "hour \(hour)")
      let engine = engine(phone, 1)
      await engine.sync()
      await engine.stop()
      clock.advance(by: 3_600_000)
    }
    #expect(names.count == 1)
  }

  @Test func relayIsPlannedAtLaunch() async throws {
    let (phone, tablet) = (try await store("phone"), try await store())
    try await tablet.write("Milk")
    let delta = try #require(try await tablet.delta(since: ReplicaVersion()))
    _ = try await phone.apply(delta)
    let last = engine(phone, 1)
    await last.sync()
    await last.stop()
    clock.advance(by: 100_000)
    let engine = engine(phone, 1)
    await engine.start()
    #expect(await engine.plannedTime == clock.uptime + 1_100_000)
    await engine.stop()
  }

  @Test func failedReadDoesNotStopTheRest() async throws {
    struct NotHere: Error {}
    let (phone, tablet) = (try await store(), try await store())
    try await tablet.write("Milk")
    await engine(tablet, 2).sync()
    let engine = engine(phone, 1)
    try await phone.write("Rye", to: "2")
    storage.failures.withLock { $0[.get] = NotHere() }
    var status = try #require(await engine.sync().first)
    #expect(status.error is NotHere)
    #expect(status.isUploaded && !status.isSynced)
    #expect(names.count { $0.hasSuffix(".rejoin") } == 2)
    storage.failures.withLock { $0 = [:] }
    status = try #require(await engine.sync().first)
    #expect(status.isSynced)
    #expect(await phone.titles == ["Milk", "Rye"])
  }

  /// The bytes are perhaps not complete yet.
  @Test func damagedObjectIsLeftToRead() async throws {
    let drive = SharedStorage(isDrive: true)
    let (phone, tablet) = (try await store(), try await store())
    try await tablet.write("Milk")
    let route = SyncRoute("drive", scope: "s", objects: drive.view(of: 2))
    await SyncEngine(tablet, routes: [route], time: clock.time).sync()
    let view = drive.view(of: 1)
    drive.state.withLock { drive in
      drive.settle()
      for name in drive.objects.keys {
        drive.damage(name) { Array($0.dropLast()) }
      }
    }
    let engine = SyncEngine(
      phone, routes: [SyncRoute("drive", scope: "s", objects: view)],
      time: clock.time)
    let status = try #require(await engine.sync().first)
    #expect(status.isUploaded && !status.isSynced && status.error == nil)
  }

  @Test func refusedObjectDoesNotStopReading() async throws {
    let (phone, tablet) = (try await store(), try await store())
    try await tablet.write("Milk")
    await engine(tablet, 2).sync()
    let engine = engine(phone, 1)
    try await phone.write("Rye", to: "2")
    storage.failures.withLock { $0[.put] = SyncRefusal.denied }
    var status = try #require(await engine.sync().first)
    #expect(status.uploadRefusal == .denied && status.error == nil)
    #expect(status.unsentSaves == 1)
    #expect(await phone.titles == ["Milk", "Rye"])
    // Nothing is sent again before the app asks for it.
    #expect(await !calls { await engine.sync() }.contains(.put))
    storage.failures.withLock { $0 = [:] }
    await engine.resume("bucket")
    status = try #require(await engine.sync().first)
    #expect(status.isUploaded && status.uploadRefusal == nil)
  }

  /// A member who may only read leaves the collection to others.
  @Test func refusedDeletionDoesNotStopRoute() async throws {
    let (phone, tablet) = (try await store(), try await store())
    let storage = SharedStorage(isDrive: true)
    let engines = [phone, tablet].enumerated().map { i, store in
      SyncEngine(
        store,
        routes: [SyncRoute("d", scope: "s", objects: storage.view(of: i))],
        time: clock.time)
    }
    for title in ["Milk", "Rye"] {
      try await phone.write(title)
      await engines[0].sync()
      storage.state.withLock { $0.settle() }
    }
    try await tablet.write("Oats", to: "2")
    storage.failures.withLock {
      $0 = [.put: SyncRefusal.denied, .delete: SyncRefusal.denied]
    }
    let calls = storage.calls
    let status = await engines[1].sync()[0]
    #expect(calls.withLock { $0.contains(.delete) })
    #expect(status.state == .idle && status.error == nil)
    #expect(status.uploadRefusal == .denied && status.unsentSaves == 1)
    #expect(await tablet.titles == ["Rye", "Oats"])
  }

  /// The drive removed the bytes of a file that contains others.
  @Test func unreadableContainerDoesNotHideUpload() async throws {
    struct NotHere: Error {}
    let phone = try await store("phone")
    let storage = SharedStorage(isDrive: true)
    let route = SyncRoute("d", scope: "s", objects: storage.view(of: 1))
    let engine = SyncEngine(phone, routes: [route], time: clock.time)
    for title in ["Milk", "Rye"] {
      try await phone.write(title)
      await engine.sync()
    }
    storage.failures.withLock { $0[.get] = NotHere() }
    try await phone.write("Oats")
    let status = await engine.sync()[0]
    #expect(status.error is NotHere)
    #expect(status.isUploaded)
  }

  @Test func problemOfStorageHasItsRemedy() async throws {
    let folder = FolderStorage(at: path("missing"))
    let engine = SyncEngine(
      try await store(),
      routes: [SyncRoute("folder", scope: "s", objects: folder)],
      time: clock.time)
    let problem = try #require(await engine.sync()[0].problem)
    #expect(problem == "\(ObjectStorageError.noFolder(path: folder.path))")
  }

  @Test func otherAccountStopsRoute() async throws {
    let phone = try await store("phone")
    storage.account.withLock { $0 = "ada, \n1" }
    var engine = engine(phone, 1)
    try await phone.write("Milk")
    #expect(await engine.sync().map(\.state) == [.idle])
    await engine.stop()
    storage.account.withLock { $0 = "bob" }
    engine = self.engine(phone, 1)
    let calls = await calls {
      #expect(await engine.sync().map(\.state) == [.needsDecision])
    }
    #expect(calls.isEmpty)
  }

  /// A device that lacks nothing must not store anything either.
  @Test func otherScopeIsFoundByDeviceThatLacksNothing() async throws {
    let phone = try await store("phone")
    try await phone.write("Milk")
    var engine: SyncEngine? = engine(phone, 1)
    await engine?.sync()
    await engine?.stop()
    engine = nil
    let others = SyncEngine(
      phone, routes: [route(1, scope: "other")], time: clock.time)
    let names = names
    for title in ["Rye", "Oats"] {
      let status = try #require(await others.sync().first)
      #expect(status.error as? SyncRefusal == .wrongScope)
      try await phone.write(title)
      await others.resume("bucket")
    }
    #expect(self.names == names)
  }

  /// The folder was given to two lists by mistake.
  @Test func twoScopesInOneStorageStop() async throws {
    for isLate in [false, true] {
      let (phone, tablet) = (try await store(), try await store())
      let storage = SharedStorage(isDrive: true)
      func engine(_ store: ReplicaStore, _ i: Int, _ scope: String)
        -> SyncEngine
      {
        SyncEngine(
          store,
          routes: [SyncRoute("d", scope: scope, objects: storage.view(of: i))],
          time: clock.time)
      }
      let engines = [engine(phone, 1, "one"), engine(tablet, 2, "two")]
      try await phone.write("Milk")
      try await tablet.write("Rye")
      await engines[0].sync()
      // Both write before they see each other.
      if isLate { await engines[1].sync() }
      storage.state.withLock { $0.settle() }
      let before = storage.state.withLock { $0.objects }
      clock.advance(by: 3 * 86_400_000)
      var stopped: [SyncStatus.State] = []
      for engine in engines { stopped += await engine.sync().map(\.state) }
      #expect(stopped == [isLate ? .needsDecision : .idle, .needsDecision])
      storage.state.withLock { $0.settle() }
      let after = storage.state.withLock { $0.objects }
      #expect(
        before.keys.allSatisfy { after[$0] != nil || $0.hasSuffix(".version") })
      #expect(await phone.titles == ["Milk"])
      #expect(await tablet.titles == ["Rye"])
    }
  }

  @Test func eventsShowObjects() async throws {
    let (phone, tablet) = (try await store(), try await store())
    try await tablet.write("Milk")
    await engine(tablet, 2).sync()
    try await phone.write("Rye", to: "2")
    let engine = engine(phone, 1)
    let events = engine.events
    await engine.sync()
    await engine.sync()
    await engine.stop()
    var ended: [SyncEvent] = []
    for await event in events where event.end != nil {
      ended.append(event)
      if ended.count == 3 { break }
    }
    #expect(ended.map(\.kind) == [.setup, .import, .export])
    #expect(ended.map(\.records) == [0, 1, 1])
  }
}
