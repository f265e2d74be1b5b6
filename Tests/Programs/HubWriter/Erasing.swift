// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinStore

/// The erasure of a large scope while other scopes are in use.
enum Erasing {
  private static let name = "large"

  /// Fills a scope with records.
  static func fill(_ database: String, records: Int) async throws {
    let session = try await Hub(connections: 1) { try connect(database) }
      .makeSession { _ in }
    let replica = newReplica()
    for start in stride(from: 0, to: records, by: 10_000) {
      let before = replica.version
      try replica.save { transaction in
        for i in start..<min(start + 10_000, records) {
          transaction[Account.self, "record \(i)"].visits.increment()
        }
      }
      if let delta = replica.delta(since: before) {
        try await session.apply(delta, in: name)
      }
    }
  }

  /// Erases the scope, and prints the duration.
  static func erase(_ database: String) async throws {
    let hub = try await Hub(connections: 1) { try connect(database) }
    let start = ContinuousClock.now
    try await hub.eraseScope(name)
    print("erased in \(ContinuousClock.now - start)")
    let left = try await hub.scopes().filter { $0.isErased && $0.devices > 0 }
    if !left.isEmpty { throw StoreError.damaged("\(left)") }
  }

  /// Saves in four other scopes until the process is killed, and prints the
  /// milliseconds of each save.
  static func save(_ database: String) async throws {
    let session = try await Hub(connections: 4) { try connect(database) }
      .makeSession { _ in }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<4 {
        group.addTask {
          let replica = newReplica()
          while true {
            let before = replica.version
            try replica.save { $0[Account.self, "1"].visits.increment() }
            guard let delta = replica.delta(since: before) else { continue }
            let start = ContinuousClock.now
            try await session.apply(delta, in: "small \(number)")
            let time = (ContinuousClock.now - start) / Duration.milliseconds(1)
            FileHandle.standardOutput.write(Data("\(time)\n".utf8))
            try await Task.sleep(for: .milliseconds(5))
          }
        }
      }
      try await group.waitForAll()
    }
  }

  private static func newReplica() -> Replica {
    Replica(
      device: .random(), schema: [Account.self], wallClock: .system,
      makeDeviceID: DeviceID.random)
  }
}
