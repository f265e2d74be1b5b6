// SPDX-License-Identifier: Apache-2.0

import RejoinSync
import Testing

struct Profile: Entity {
  let name = register("name", of: String.self)
  let steps = counter("steps")
  let tags = set("tags", of: String.self)
}

@Suite class READMEArticle: StoreSuite {
  @Test func resultsEqualThoseOfReadme() async throws {
    let folder = self.folder.path
    // On the phone
    let phone = try await ReplicaStore(
      at: folder + "/phone.sqlite", schema: [Profile.self])

    try await phone.save { transaction in
      let ada = transaction[Profile.self, "ada"]
      ada.name = "Ada"
      ada.steps.increment(by: 1200)
    }

    // On the tablet, offline at the same time
    let tablet = try await ReplicaStore(
      at: folder + "/tablet.sqlite", schema: [Profile.self])

    // The later write is shown: one of the next millisecond.
    try await Task.sleep(for: .milliseconds(10))
    try await tablet.save { transaction in
      let ada = transaction[Profile.self, "ada"]
      ada.name = "Ada L."
      ada.steps.increment(by: 800)
      ada.tags.insert("runner")
    }

    // Later, when they can reach each other
    try await phone.sync(scope: "profiles") { request in
      // Carry these bytes in any way you like, and the answer back.
      await tablet.answer(request, scope: "profiles")
    }

    let ada = await phone.read { $0[Profile.self, "ada"] }
    #expect(ada?.steps == 2000)
    #expect(ada?.tags == ["runner"])
    #expect(ada?.name == "Ada L.")
    #expect(ada?.conflictingValues(of: \.name) == ["Ada"])
    let (here, there) = (
      try await phone.export { $0.delta() },
      try await tablet.export { $0.delta() }
    )
    #expect(here == there)
  }

  @MainActor private final class Screen {
    var isSafe = true

    func follow(_ phone: ReplicaStore, url: URL) async {
      let engine = SyncEngine(
        phone, routes: [.http("server", scope: "profiles", url: url)])
      await engine.start()
      await engine.sync()
      for await statuses in engine.statuses {
        isSafe = statuses.allSatisfy(\.isUploaded)
      }
    }
  }

  @Test @MainActor func engineShowsUnsentWork() async throws {
    let phone = try await ReplicaStore.inMemory(schema: [Profile.self])
    try await phone.save { $0[Profile.self, "ada"].steps.increment() }
    let (screen, url) = (
      Screen(), try #require(URL(string: "http://127.0.0.1:9/"))
    )
    let following = Task { await screen.follow(phone, url: url) }
    for _ in 0..<2_000 where screen.isSafe {
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(!screen.isSafe)
    following.cancel()
    await following.value
  }
}
