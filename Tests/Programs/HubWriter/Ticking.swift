// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinStore

/// Makes a hub wait for a locked database for five seconds.
///
/// - Returns: The longest pause of a task that only sleeps for one millisecond
///   at a time.
func tick(_ database: String) async throws -> Duration {
  let hub = try await Hub(connections: 4) { try connect(database) }
  let session = hub.makeSession { _ in }
  let lock = try connect(database)
  switch lock.dialect {
  case .sqlite: try lock.run("BEGIN IMMEDIATE")
  case .postgresql:
    try lock.run("BEGIN")
    try lock.run("LOCK TABLE rejoin_scope")
    // The connection sends the lock with the next statement that has a result.
    _ = try lock.integer("SELECT 1")
  }
  let deltas = try (1...16).map { number in
    let replica = Replica(
      device: .random(), schema: [Account.self], wallClock: .system,
      makeDeviceID: DeviceID.random)
    try replica.save { $0[Account.self, "\(number)"].visits.increment() }
    return replica.delta()
  }
  return try await withThrowingTaskGroup(of: Void.self) { group in
    for case let delta? in deltas {
      group.addTask { try await session.apply(delta, in: "ticking") }
      group.addTask {
        _ = try await session.delta(since: ReplicaVersion(), in: "ticking")
      }
    }
    let (clock, end) = (ContinuousClock(), ContinuousClock.now + .seconds(5))
    var (now, longest) = (clock.now, Duration.zero)
    while now < end {
      try await Task.sleep(for: .milliseconds(1))
      let next = clock.now
      longest = max(longest, next - now)
      now = next
    }
    try lock.run("ROLLBACK")
    // Every request must succeed after the lock is released.
    try await group.waitForAll()
    return longest
  }
}
