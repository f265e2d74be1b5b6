// SPDX-License-Identifier: Apache-2.0

import Observation
import RejoinPolicies
import RejoinTesting
import Testing

@testable import RejoinStore

enum Priority: String, FieldValue, Comparable {
  case low, high, medium

  private var rank: Int {
    switch self {
    case .low: 0
    case .medium: 1
    case .high: 2
    }
  }

  static func < (a: Priority, b: Priority) -> Bool { a.rank < b.rank }
}

struct Basket: Entity { let name = register("name", of: String.self) }

struct Fruit: Entity {
  let name = register("name", of: String.self)
  let isRipe = register("ripe", of: Bool.self)
  let priority = register("priority", of: Priority.self)
  let price = register("price", of: Decimal.self)
  let picked = register("picked", of: Date.self)
  let weight = register("weight", of: Double.self)
  let basket = toOne("basket", Basket.self)
  let count = counter("count")
}

@MainActor @Suite struct RecordListTests {
  private let clock = ManualClock()

  private func store() async throws -> ReplicaStore {
    try await ReplicaStore.inMemory(
      schema: [Fruit.self, Basket.self], wallClock: clock.wallClock,
      makeDeviceID: { DeviceID(1) })
  }

  /// Waits until the list has the given keys.
  private func expect(
    _ list: RecordList<Fruit>, _ keys: [String],
    at location: SourceLocation = #_sourceLocation
  ) async {
    let start = ContinuousClock.now
    while list.elements.map(\.id) != keys || !list.isLoaded,
      ContinuousClock.now - start < .seconds(20)
    {
      await Task.yield()
    }
    #expect(list.elements.map(\.id) == keys, sourceLocation: location)
  }

  @Test func listFollowsStore() async throws {
    let store = try await store()
    try await store.save { transaction in
      for (key, name) in [("1", "pear"), ("2", "apple"), ("3", "fig")] {
        transaction[Fruit.self, key].name = name
      }
      transaction[Fruit.self, "3"].isRipe = true
    }
    let list = RecordList(
      store, of: Fruit.self, where: { $0.isRipe != true }, sortedBy: \.name)
    #expect(list.elements.isEmpty && !list.isLoaded)
    await expect(list, ["2", "1"])
    #expect(list.isLoaded && list.failure == nil)
    // A change in place, one that moves, one that adds, and one that removes.
    try await store.save { $0[Fruit.self, "2"].count.increment() }
    try await store.save { $0[Fruit.self, "2"].name = "quince" }
    await expect(list, ["1", "2"])
    #expect(list.elements[1].count == 1)
    try await store.save { $0[Fruit.self, "3"].isRipe = false }
    await expect(list, ["3", "1", "2"])
    try await store.save { $0[Fruit.self, "1"].isRipe = true }
    await expect(list, ["3", "2"])
    try await store.save(undoable: "a") { $0[Fruit.self, "2"].delete() }
    await expect(list, ["3"])
    try await store.undo()
    await expect(list, ["3", "2"])
  }

  @Test func referencesChangeList() async throws {
    let store = try await store()
    try await store.save { transaction in
      transaction[Fruit.self, "1"].basket = Reference("red")
      transaction[Fruit.self, "2"].basket = nil
    }
    let list = RecordList(
      store, of: Fruit.self, where: { $0.basket != nil }, sortedBy: \.basket)
    let orphans = RecordList(
      store, of: Fruit.self, where: { $0.basket == nil })
    await expect(orphans, ["1", "2"])
    try await store.save { $0[Basket.self, "red"].ensureExists() }
    await expect(list, ["1"])
    await expect(orphans, ["2"])
    try await store.save { $0[Basket.self, "red"].delete() }
    await expect(list, [])
    await expect(orphans, ["1", "2"])
  }

  /// Each save comes before the load, during it, or after it.
  @Test func firstResultMissesNoSave() async throws {
    for pause in 0..<60 {
      let store = try await store()
      let saves = Task.detached {
        for i in 0..<20 {
          try await store.save { transaction in
            transaction[Fruit.self, "\(i % 7)"].count.increment()
            if i % 5 == 4 { transaction[Fruit.self, "\(i % 3)"].delete() }
          }
        }
      }
      for _ in 0..<(pause * 5) { await Task.yield() }
      let list = RecordList(
        store, of: Fruit.self, sortedBy: \.count, order: .reverse)
      try await saves.value
      let expected = await store.read { view in
        view.records(of: Fruit.self).sorted {
          ($1.count, $0.id) < ($0.count, $1.id)
        }.map(\.id)
      }
      await expect(list, expected)
    }
  }

  @Test func releasedListStopsFollowing() async throws {
    let store = try await store()
    var list: RecordList? = RecordList(store, of: Fruit.self)
    weak let weakList = list
    try await store.save { $0[Fruit.self, "1"].name = "fig" }
    if let list { await expect(list, ["1"]) }
    #expect(!store.observers.isEmpty)
    list = nil
    #expect(weakList == nil)
    let start = ContinuousClock.now
    while !store.observers.isEmpty, ContinuousClock.now - start < .seconds(20) {
      await Task.yield()
    }
    #expect(store.observers.isEmpty)
  }

  @Test func closedStoreIsFailureOfList() async throws {
    let store = try await store()
    try await store.save { $0[Fruit.self, "1"].name = "fig" }
    let list = RecordList(store, of: Fruit.self)
    await expect(list, ["1"])
    try await store.close()
    let late = RecordList(store, of: Fruit.self)
    await expect(late, ["1"])
    let start = ContinuousClock.now
    while list.failure == nil || late.failure == nil,
      ContinuousClock.now - start < .seconds(20)
    {
      await Task.yield()
    }
    #expect(list.failure == .closed && late.failure == .closed)
    #expect(list.elements.map(\.id) == ["1"])
  }

  @Test func fieldsSortByTheirType() async throws {
    let store = try await store()
    try await store.save { transaction in
      for (key, priority, price) in [
        ("1", Priority.high, 9), ("2", .medium, 10), ("3", .low, -1),
      ] {
        let fruit = transaction[Fruit.self, key]
        (fruit.priority, fruit.price) = (priority, Decimal(price))
        fruit.weight = Double(price)
        fruit.picked = Date(timeIntervalSince1970: Double(-price))
        fruit.isRipe = price > 9
      }
      transaction[Fruit.self, "4"].count.increment()
    }
    func expect<Kind: FieldType>(
      _ field: KeyPath<Fruit, Field<Fruit, Kind>>, _ keys: [String],
      at location: SourceLocation = #_sourceLocation
    ) async where Kind.Reading == Kind.Element? {
      let list = RecordList(store, of: Fruit.self, sortedBy: field)
      await self.expect(list, keys, at: location)
    }
    await expect(\.priority, ["3", "2", "1", "4"])
    await expect(\.price, ["3", "1", "2", "4"])
    await expect(\.weight, ["3", "1", "2", "4"])
    await expect(\.picked, ["2", "1", "3", "4"])
    await expect(\.isRipe, ["1", "3", "2", "4"])
    let counted = RecordList(store, of: Fruit.self, sortedBy: \.count)
    await self.expect(counted, ["1", "2", "3", "4"])
    let reversed = RecordList(
      store, of: Fruit.self, sortedBy: \.price, order: .reverse)
    await self.expect(reversed, ["2", "1", "3", "4"])
    let compared = RecordList(
      store, of: Fruit.self, sortedBy: { $0.count > $1.count })
    await self.expect(compared, ["4", "1", "2", "3"])
  }

  /// Lists, records and drafts read a value of another type as unset.
  @Test func undecodableValueIsUnset() async throws {
    let store = try await store()
    let name = FieldKey("name", .register)
    try await store.save { transaction in
      transaction.apply(.write(.int(1)), to: name, of: RecordID("Fruit", "1"))
      transaction[Fruit.self, "2"].name = "fig"
    }
    let list = RecordList(
      store, of: Fruit.self, sectionedBy: \.name, sortedBy: \.name)
    await expect(list, ["2", "1"])
    #expect(list.sections.map(\.id) == ["fig", nil])
    #expect(list.elements[1].name == nil)
    var draft = await store.read { $0.draft(of: Fruit.self, key: "1") }
    #expect(draft.name == nil)
    draft.name = nil
    #expect(!draft.hasChanges)
    try await store.commit(draft)
    #expect(
      await store.read { $0.record(RecordID("Fruit", "1"))?.value(of: name) }
        == .int(1))
  }

  @Test func sectionsHaveEqualValues() async throws {
    let store = try await store()
    try await store.save { transaction in
      for i in 0..<40 {
        let fruit = transaction[Fruit.self, "\(i)"]
        fruit.priority = i % 8 == 0 ? nil : i % 3 == 0 ? .high : .low
        fruit.name = "\(i * 7 % 10)"
      }
    }
    let list = RecordList(
      store, of: Fruit.self, sectionedBy: \.priority, sortedBy: \.name)
    let compared = RecordList(
      store, of: Fruit.self, sectionedBy: \.priority,
      sortedBy: { ($0.name ?? "") > ($1.name ?? "") })
    while !list.isLoaded || !compared.isLoaded { await Task.yield() }
    for each in [list, compared] {
      // The order of the type, and not of its raw values.
      #expect(each.sections.map(\.id) == ["low", "high", nil])
      #expect(each.sections.flatMap { Array($0.elements) } == each.elements)
      for section in each.sections {
        #expect(
          section.elements.allSatisfy {
            $0.priority?.fieldValue == section.id
          })
        let names = section.elements.compactMap(\.name)
        #expect(names == (each === list ? names.sorted() : names.sorted(by: >)))
      }
    }
    let plain = RecordList(store, of: Fruit.self, sortedBy: \.name)
    #expect(plain.sections.isEmpty)
    while !plain.isLoaded { await Task.yield() }
    #expect(plain.sections.map(\.elements.count) == [40])
  }

  @Test func changesOfOtherEntitiesUpdateNoView() async throws {
    let store = try await store()
    try await store.save { $0[Fruit.self, "1"].name = "fig" }
    let list = RecordList(store, of: Fruit.self)
    await expect(list, ["1"])
    final class Flag: @unchecked Sendable { var isSet = false }
    let flag = Flag()
    withObservationTracking {
      _ = list.elements
    } onChange: {
      flag.isSet = true
    }
    let other = RecordList(store, of: Basket.self)
    try await store.save { $0[Basket.self, "1"].name = "red" }
    while other.elements.isEmpty { await Task.yield() }
    #expect(!flag.isSet)
    try await store.save { $0[Fruit.self, "2"].name = "pear" }
    await expect(list, ["1", "2"])
    #expect(flag.isSet)
  }
}
