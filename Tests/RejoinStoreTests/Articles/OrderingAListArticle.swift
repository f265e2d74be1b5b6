// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinStore
import Testing

@MainActor @Suite struct OrderingAListArticle {
  struct Item: Entity {
    let title = register("title", of: String.self)
    let position = lww("position", of: Position.self)
  }

  @MainActor private final class Model {
    let store: ReplicaStore
    let list: RecordList<Item>
    var failure: (any Error)?

    init(_ store: ReplicaStore) {
      self.store = store
      let list = RecordList(store, of: Item.self, sortedBy: \.position)
      self.list = list
    }

    func insert() async throws {
      let last = list.elements.last?.id
      try await store.save { transaction in
        transaction[Item.self, "milk"].title = "Milk"
        transaction.move(
          ["milk"], by: \Item.position, between: last, and: nil)
      }
      try await store.save { transaction in
        for title in ["Bread", "Salt"] {
          transaction[Item.self, title.lowercased()].title = title
        }
        transaction.move(
          ["bread", "salt"], by: \Item.position, between: "milk", and: nil)
      }
    }

    func drag(_ source: IndexSet, to destination: Int) async {
      do {
        try await list.move(
          fromOffsets: source, toOffset: destination, by: \.position,
          undoable: "Move")
      } catch { failure = error }
    }
  }

  private func wait(
    for keys: [String], in list: RecordList<Item>
  ) async throws {
    while list.elements.map(\.id) != keys { await Task.yield() }
  }

  @Test func article() async throws {
    let store = try await ReplicaStore.inMemory(schema: [Item.self])
    let model = Model(store)
    let list = model.list
    try await model.insert()
    try await wait(for: ["milk", "bread", "salt"], in: list)
    await model.drag([2], to: 0)
    #expect(model.failure == nil)
    try await wait(for: ["salt", "milk", "bread"], in: list)
    try await store.save { transaction in
      transaction.move(
        ["bread", "milk"], by: \Item.position, between: "salt", and: nil)
    }
    try await wait(for: ["salt", "bread", "milk"], in: list)
    let milk = await store.read { $0[Item.self, "milk"] }
    var draft = await store.read { $0.draft(of: Item.self, key: "salt") }
    draft.edit {
      $0.move(by: \.position, between: milk?.position, and: nil)
    }
    try await store.commit(draft)
    try await wait(for: ["bread", "milk", "salt"], in: list)
    let before = list.elements.map(\.position)
    let keys = list.elements.map(\.id)
    try await store.save { transaction in
      transaction.rebalance(keys, by: \Item.position)
    }
    while list.elements.map(\.position) == before { await Task.yield() }
    #expect(list.elements.map(\.id) == keys)
  }
}
