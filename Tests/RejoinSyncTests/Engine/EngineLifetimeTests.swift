// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinTesting
import Testing
import _RejoinVerification

@testable import Rejoin
@testable import RejoinStore
@testable import RejoinSync

/// Engines that are canceled, replaced and called from their own routes.
@Suite class EngineLifetimeTests: EngineSuite {
  /// Creates an engine whose first request fails after a tenth of a second.
  private func engine(
    _ store: ReplicaStore, failingOnceWith error: any Error,
    counting count: Locked<Int>,
    asking ask: @escaping @Sendable ([UInt8]) async throws -> [UInt8]
  ) -> SyncEngine {
    engine(store) { [clock] request in
      let number = count.withLock { count in
        count += 1
        return count
      }
      if number > 1 { return try await ask(request) }
      try await clock.wait(until: clock.uptime + 100)
      throw error
    }
  }

  @Test func callAfterCanceledCallHasPass() async throws {
    let (phone, session) = (try await store(), try await session())
    let count = Locked(0)
    let engine = engine(phone, failingOnceWith: Offline(), counting: count) {
      await session.answer($0)
    }
    let first = Task { await engine.sync() }
    try await wait { count.withLock { $0 } == 1 }
    try await phone.write("Milk")
    // The second call waits for a pass of its own, and gives up.
    let second = Task { await engine.sync() }
    try await Task.sleep(for: .milliseconds(50))
    second.cancel()
    try await Task.sleep(for: .milliseconds(50))
    let third = Task { await engine.sync() }
    try await Task.sleep(for: .milliseconds(50))
    clock.advance(by: 100)
    #expect(await third.value.map(\.isUploaded) == [true])
    _ = await (first.value, second.value)
  }

  @Test func releasedEngineFreesStore() async throws {
    let (phone, session) = (try await store(), try await session())
    for i in 0..<50 {
      let engine = SyncEngine(
        phone,
        routes: [SyncRoute("hub", scope: "s") { await session.answer($0) }])
      await engine.start()
      _ = engine.statuses
      try await phone.write("\(i)")
      if i % 2 == 0 { await engine.sync() }
    }
    await #expect(processExitsWith: .failure) {
      let store = try await ReplicaStore.inMemory(schema: [Item.self])
      let first = SyncEngine(store, routes: [])
      _ = SyncEngine(store, routes: [])
      await first.stop()
    }
  }

  @Test func releasedEngineEndsItsPass() async throws {
    let (phone, clock) = (try await store(), clock)
    let (isAsked, hasEnded) = (Locked(false), Locked(false))
    do {
      let engine = engine(phone) { _ in
        isAsked.withLock { $0 = true }
        defer { hasEnded.withLock { $0 = true } }
        try await clock.wait(until: clock.uptime + 1_000_000)
        throw Offline()
      }
      try await phone.write("Milk")
      await engine.start()
      clock.advance(by: 2_000)
      try await wait { isAsked.withLock { $0 } }
    }
    try await wait { hasEnded.withLock { $0 } }
  }

  @Test func mistakesStop() async {
    await #expect(processExitsWith: .failure) {
      let store = try await ReplicaStore.inMemory(schema: [Item.self])
      let route = SyncRoute("hub", scope: "s") { $0 }
      _ = SyncEngine(store, routes: [route, route])
    }
    await #expect(processExitsWith: .failure) {
      let store = try await ReplicaStore.inMemory(schema: [Item.self])
      await SyncEngine(store, routes: []).resume("hub")
    }
    await #expect(processExitsWith: .failure) {
      _ = SyncRoute("hub", scope: String(repeating: "s", count: 1_025)) { $0 }
    }
  }

  /// An app that signs out because its token expired calls the engine in the route.
  @Test func callsInRouteDoNotWait() async throws {
    let (phone, held) = (try await store(), Locked<SyncEngine?>(nil))
    let engine = engine(phone) { _ in
      let engine = held.withLock { $0 }
      await engine?.sync()
      await engine?.stop()
      throw Offline()
    }
    held.withLock { $0 = engine }
    #expect(await engine.sync().map(\.state) == [.stopped])
    held.withLock { $0 = nil }
  }

  /// Some routes do not end when their task is canceled.
  @Test func stopWaitsForRoute() async throws {
    let (phone, state) = (try await store(), Locked((started: 0, ended: 0)))
    let engine = engine(phone) { _ in
      state.withLock { $0.started += 1 }
      await Task.detached { try? await Task.sleep(for: .milliseconds(200)) }
        .value
      state.withLock { $0.ended += 1 }
      throw Offline()
    }
    let call = Task { await engine.sync() }
    try await wait { state.withLock { $0.started } == 1 }
    await engine.stop()
    #expect(state.withLock { $0.ended } == 1)
    _ = await call.value
  }

  @Test func resumeDuringPassContinues() async throws {
    let (phone, session) = (try await store(), try await session())
    let count = Locked(0)
    let engine = engine(
      phone, failingOnceWith: SyncRefusal.denied, counting: count
    ) {
      await session.answer($0)
    }
    await engine.start()
    try await phone.write("Milk")
    let first = Task { await engine.sync() }
    try await wait { count.withLock { $0 } == 1 }
    await engine.resume("hub")
    clock.advance(by: 100)
    _ = await first.value
    try await wait {
      clock.advance(by: 1)
      return try await session.version(of: "s").covers(await phone.version)
    }
    await engine.stop()
  }
}
