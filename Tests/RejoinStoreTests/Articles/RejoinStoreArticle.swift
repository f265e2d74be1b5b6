// SPDX-License-Identifier: Apache-2.0

import RejoinStore
import Testing

@Suite class RejoinStoreArticle: StoreSuite {
  struct Note: Entity {
    let title = register("title", of: String.self)
  }

  @Test func resultEqualsThatOfArticle() async throws {
    let folder = self.folder.path
    let store = try await ReplicaStore(
      at: folder + "/notes.sqlite", schema: [Note.self])
    try await store.save { $0[Note.self, "1"].title = "Milk" }
    #expect(await store.read { $0[Note.self, "1"]?.title } == "Milk")
  }
}
