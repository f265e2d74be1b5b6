// SPDX-License-Identifier: Apache-2.0

import RejoinStore
import Testing

enum Aisle: String, FieldValue { case produce, dairy, bakery }

struct ShoppingList: Entity {
  let name = register("name", of: String.self)
  let members = toMany("members", Member.self)
}

struct Member: Entity {
  let name = register("name", of: String.self)
}

struct Item: Entity {
  let deletions = DeletionRule.deleteWins
  let title = register("title", of: String.self)
  let aisle = register("aisle", of: Aisle.self)
  let amount = counter("amount")
  let list = toOne("list", ShoppingList.self)
}

/// The lines of the article.
@Suite struct ListingAndShowingArticle {
  private final class Screen: Sendable {
    private let shown = Locked<[String]>([])
    var lines: [String] { shown.withLock { $0 } }
    func add(_ line: String) { shown.withLock { $0.append(line) } }
  }

  @Test func article() async throws {
    let store = try await ReplicaStore.inMemory(
      schema: [ShoppingList.self, Member.self, Item.self])

    try await store.save { transaction in
      transaction[Member.self, "ada"].name = "Ada"
      transaction[ShoppingList.self, "home"].name = "Home"
      transaction[ShoppingList.self, "home"].members.insert(Reference("ada"))
      for (key, aisle) in [("bread", Aisle.bakery), ("milk", .dairy)] {
        transaction[Item.self, key].title = key.capitalized
        transaction[Item.self, key].aisle = aisle
        transaction[Item.self, key].amount.increment()
        transaction[Item.self, key].list = Reference("home")
      }
    }

    let items = await store.read { $0.records(of: Item.self) }
    #expect(items.map(\.title) == ["Bread", "Milk"])
    #expect(items.map(\.aisle) == [.bakery, .dairy])

    let first = await store.read { $0.records(of: Item.self, limit: 1) }
    let last = first.last?.id
    #expect(last == "bread")
    let second = await store.read {
      $0.records(of: Item.self, after: last, limit: 1)
    }
    #expect(second.map(\.id) == ["milk"])
    #expect(await store.read { $0.recordCount(of: Item.self) } == 2)

    try await checkLists(store)

    let members = await store.read { view in
      view[Item.self, "milk"]?.list
        .flatMap { view[ShoppingList.self, $0.key] }?.members
        .compactMap { view[Member.self, $0.key]?.name }
    }
    #expect(members == ["Ada"])

    try await store.save(undoable: "Delete Bread") {
      $0[Item.self, "bread"].delete()
    }
    try await store.save { transaction in
      transaction.existing(Item.self, "bread")?.amount.increment()
    }
    #expect(await store.read { $0[Item.self, "bread"] == nil })
    try await store.undo()
    #expect(await store.read { $0[Item.self, "bread"]?.amount } == 1)

    try await checkParents()

    let screen = Screen()
    @Sendable func show(_ count: Int) { screen.add("\(count) items") }
    @Sendable func show(_ key: String, _ title: String?) {
      screen.add("\(key): \(title ?? "-")")
    }
    let follower = Task {
      for try await update in await store.changes {
        switch update {
        case .recordIDs(let ids):
          show(ids.filter { $0.entity == "Item" }.count)
        case .changes(let changes):
          for change in changes.changes(to: Item.self) {
            show(change.key, change.new?.title)
          }
        }
      }
    }
    while screen.lines.isEmpty { await Task.yield() }
    #expect(screen.lines == ["2 items"])
    try await store.save { $0[Item.self, "milk"].title = "Oat milk" }
    while screen.lines.count < 2 { await Task.yield() }
    #expect(screen.lines == ["2 items", "milk: Oat milk"])
    follower.cancel()
  }

  @MainActor private func checkLists(_ store: ReplicaStore) async throws {
    let dairy = RecordList(
      store, of: Item.self, where: { $0.aisle == .dairy }, sortedBy: \.title)
    let aisles = RecordList(
      store, of: Item.self, sectionedBy: \.aisle, sortedBy: \.title)
    while !dairy.isLoaded || !aisles.isLoaded { await Task.yield() }
    #expect(dairy.elements.map(\.title) == ["Milk"])
    #expect(
      aisles.sections.map { $0.elements.map(\.title) } == [["Bread"], ["Milk"]])
  }

  /// Two devices delete a list, and add an item to it.
  @MainActor private func checkParents() async throws {
    let schema: Schema = [ShoppingList.self, Member.self, Item.self]
    let (store, other) = (
      try await ReplicaStore.inMemory(schema: schema),
      try await ReplicaStore.inMemory(schema: schema)
    )
    func sync() async throws {
      for (sender, receiver) in [(store, other), (other, store)] {
        let version = await receiver.version
        guard let delta = try await sender.delta(since: version) else {
          continue
        }
        try await receiver.apply(delta)
      }
    }
    try await store.save { transaction in
      transaction[ShoppingList.self, "home"].name = "Home"
      transaction[Item.self, "milk"].title = "Milk"
      transaction[Item.self, "milk"].list = Reference("home")
    }
    try await sync()
    try await other.save { $0[ShoppingList.self, "home"].delete() }
    try await store.save { transaction in
      transaction[ShoppingList.self, "home"].ensureExists()
      transaction[Item.self, "tea"].title = "Tea"
      transaction[Item.self, "tea"].list = Reference("home")
    }
    try await sync()
    #expect(await other.read { $0[ShoppingList.self, "home"]?.name } == "Home")
    #expect(await other.read { $0[Item.self, "tea"]?.list?.key } == "home")

    let keys = await store.read { view in
      view.records(of: Item.self).filter { $0.list?.key == "home" }.map(\.id)
    }
    #expect(keys == ["milk", "tea"])
    try await store.save(undoable: "Delete List") { transaction in
      transaction[ShoppingList.self, "home"].delete()
      for key in keys { transaction[Item.self, key].delete() }
    }
    // This device does not follow the advice.
    try await other.save { transaction in
      transaction[Item.self, "rice"].title = "Rice"
      transaction[Item.self, "rice"].list = Reference("home")
    }
    try await sync()
    let orphans = RecordList(
      store, of: Item.self, where: { $0.list == nil }, sortedBy: \.title)
    while !orphans.isLoaded { await Task.yield() }
    #expect(orphans.elements.map(\.title) == ["Rice"])
  }
}
