// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Testing

@Suite(.encodes) struct UsingAReplicaInAnActorArticle {
  actor Store {
    private let replica: Replica

    init(_ make: @Sendable () -> Replica) { replica = make() }

    func save(_ body: (Transaction) -> Void) throws -> SaveReport {
      try replica.save(body)
    }

    func delta(since version: ReplicaVersion) -> Delta? {
      replica.delta(since: version)
    }

    func apply(_ delta: Delta) -> MergeReport { replica.apply(delta) }
  }

  @Test func article() async throws {
    let shared = Replica.ofArticle(2, [Profile.self])
    try shared.save { $0[Profile.self, "ada"].name = "Ada" }
    let store = Store { Replica.ofArticle(1, [Profile.self]) }
    let delta = try #require(shared.delta())
    #expect(await !store.apply(delta).hasFaults)
    #expect(await store.delta(since: ReplicaVersion()) == delta)
    _ = try await store.save { $0[Profile.self, "ada"].name = "Ada L." }
    #expect(await store.delta(since: shared.version) != nil)
  }
}
