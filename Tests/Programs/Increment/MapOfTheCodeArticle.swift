// SPDX-License-Identifier: Apache-2.0

// Saves a record, then increments its counter COUNT times, as the article does:
//
//   IncrementOnce COUNT
//
// `Tests/Checks/Walk/run` compares the calls of two runs to find the functions that
// one increment calls.

import RejoinStore

private struct Profile: Entity {
  let steps = counter("steps")
}

@main private struct IncrementOnce {
  static func main() async throws {
    guard let count = CommandLine.arguments.last.flatMap({ Int($0) }) else {
      fatalError("the number of increments is missing; run IncrementOnce COUNT")
    }
    let store = try await ReplicaStore.inMemory(
      schema: [Profile.self], wallClock: WallClock { 1_800_000_000_000 },
      makeDeviceID: { DeviceID(1) })
    try await store.save { $0[Profile.self, "ada"].steps.increment() }
    var values = store.values(of: Profile.self, key: "ada").makeAsyncIterator()
    _ = try await values.next()
    for _ in 0..<count {
      try await store.save { $0[Profile.self, "ada"].steps.increment() }
      _ = try await values.next()
    }
  }
}
