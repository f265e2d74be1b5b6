// SPDX-License-Identifier: Apache-2.0

// Measures how many devices a hub serves at the same time.
//
//   hubload LABEL DATABASE [SECONDS]
//
// DATABASE is a libpq connection string, or `sqlite:` and the path of a file. The
// program prints a line for each number of clients, once with a shared scope and
// once with a scope per client. A line has the label, the database, the scopes, the
// clients, the syncs per second, and the 50th and 99th percentile of a sync in
// milliseconds. A sync is a save and all five steps of <doc:SyncingThroughAHub>.
//
// `Benchmarks/Load/run` compares two versions.

import Foundation
import Rejoin
import RejoinFoundation
import RejoinSQL
import RejoinStore

struct Item: Entity {
  let count = counter("count")
}

let arguments = CommandLine.arguments
guard arguments.count >= 3 else {
  print("usage: hubload LABEL DATABASE [SECONDS]")
  exit(2)
}
let (label, database) = (arguments[1], arguments[2])
let seconds = arguments.count > 3 ? Double(arguments[3]) ?? 5 : 5

@Sendable func connect() throws -> any SQLConnection {
  guard database.hasPrefix("sqlite:") else {
    return try PostgreSQLConnection(database)
  }
  let connection = try SQLiteConnection(
    opening: String(database.dropFirst("sqlite:".count)))
  try connection.run("PRAGMA journal_mode = WAL")
  try connection.run("PRAGMA synchronous = FULL")
  return connection
}

#if REJOIN_HUB_PER_CONNECTION
  /// Returns the sessions of one hub per client.
  ///
  /// The hub of earlier versions has one connection.
  func sessions(_ count: Int) async throws -> [HubSession] {
    try (0..<count).map { _ in
      try Hub(connect(), makeDeviceID: DeviceID.random).session { _ in }
    }
  }
#else
  func sessions(_ count: Int) async throws -> [HubSession] {
    let isFile = database.hasPrefix("sqlite:")
    let hub = try await Hub(connections: isFile ? 1 : 8, connect)
    return (0..<count).map { _ in hub.makeSession { _ in } }
  }
#endif

/// Makes a save and exchanges it with the hub.
@Sendable func sync(
  _ replica: Replica, _ session: HubSession, in scope: String, _ round: Int
) async throws {
  try replica.save { $0[Item.self, "\(round % 20)"].count.increment() }
  let held = try await session.version(of: scope)
  #if !REJOIN_HUB_PER_CONNECTION
    replica.recordVersion(held)
  #endif
  if let delta = replica.delta(since: held) {
    try await session.apply(delta, in: scope)
  }
  #if REJOIN_HUB_PER_CONNECTION
    try await session.acknowledge(
      replica.version, by: replica.device, in: scope)
  #else
    try await session.recordVersion(
      replica.version, of: replica.device, in: scope)
  #endif
  if let delta = try await session.delta(since: replica.version, in: scope) {
    replica.apply(delta)
  }
}

/// Serves one client until the end of the measurement.
///
/// - Returns: The duration of each sync.
@Sendable func serve(
  _ session: HubSession, in scope: String, until end: ContinuousClock.Instant
) async throws -> [Duration] {
  let replica = Replica(
    device: .random(), schema: [Item.self], wallClock: .system,
    makeDeviceID: DeviceID.random)
  var (durations, now) = ([] as [Duration], ContinuousClock.now)
  while now < end {
    do {
      try await sync(replica, session, in: scope, durations.count)
    } catch StoreError.busy { continue }
    let next = ContinuousClock.now
    durations.append(next - now)
    now = next
  }
  return durations
}

func milliseconds(_ duration: Duration) -> String {
  let (seconds, fraction) = duration.components
  return String(
    format: "%.1f", Double(seconds) * 1e3 + Double(fraction) / 1e15)
}

for isShared in [true, false] {
  for count in [1, 4, 16, 64] {
    let sessions = try await sessions(count)
    let run = UUID()
    let end = ContinuousClock.now + .seconds(seconds)
    let durations = try await withThrowingTaskGroup(of: [Duration].self) {
      group in
      for (i, session) in sessions.enumerated() {
        let scope = isShared ? "\(run)" : "\(run) \(i)"
        group.addTask { try await serve(session, in: scope, until: end) }
      }
      var all: [Duration] = []
      for try await some in group { all += some }
      return all
    }.sorted()
    let kind = database.hasPrefix("sqlite:") ? "SQLite" : "PostgreSQL"
    print(
      label, kind, isShared ? "one scope" : "own scopes", count,
      String(format: "%.0f", Double(durations.count) / seconds),
      milliseconds(durations[durations.count / 2]),
      milliseconds(durations[durations.count * 99 / 100]), separator: "\t")
  }
}
