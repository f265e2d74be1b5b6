// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinStore

/// Measures how many devices a hub serves at the same time.
func measureLoad(
  _ label: String, _ database: Database, seconds: Double
) async throws {
  for isShared in [true, false] {
    for count in [1, 4, 16, 64] {
      let hub = try await database.openHub()
      let run = UUID()
      let end = ContinuousClock.now + .seconds(seconds)
      let (durations, delivered) = try await withThrowingTaskGroup(
        of: ([Duration], UInt64).self
      ) { group in
        for i in 0..<count {
          let session = hub.makeSession { _ in }
          let scope = isShared ? "\(run)" : "\(run) \(i)"
          group.addTask { try await serve(session, in: scope, until: end) }
        }
        var all = ([] as [Duration], 0 as UInt64)
        for try await some in group {
          all = (all.0 + some.0, all.1 + some.1)
        }
        return all
      }
      printLine([
        label, database.kind, isShared ? "one scope" : "own scopes",
        "\(count)", String(format: "%.0f", Double(durations.count) / seconds),
        milliseconds(durations.percentile(50)),
        milliseconds(durations.percentile(99)),
        String(format: "%.0f", Double(delivered) / seconds),
      ])
    }
  }
}

/// Serves one client until the end of the measurement.
///
/// - Returns: The duration of each sync, and the number of saves that the client
///   received from others.
private func serve(
  _ session: HubSession, in scope: String, until end: ContinuousClock.Instant
) async throws -> ([Duration], UInt64) {
  let replica = makeReplica()
  var (durations, now) = ([] as [Duration], ContinuousClock.now)
  while now < end {
    do {
      try await sync(replica, session, in: scope, durations.count)
    } catch StoreError.busy { continue }
    let next = ContinuousClock.now
    durations.append(next - now)
    now = next
  }
  let delivered = replica.version.vectorClock.entries.reduce(0) {
    $1.device == replica.device ? $0 : $0 + $1.count
  }
  return (durations, delivered)
}

/// Makes a save and exchanges it with the hub.
func sync(
  _ replica: Replica, _ session: HubSession, in scope: String, _ round: Int
) async throws {
  try replica.save { $0[Item.self, "\(round % 20)"].count.increment() }
  let held = try await session.version(of: scope)
  if let delta = replica.delta(since: held) {
    try await session.apply(delta, in: scope)
  }
  try await session.recordVersion(
    replica.version, of: replica.device, in: scope)
  if let delta = try await session.delta(since: replica.version, in: scope) {
    replica.apply(delta)
  }
  replica.recordVersion(held)
}
