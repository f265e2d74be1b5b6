// SPDX-License-Identifier: Apache-2.0

import RejoinSync
import Testing

@Suite class TwoPhonesArticle: StoreSuite {
  struct Note: Entity {
    let title = register("title", of: String.self)
    let likes = counter("likes")
    let tags = set("tags", of: String.self)
  }

  @Test func resultsEqualThoseOfArticle() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent(UUID().uuidString).path
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }

    func openStore(_ name: String) async throws -> ReplicaStore {
      try await ReplicaStore(
        at: folder + "/\(name).sqlite", schema: [Note.self])
    }

    let blue = try await openStore("blue")
    let green = try await openStore("green")

    try await blue.save { transaction in
      let milk = transaction[Note.self, "milk"]
      milk.title = "Milk"
      milk.likes.increment()
      milk.tags.insert("fridge")
    }
    #expect(await blue.read { $0[Note.self, "milk"]?.title } == "Milk")

    let first = try await blue.sync(scope: "notes") { request in
      await green.answer(request, scope: "notes")
    }
    #expect(first.isSynced)
    #expect(await green.read { $0[Note.self, "milk"]?.title } == "Milk")

    try await blue.save { transaction in
      let milk = transaction[Note.self, "milk"]
      milk.title = "Whole milk"
      milk.likes.increment()
    }
    // The later write is shown, so it must be in a later millisecond.
    try await Task.sleep(for: .milliseconds(10))
    try await green.save { transaction in
      let milk = transaction[Note.self, "milk"]
      milk.title = "Oat milk"
      milk.likes.increment()
      milk.tags.insert("vegan")
    }

    try await blue.sync(scope: "notes") { request in
      await green.answer(request, scope: "notes")
    }
    let note = await blue.read { $0[Note.self, "milk"] }
    #expect(note?.likes == 3)
    #expect(note?.tags == ["fridge", "vegan"])

    #expect(note?.title == "Oat milk")
    #expect(note?.conflictingValues(of: \.title) == ["Whole milk"])

    let conflicts = await blue.read { $0.conflictedFields(of: Note.self) }
    #expect(conflicts.map(\.record.key) == ["milk"])

    try await blue.save { $0[Note.self, "milk"].title = "Oat milk, 1 l" }
    try await blue.sync(scope: "notes") { request in
      await green.answer(request, scope: "notes")
    }
    let resolved = await green.read { $0[Note.self, "milk"] }
    #expect(resolved?.title == "Oat milk, 1 l")
    #expect(resolved?.conflictingValues(of: \.title) == [])
  }
}
