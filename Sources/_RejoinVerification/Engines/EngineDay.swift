// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL
import RejoinStore
import RejoinSync
import RejoinTesting

/// A day of devices that sync with one hub, in a time that only the day advances.
///
/// Each device saves twice an hour, and its app asks for a pass once an hour.
package final class EngineDay {
  /// The requests of a device, and the parts in both directions.
  private struct Traffic {
    var requests = 0
    var parts = 0
  }

  private final class Device: Sendable {
    let store: ReplicaStore
    let engine: SyncEngine
    let traffic: Locked<Traffic>

    init(_ session: HubSession, _ time: SyncTime) async throws {
      let traffic = Locked(Traffic())
      store = try await ReplicaStore.inMemory(schema: [TrialNote.self])
      engine = SyncEngine(
        store,
        routes: [
          SyncRoute("hub", scope: "s") { request in
            let answer = await session.answer(request)
            let hasPart = try [request, answer].map {
              try SyncMessage(decoding: $0).part != nil
            }
            traffic.withLock {
              $0.requests += 1
              $0.parts += hasPart.count { $0 }
            }
            return answer
          }
        ], time: time)
      self.traffic = traffic
      await engine.start()
    }
  }

  private let time = ManualTime()
  private var random = SeededRandom(seed: 24)
  private var devices: [Device] = []
  /// The time of the next pass that each engine planned, or `nil`.
  private var planned: [Int64?] = []
  /// The number of requests so far.
  package private(set) var requests = 0
  /// The maximum number of requests of a pass beyond its parts.
  package private(set) var mostBeyondParts = 0

  package init(devices count: Int) async throws {
    let session = try await Hub(connections: 1) {
      try SQLiteConnection(opening: ":memory:")
    }.makeSession { _ in }
    for _ in 0..<count {
      devices.append(try await Device(session, time.time))
    }
    planned = devices.map { _ in nil }
  }

  /// Lets an hour pass.
  package func passHour() async throws {
    let end = time.uptime + 3_600_000
    var events: [(time: Int64, device: Int, saves: Bool)] = []
    for i in devices.indices {
      for saves in [true, true, false] {
        let at = time.uptime + Int64(random.number(below: 3_590_000))
        events.append((at, i, saves))
      }
    }
    events.sort { ($0.time, $0.device) < ($1.time, $1.device) }
    for event in events {
      try await passTime(until: event.time)
      let device = devices[event.device]
      if event.saves {
        try await device.store.save {
          $0[TrialNote.self, "\(event.device)"].saves.increment()
        }
        // The engine learns of the save.
        while await device.engine.plannedTime == nil { await Task.yield() }
      } else {
        await device.engine.sync()
      }
      await settle(event.device)
    }
    try await passTime(until: end)
  }

  /// Advances the time in steps so short that no device has two passes in one.
  private func passTime(until end: Int64) async throws {
    while true {
      let next = min(planned.compactMap { $0 }.min() ?? end, end)
      time.advance(by: max(next - time.uptime, 0))
      for i in devices.indices {
        if let due = planned[i], due <= time.uptime { await settle(i) }
      }
      if next == end { return }
    }
  }

  /// Waits for the pass of a device that is due, and counts its requests.
  private func settle(_ i: Int) async {
    let engine = devices[i].engine
    while let due = await engine.plannedTime, due <= time.uptime {
      await Task.yield()
    }
    while await engine.isPassing { await Task.yield() }
    planned[i] = await engine.plannedTime
    let traffic = devices[i].traffic.withLock { traffic in
      defer { traffic = Traffic() }
      return traffic
    }
    requests += traffic.requests
    mostBeyondParts = max(mostBeyondParts, traffic.requests - traffic.parts)
  }

  /// Whether all devices have the saves of all, after the app asks each for two
  /// passes.
  package func isSyncedAtEnd() async -> Bool {
    var isSynced = true
    for device in devices { await device.engine.sync() }
    for device in devices {
      isSynced =
        await device.engine.sync().allSatisfy(\.isSynced) && isSynced
    }
    return isSynced
  }
}
