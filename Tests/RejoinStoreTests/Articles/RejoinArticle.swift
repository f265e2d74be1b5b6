// SPDX-License-Identifier: Apache-2.0

import RejoinStore
import Testing

@Suite class RejoinArticle: StoreSuite {
  struct Profile: Entity {
    let name = register("name", of: String.self)
    let steps = counter("steps")
  }

  @Test func resultEqualsThatOfLandingPage() async throws {
    let folder = self.folder.path
    let phone = try await ReplicaStore(
      at: folder + "/phone.sqlite", schema: [Profile.self])
    let tablet = try await ReplicaStore(
      at: folder + "/tablet.sqlite", schema: [Profile.self])

    // Both are offline.
    try await phone.save { $0[Profile.self, "ada"].steps.increment(by: 1200) }
    try await tablet.save { $0[Profile.self, "ada"].steps.increment(by: 800) }

    // Later, the phone sends what the tablet lacks.
    if let delta = try await phone.delta(since: tablet.version) {
      try await tablet.apply(delta)
    }
    #expect(await tablet.read { $0[Profile.self, "ada"]?.steps } == 2000)
  }
}
