// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing
import _RejoinVerification

@testable import Rejoin
@testable import RejoinStore
@testable import RejoinSync

@Suite class SyncEngineTests: SyncSuite {
  @Test func saveIsSyncedAfterTwoSeconds() async throws {
    let (phone, hub, clock) = (
      try await store("phone"), try await hub(), ManualTime()
    )
    let session = hub.makeSession { _ in }
    let engine = SyncEngine(
      phone,
      routes: [
        SyncRoute("hub", scope: "s") { await session.answer($0) }
      ], time: clock.time)
    var statuses = await engine.sync()
    #expect(statuses.map(\.isSynced) == [true])
    await engine.start()
    try await Task.sleep(for: .milliseconds(50))
    try await phone.write("Milk")
    while clock.nextEnd == nil { await Task.yield() }
    clock.advance(by: 2_000)
    var version = ReplicaVersion()
    for _ in 0..<200 where !version.covers(await phone.version) {
      try await Task.sleep(for: .milliseconds(10))
      version = try await session.version(of: "s")
    }
    #expect(version.covers(await phone.version))
    await engine.stop()
    statuses = await engine.sync()
    #expect(statuses.map(\.unsentSaves) == [0])
  }

  @Test func statusSurvivesLaunch() async throws {
    let hub = try await hub()
    let session = hub.makeSession { _ in }
    do {
      let phone = try await store("phone")
      let engine = SyncEngine(
        phone,
        routes: [SyncRoute("hub", scope: "s") { await session.answer($0) }],
        time: ManualTime().time)
      try await phone.write("Milk")
      await engine.sync()
      for i in 0..<3 { try await phone.write("offline", to: "\(i)") }
      try await phone.close()
    }
    let phone = try await store("phone")
    struct Offline: Error {}
    let clock = ManualTime()
    let engine = SyncEngine(
      phone, routes: [SyncRoute("hub", scope: "s") { _ in throw Offline() }],
      time: clock.time)
    var first = engine.statuses.makeAsyncIterator()
    let launched = await first.next()
    #expect(launched?.map(\.unsentSaves) == [3])
    let statuses = await engine.sync()
    #expect(statuses.map(\.unsentSaves) == [3])
    #expect(statuses.first?.error is Offline)
    if case .waiting(let until)? = statuses.first?.state {
      #expect(until == clock.now + 2_000)
    } else {
      Issue.record("\(statuses)")
    }
  }
}
