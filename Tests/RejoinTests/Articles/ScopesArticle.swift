// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@Suite(.encodes) struct ScopesArticle {
  struct Draft: Entity {
    let text = register("text", of: String.self)
  }

  actor Store {
    private let replica: Replica

    init(_ make: @Sendable () -> Replica) { replica = make() }

    func delta(since version: ReplicaVersion) -> Delta? {
      replica.delta(since: version)
    }

    func apply(_ delta: Delta) -> MergeReport { replica.apply(delta) }
  }

  @Test func article() async throws {
    let shared = Replica(
      device: .random(), schema: [Profile.self], wallClock: .system,
      makeDeviceID: DeviceID.random)
    let drafts = Replica(  // never asked for a delta
      device: .random(), schema: [Draft.self], wallClock: .system,
      makeDeviceID: DeviceID.random)
    try drafts.save { $0[Draft.self, "1"].text = "Dear" }
    try shared.save { $0[Profile.self, "ada"].name = "Ada" }
    let store = Store { Replica.ofArticle(1, [Profile.self]) }
    if let delta = shared.delta() {
      #expect(await !store.apply(delta).hasFaults)
      #expect(await store.delta(since: ReplicaVersion()) == delta)
    }
  }
}
