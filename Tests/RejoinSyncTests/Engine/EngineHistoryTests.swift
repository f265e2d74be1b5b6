// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing

@testable import Rejoin
@testable import RejoinStore
@testable import RejoinSync

/// Random schedules of saves, errors, calls and waits of an engine.
@Suite class EngineHistoryTests: SyncSuite {
  private struct Offline: Error {}

  /// A route to a hub, with faults.
  private final class Peer: Sendable {
    struct State {
      var random: SeededRandom
      var hasFaults = true
      var refusesParts = false
      var running = 0
      var overlaps = 0
      var requests = 0
      var partsAfterRefusal = 0
      var wasRefused = false
    }

    let state: Locked<State>
    let session: HubSession

    init(_ session: HubSession, seed: UInt64) {
      self.session = session
      state = Locked(State(random: SeededRandom(seed: seed)))
    }

    func ask(_ request: [UInt8]) async throws -> [UInt8] {
      let fault = state.withLock { state in
        state.requests += 1
        state.running += 1
        state.overlaps += state.running > 1 ? 1 : 0
        return state.hasFaults ? state.random.number(below: 12) : 11
      }
      defer { state.withLock { $0.running -= 1 } }
      let message = try SyncMessage(decoding: request)
      if message.part != nil {
        state.withLock {
          $0.partsAfterRefusal += $0.wasRefused ? 1 : 0
        }
      }
      var refused = SyncMessage(.answer, scope: message.scope)
      switch fault {
      case 0, 1: throw Offline()
      case 2:
        _ = await session.answer(request)
        throw Offline()
      case 3:
        refused.refusal = .busy(seconds: 7)
        return refused.encoded()
      case 4:
        refused.refusal = .denied
        return refused.encoded()
      case 5: throw CancellationError()
      case 6: return request
      default: return await session.answer(request)
      }
    }
  }

  private func run(seed: UInt64) async throws {
    var random = SeededRandom(seed: seed)
    let phone = try await ReplicaStore.inMemory(schema: [Item.self])
    let session = try await Hub(connections: 1) {
      try SQLiteConnection(opening: ":memory:")
    }.makeSession { _ in }
    let (peer, clock) = (Peer(session, seed: seed ^ 99), EngineTime())
    let engine = SyncEngine(
      phone, routes: [SyncRoute("hub", scope: "s") { try await peer.ask($0) }],
      time: clock.time)
    let open = Locked<[UInt64: SyncEvent.Kind]>([:])
    let faults = Locked<[String]>([])
    let (events, watched) = (engine.events, Locked(0))
    let watcher = Task {
      for await event in events {
        watched.withLock { $0 += 1 }
        open.withLock { open in
          if event.end == nil {
            if open.values.contains(event.kind) {
              faults.withLock { $0.append("\(event.kind) overlaps") }
            }
            open[event.id] = event.kind
          } else if open.removeValue(forKey: event.id) == nil {
            faults.withLock { $0.append("\(event.kind) ends twice") }
          }
        }
      }
    }
    func check(_ statuses: [SyncStatus]) async throws {
      let version = try await session.version(of: "s")
      for status in statuses where status.isUploaded {
        #expect(version.covers(await phone.version), "seed \(seed)")
      }
      for status in statuses {
        guard case .waiting(let end) = status.state else { continue }
        #expect(end - clock.now <= 300_000, "seed \(seed)")
      }
    }
    await engine.start()
    for step in 0..<12 {
      switch random.number(below: 10) {
      case 0..<4:
        try await phone.write("\(step)", to: "\(random.number(below: 4))")
      case 4, 5: try await check(await engine.sync())
      case 6: await engine.resume("hub")
      case 7:
        await engine.stop()
        await engine.start()
      default: clock.advance(by: Int64(random.number(below: 20_000)))
      }
      await engine.settle()
    }
    // After the errors stop, one wait is enough, without a save.
    peer.state.withLock { $0.hasFaults = false }
    if await engine.sync().contains(where: { $0.state == .needsDecision }) {
      await engine.resume("hub")
    }
    for _ in 0..<20 {
      clock.advance(by: 300_000)
      try await Task.sleep(for: .milliseconds(1))
      await engine.settle()
      let version = try await session.version(of: "s")
      if version.covers(await phone.version) { break }
    }
    let version = try await session.version(of: "s")
    #expect(version.covers(await phone.version), "seed \(seed)")
    await engine.stop()
    let overlaps = peer.state.withLock { $0.overlaps }
    #expect(overlaps == 0, "seed \(seed)")
    for _ in 0..<100 where open.withLock({ !$0.isEmpty }) {
      try await Task.sleep(for: .milliseconds(1))
    }
    let left = open.withLock { $0.count }
    #expect(left == 0, "seed \(seed)")
    let found = faults.withLock { $0 }
    #expect(found == [], "seed \(seed)")
    watcher.cancel()
  }

  @Test func randomSchedules() async throws {
    for seed in 0..<100 as Range<UInt64> { try await run(seed: seed) }
  }
}
