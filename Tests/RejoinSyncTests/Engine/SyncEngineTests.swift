// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing
import _RejoinVerification

@testable import Rejoin
@testable import RejoinStore
@testable import RejoinSync

struct Offline: Error {}

/// An engine with one route, in a time that the test advances.
class EngineSuite: SyncSuite {
  let clock = ManualTime()

  func engine(
    _ store: ReplicaStore,
    asking ask: @escaping @Sendable ([UInt8]) async throws -> [UInt8]
  ) -> SyncEngine {
    SyncEngine(
      store, routes: [SyncRoute("hub", scope: "s", asking: ask)],
      time: clock.time)
  }

  func session() async throws -> HubSession {
    try await hub().makeSession { _ in }
  }

  /// Waits until a condition holds, and fails the test after some seconds.
  func wait(until condition: () async throws -> Bool) async throws {
    for _ in 0..<4_000 {
      if try await condition() { return }
      try await Task.sleep(for: .milliseconds(5))
    }
    Issue.record("the condition does not hold")
  }
}

@Suite class SyncEngineTests: EngineSuite {
  @Test func saveIsSyncedAfterTwoSeconds() async throws {
    let (phone, session) = (try await store(), try await session())
    let engine = engine(phone) { await session.answer($0) }
    await engine.sync()
    await engine.start()
    try await phone.write("Milk")
    try await wait { await engine.plannedTime != nil }
    #expect(await engine.plannedTime == clock.uptime + 2_000)
    // Saves in between share the pass.
    clock.advance(by: 1_999)
    try await phone.write("Rye")
    #expect(try await session.version(of: "s") == ReplicaVersion())
    clock.advance(by: 1)
    try await wait {
      try await session.version(of: "s").covers(await phone.version)
    }
    await engine.stop()
  }

  /// A device that is never online again sent its saves to this one.
  @Test func receivedSaveIsSentOn() async throws {
    let (phone, tablet) = (try await store("phone"), try await store("tablet"))
    let session = try await session()
    let engine = engine(phone) { await session.answer($0) }
    await engine.start()
    await engine.sync()
    try await tablet.write("Milk")
    try await tablet.sync(scope: "s") { await phone.answer($0, scope: "s") }
    try await wait { await engine.publish().map(\.unsentSaves) == [1] }
    try await wait { await engine.plannedTime != nil }
    clock.advance(by: 2_000)
    try await wait {
      try await session.version(of: "s").covers(await phone.version)
    }
    // The saves that the engine itself receives plan nothing.
    let watch = try await store("watch")
    try await watch.write("Rye", to: "2")
    try await watch.sync(scope: "s") { await session.answer($0) }
    try await wait { await !engine.isPassing }
    await engine.sync()
    #expect(await phone.titles.count == 2)
    try await Task.sleep(for: .milliseconds(20))
    #expect(await engine.plannedTime == nil)
    await engine.stop()
  }

  @Test func failureIsTriedAgainWithoutSave() async throws {
    let (phone, session) = (try await store(), try await session())
    let failures = Locked(3)
    let engine = engine(phone) { request in
      let fails = failures.withLock { count in
        count -= 1
        return count >= 0
      }
      if fails { throw Offline() }
      return await session.answer(request)
    }
    try await phone.write("Milk")
    await engine.start()
    for seconds in [2, 2, 4, 8] as [Int64] {
      try await wait { await engine.plannedTime != nil }
      #expect(await engine.plannedTime == clock.uptime + seconds * 1_000)
      clock.advance(by: seconds * 1_000)
      try await wait {
        let (planned, isPassing) = await (engine.plannedTime, engine.isPassing)
        return !isPassing && planned.map { $0 > self.clock.uptime } ?? true
      }
    }
    #expect(await engine.publish().map(\.isSynced) == [true])
    #expect(await engine.plannedTime == nil)
    await engine.stop()
  }

  @Test func savesOfAppDoNotShortenWait() async throws {
    let phone = try await store()
    let engine = engine(phone) { _ in
      try await phone.write("offline")
      throw Offline()
    }
    for seconds in [2, 4, 8] as [Int64] {
      #expect(
        await engine.sync().map(\.state)
          == [.waiting(until: clock.now + seconds * 1_000)])
    }
  }

  @Test func callsShareNextPass() async throws {
    let (phone, session) = (try await store(), try await session())
    let (count, clock) = (Locked(0), clock)
    let engine = engine(phone) { request in
      count.withLock { $0 += 1 }
      try await clock.wait(until: clock.uptime + 100)
      return await session.answer(request)
    }
    let first = Task { await engine.sync() }
    try await wait { count.withLock { $0 } == 1 }
    // A save during the first pass is not in it.
    try await phone.write("Milk")
    let (arrived, ended) = (Locked(0), Locked(0))
    let others = (0..<5).map { _ in
      Task {
        arrived.withLock { $0 += 1 }
        let statuses = await engine.sync()
        ended.withLock { $0 += 1 }
        return statuses
      }
    }
    try await wait { arrived.withLock { $0 } == 5 }
    // The calls wait for the engine, which waits for the time.
    for _ in 0..<200 { await Task.yield() }
    try await wait {
      clock.advance(by: 100)
      return ended.withLock { $0 } == 5
    }
    _ = await first.value
    for other in others {
      #expect(await other.value.map(\.isUploaded) == [true])
    }
    // One exchange of the first pass, and one or two of each other pass. A call that
    // came late has a pass of its own.
    #expect(count.withLock { $0 } <= 6)
  }

  @Test func canceledCallerDoesNotCancelOthers() async throws {
    let (phone, session) = (try await store(), try await session())
    let (clock, count) = (clock, Locked(0))
    let engine = engine(phone) { request in
      let number = count.withLock { count in
        count += 1
        return count
      }
      try await clock.wait(until: clock.uptime + 100)
      if number == 1 { throw Offline() }
      return await session.answer(request)
    }
    let first = Task { await engine.sync() }
    try await wait { count.withLock { $0 } == 1 }
    try await phone.write("Milk")
    // Both wait for the second pass.
    let (second, third) = (
      Task { await engine.sync() }, Task { await engine.sync() }
    )
    for _ in 0..<500 { await Task.yield() }
    clock.advance(by: 100)
    try await wait { count.withLock { $0 } == 2 }
    second.cancel()
    for _ in 0..<500 { await Task.yield() }
    let ended = Locked(false)
    let end = Task {
      let statuses = await third.value
      ended.withLock { $0 = true }
      return statuses
    }
    try await wait {
      clock.advance(by: 100)
      return ended.withLock { $0 }
    }
    #expect(await end.value.map(\.isUploaded) == [true])
    // Without another caller, the pass ends early.
    let number = count.withLock { $0 }
    let last = Task { await engine.sync() }
    try await wait { count.withLock { $0 } > number }
    last.cancel()
    #expect(await last.value.map(\.state) == [.idle])
    _ = await (first.value, second.value)
  }

  @Test func canceledPassKeepsResumption() async throws {
    let (phone, laptop) = (try await store(), try await store())
    let (session, clock) = (try await session(), clock)
    try await laptop.write("Milk")
    try await laptop.sync(scope: "s") { await session.answer($0) }
    let count = Locked(0)
    let engine = engine(phone) { request in
      let isFirst = count.withLock { count in
        count += 1
        return count == 1
      }
      if isFirst { try await clock.wait(until: clock.uptime + 100) }
      return await session.answer(request)
    }
    await engine.resume("hub")
    let caller = Task { await engine.sync() }
    try await wait { count.withLock { $0 } == 1 }
    // The pass for the resumed route runs, and its caller does not wait for it.
    await engine.start()
    caller.cancel()
    #expect(await caller.value.map(\.isSynced) == [false])
    #expect(await phone.version == ReplicaVersion())
    clock.advance(by: 2_000)
    try await wait {
      await phone.version.covers(await laptop.version)
    }
    await engine.stop()
  }

  /// A peer that is busy stays busy for an app that does not wait for its answer.
  @Test func refusalOfCanceledPassCounts() async throws {
    let (phone, clock, isAsked) = (try await store(), clock, Locked(false))
    let engine = engine(phone) { _ in
      isAsked.withLock { $0 = true }
      try? await clock.wait(until: clock.uptime + 1_000_000)
      throw SyncRefusal.busy(seconds: 60)
    }
    let caller = Task { await engine.sync() }
    try await wait { isAsked.withLock { $0 } }
    caller.cancel()
    #expect(
      await caller.value.map(\.state) == [.waiting(until: clock.now + 60_000)])
  }

  @Test func passAssumesVersionOfLastPass() async throws {
    let (phone, session) = (try await store(), try await session())
    let count = Locked(0)
    let engine = engine(phone) { request in
      count.withLock { $0 += 1 }
      return await session.answer(request)
    }
    try await phone.write("Milk")
    await engine.sync()
    for title in ["Rye", "Oats"] {
      count.withLock { $0 = 0 }
      try await phone.write(title)
      #expect(await engine.sync().map(\.isSynced) == [true])
      #expect(count.withLock { $0 } == 1)
    }
  }

  @Test func decisionWaitsForApp() async throws {
    let (phone, session) = (try await store(), try await session())
    let (isGone, count) = (Locked(true), Locked(0))
    let engine = engine(phone) { request in
      count.withLock { $0 += 1 }
      if isGone.withLock({ $0 }) { throw SyncRefusal.gone }
      return await session.answer(request)
    }
    #expect(await engine.sync().map(\.state) == [.needsDecision])
    await engine.start()
    try await phone.write("Milk")
    #expect(await engine.sync().map(\.state) == [.needsDecision])
    #expect(count.withLock { $0 } == 1)
    isGone.withLock { $0 = false }
    await engine.resume("hub")
    #expect(await engine.sync().map(\.isSynced) == [true])
    await engine.stop()
  }

  @Test func eventsShowWhatMoved() async throws {
    let (phone, tablet) = (try await store("phone"), try await store("tablet"))
    let session = try await session()
    try await phone.fill(3)
    try await tablet.sync(scope: "s") { await session.answer($0) }
    try await tablet.write("Rye", to: "tablet")
    try await tablet.sync(scope: "s") { await session.answer($0) }
    let engine = engine(phone) { await session.answer($0) }
    var events = engine.events.makeAsyncIterator()
    await engine.sync()
    var seen: [String] = []
    for _ in 0..<6 {
      guard let event = await events.next() else { break }
      seen.append("\(event.kind) \(event.end == nil) \(event.records > 0)")
      if event.end != nil, event.kind == .export {
        #expect(event.records >= 3 && event.bytes > 100)
      }
    }
    #expect(seen.first == "setup true false")
    #expect(seen.filter { $0.hasPrefix("setup") }.count == 2)
    #expect(seen.filter { $0.hasPrefix("export") }.count == 2)
    #expect(seen.filter { $0.hasPrefix("import") }.count == 2)
    // An idle pass has no event.
    await engine.sync()
    try await phone.write("last", to: "last")
    await engine.sync()
    #expect(await events.next()?.kind == .export)
  }

  @Test func closedStoreStopsEngine() async throws {
    for deletes in [false, true] {
      let (phone, session) = (try await store(), try await session())
      let engine = engine(phone) { await session.answer($0) }
      try await phone.write("Milk")
      await engine.sync()
      await engine.start()
      if deletes {
        try await phone.deleteScope()
      } else {
        try await phone.close()
      }
      try await wait {
        await engine.publish().map(\.state) == [.stopped]
      }
      #expect(await engine.plannedTime == nil)
      #expect(await engine.sync().map(\.state) == [.stopped])
    }
  }

  @Test func engineOfClosedStoreIsStopped() async throws {
    let (phone, session) = (try await store(), try await session())
    try await phone.close()
    let engine = engine(phone) { await session.answer($0) }
    await engine.start()
    try await wait {
      await engine.publish().map(\.state) == [.stopped]
    }
    #expect(await engine.plannedTime == nil)
  }

  @Test func stoppedEngineSyncsNothing() async throws {
    let (phone, session) = (try await store(), try await session())
    let engine = engine(phone) { await session.answer($0) }
    try await phone.write("Milk")
    await engine.stop()
    #expect(await engine.sync().map(\.state) == [.stopped])
    #expect(try await session.version(of: "s") == ReplicaVersion())
    // Another engine can have the store, and the first one starts after it.
    let other = SyncEngine(phone, routes: [])
    await other.stop()
    await engine.start()
    #expect(await engine.sync().map(\.isSynced) == [true])
    await engine.stop()
  }

  @Test func lineThatIsCutCarriesLoad() async throws {
    let (phone, session) = (try await store(), try await session())
    for first in stride(from: 0, to: 100_000, by: 20_000) {
      try await phone.save { transaction in
        for i in first..<(first + 20_000) {
          transaction[Item.self, "\(i)"].title = "title"
        }
      }
    }
    let (sent, total) = (Locked(0), Locked(0))
    let engine = engine(phone) { request in
      // The line is cut after each 100 kB, in the middle of a message.
      total.withLock { $0 += request.count }
      let isCut = sent.withLock { count in
        count += request.count
        defer { if count > 100_000 { count = 0 } }
        return count > 100_000
      }
      if isCut { throw Offline() }
      return await session.answer(request)
    }
    var passes = 0
    while await engine.sync().first?.isUploaded != true, passes < 1_000 {
      clock.advance(by: 300_000)
      passes += 1
    }
    let version = try await session.version(of: "s")
    #expect(version.covers(await phone.version))
    let bytes = try #require(await phone.delta(since: ReplicaVersion()))
      .encoded().count
    #expect(total.withLock { $0 } < 4 * bytes, "\(passes) passes of \(bytes)")
  }

  @Test func waitingEngineSetsNoTimer() async throws {
    let phone = try await store()
    let engine = engine(phone) { _ in throw Offline() }
    await engine.start()
    await engine.sync()
    try await wait { self.clock.nextEnd != nil }
    try await wait { await !engine.isPassing }
    let count = clock.waitCount
    for _ in 0..<10 { clock.advance(by: 100) }
    try await Task.sleep(for: .milliseconds(20))
    #expect(clock.waitCount == count)
    await engine.stop()
  }
}
