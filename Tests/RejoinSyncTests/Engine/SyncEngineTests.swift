// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing

@testable import Rejoin
@testable import RejoinStore
@testable import RejoinSync

/// Time that advances when everything waits.
final class EngineTime: Sendable {
  private struct State {
    var now: Int64 = 1_000_000
    var sleepers:
      [(end: Int64, number: Int, wake: CheckedContinuation<Void, any Error>)] =
        []
    var number = 0
  }
  private let state = Locked(State())

  var now: Int64 { state.withLock(\.now) }
  var sleeperCount: Int { state.withLock(\.sleepers.count) }

  var time: SyncTime {
    SyncTime(
      now: { self.now }, uptime: { self.now },
      wait: { end in
        let number = self.state.withLock { state in
          state.number += 1
          return state.number
        }
        try await withTaskCancellationHandler {
          try await withCheckedThrowingContinuation { wake in
            let isPast = self.state.withLock { state in
              if end <= state.now { return true }
              state.sleepers.append((end, number, wake))
              return false
            }
            if isPast { wake.resume() }
            if Task.isCancelled { self.cancel(number) }
          }
        } onCancel: {
          self.cancel(number)
        }
      },
      random: { $0 })
  }

  private func cancel(_ number: Int) {
    let found = state.withLock { state in
      let index = state.sleepers.firstIndex { $0.number == number }
      return index.map { state.sleepers.remove(at: $0) }
    }
    found?.wake.resume(throwing: CancellationError())
  }

  /// Advances the time, and wakes whoever waits for less.
  func advance(by milliseconds: Int64) {
    let due = state.withLock { state in
      state.now += milliseconds
      let due = state.sleepers.filter { $0.end <= state.now }
      state.sleepers.removeAll { $0.end <= state.now }
      return due
    }
    for sleeper in due { sleeper.wake.resume() }
  }
}

@Suite class SyncEngineTests: SyncSuite {
  @Test func saveIsSyncedAfterTwoSeconds() async throws {
    let (phone, hub, clock) = (
      try await store("phone"), try await hub(), EngineTime()
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
    while clock.sleeperCount == 0 { await Task.yield() }
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
        time: EngineTime().time)
      try await phone.write("Milk")
      await engine.sync()
      for i in 0..<3 { try await phone.write("offline", to: "\(i)") }
      try await phone.close()
    }
    let phone = try await store("phone")
    struct Offline: Error {}
    let clock = EngineTime()
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
