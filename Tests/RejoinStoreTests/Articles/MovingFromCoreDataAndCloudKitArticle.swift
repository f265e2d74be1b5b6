// SPDX-License-Identifier: Apache-2.0

import RejoinPolicies
import RejoinStore
import RejoinTesting
import Testing

@MainActor @Suite struct MovingFromCoreDataAndCloudKitArticle {
  struct ShoppingList: Entity {
    let name = register("name", of: String.self)
  }

  struct Item: Entity {
    let title = register("title", of: String.self)
    let amount = counter("amount")
    let list = toOne("list", ShoppingList.self)
    let position = lww("position", of: Position.self)
  }

  /// An object of the old database.
  struct Row {
    let id, title: String
    let amount: Int64
    let list: String
  }

  private func importing(_ store: ReplicaStore, _ rows: [Row]) async throws {
    try await store.withReplica { replica in
      try replica.importRows { transaction in
        var last: Position?
        for row in rows {
          let item = transaction[Item.self, row.id]
          item.title = row.title
          item.amount.increment(by: row.amount)
          item.list = Reference(row.list)
          last = transaction.position(between: last, and: nil)
          item.position = last
        }
      }
    }
  }

  @Test func article() async throws {
    let rows = [
      Row(id: "2", title: "Bread", amount: 1, list: "home"),
      Row(id: "1", title: "Milk", amount: 2, list: "home"),
    ]
    let clock = ManualClock(1_750_000_000_000)
    let store = try await ReplicaStore.inMemory(
      schema: [ShoppingList.self, Item.self], wallClock: clock.wallClock)
    let other = try await ReplicaStore.inMemory(
      schema: [ShoppingList.self, Item.self], wallClock: clock.wallClock)
    // All devices import, and then exchange their saves.
    try await importing(store, rows)
    try await importing(other, rows)
    if let delta = try await other.delta(since: store.version) {
      try await store.apply(delta)
    }
    let imported = await store.read { $0[Item.self, "1"] }
    #expect(imported?.title == "Milk")
    #expect(imported?.amount == 2)
    #expect(imported?.conflictingValues(of: \.title) == [])

    try await store.save { $0[ShoppingList.self, "home"].ensureExists() }
    let list = RecordList(
      store, of: Item.self, where: { $0.list == Reference("home") },
      sortedBy: \.position)
    for _ in 0..<100_000 where !list.isLoaded {
      try await Task.sleep(for: .microseconds(100))
    }
    #expect(list.elements.map(\.title) == ["Bread", "Milk"])

    let row = (id: "1", title: "Whole milk", modified: Int64(1_760_000_000_000))
    clock.now = row.modified
    for _ in 1...2 {
      try await store.withReplica { replica in
        try replica.importRows(from: "core-data", modifiedAt: row.modified) {
          $0[Item.self, row.id].title = row.title
        }
      }
    }
    #expect(await store.read { $0[Item.self, "1"]?.title } == "Whole milk")

    var form = await store.read { $0.draft(of: Item.self, key: "1") }
    form.title = "Oat milk"
    let report = try await store.commit(form, under: .merge)
    #expect(report.dropped.isEmpty)
    #expect(await store.read { $0[Item.self, "1"]?.title } == "Oat milk")
  }
}
