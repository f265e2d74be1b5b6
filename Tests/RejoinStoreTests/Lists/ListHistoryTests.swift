// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing
import _RejoinVerification

@testable import RejoinStore

/// Lists in random histories, compared with a pass over all records.
@Suite struct ListHistoryTests {
  /// A list, and the same list as a pass over all records returns it.
  private struct Compared {
    var content: ListContent<Fruit>
    let expected: @Sendable ([TypedRecord<Fruit>]) -> [TypedRecord<Fruit>]
  }

  private static func before<V: Comparable>(
    _ a: (V?, String), _ b: (V?, String)
  ) -> Bool {
    switch (a.0, b.0) {
    case (nil, nil): return a.1 < b.1
    case (nil, _): return false
    case (_, nil): return true
    case (let x?, let y?): return x == y ? a.1 < b.1 : x < y
    }
  }

  private static var lists: [Compared] {
    [
      Compared(
        content: ListContent({ _ in true }, ListOrder(by: \.name, .forward))
      ) { $0.sorted { before(($0.name, $0.id), ($1.name, $1.id)) } },
      Compared(
        content: ListContent(
          { $0.isRipe != true }, ListOrder(by: \.count, .forward))
      ) {
        $0.filter { $0.isRipe != true }
          .sorted { ($0.count, $0.id) < ($1.count, $1.id) }
      },
      Compared(
        content: ListContent(
          { $0.basket != nil },
          ListOrder(by: { $0.count > $1.count }).sectioned(by: \.basket))
      ) {
        $0.filter { $0.basket != nil }.sorted {
          ($0.basket!.key, $1.count, $0.id) < ($1.basket!.key, $0.count, $1.id)
        }
      },
      Compared(
        content: ListContent(
          { _ in true },
          ListOrder(by: \.count, .forward).sectioned(by: \.priority))
      ) {
        $0.sorted { a, b in
          let ranks: [Priority: Int64] = [.low: 0, .medium: 1, .high: 2]
          func rank(_ fruit: TypedRecord<Fruit>) -> Int64 {
            fruit.priority.flatMap { ranks[$0] } ?? 3
          }
          return (rank(a), a.count, a.id) < (rank(b), b.count, b.id)
        }
      },
      Compared(
        content: ListContent(
          { _ in true },
          ListOrder(by: \.priority, .reverse).sectioned(by: \.isRipe))
      ) {
        $0.sorted { a, b in
          func rank(_ fruit: TypedRecord<Fruit>) -> Int {
            let ripe = fruit.isRipe.map { $0 ? 1 : 0 } ?? 2
            let priority: [Priority: Int] = [.high: 0, .medium: 1, .low: 2]
            return ripe * 10 + (fruit.priority.flatMap { priority[$0] } ?? 3)
          }
          return (rank(a), a.id) < (rank(b), b.id)
        }
      },
    ]
  }

  @Test func listsEqualPassesOverAllRecords() throws {
    let histories = Tier.isNightly ? 10_000 : 300
    for seed in 0..<UInt64(histories) {
      var random = SeededRandom(seed: seed)
      try run(&random, seed)
    }
  }

  private func run(_ random: inout SeededRandom, _ seed: UInt64) throws {
    let schema: Schema = [Fruit.self, Basket.self]
    let scope = try StoredScope(
      "main", on: SQLiteConnection(opening: ":memory:"), schema: schema,
      wallClock: ManualClock().wallClock, token: TestTokenStorage(),
      makeDeviceID: { DeviceID(1) })
    let peer = Replica(
      device: DeviceID(8), schema: schema, wallClock: ManualClock().wallClock,
      makeDeviceID: { DeviceID(9) })
    let start = random.number(below: 10)
    var lists = Self.lists
    var (pending, signals) = scope.observers.observe()
    for step in 0..<20 {
      try change(scope, peer, &random)
      let records = scope.read { $0.records(of: Fruit.self) }
      if step == start {
        (pending, signals) = scope.observers.observe()
        for i in lists.indices { lists[i].content.load(records) }
      } else if step > start, random.chance(percent: 70) {
        let changes = pending.take()
        for i in lists.indices {
          if let changes { lists[i].content.apply(changes) }
        }
      } else {
        continue
      }
      for list in lists {
        let expected = list.expected(records)
        if list.content.elements != expected {
          Issue.record("seed \(seed), step \(step)")
          #expect(list.content.elements.map(\.id) == expected.map(\.id))
          return
        }
      }
    }
    withExtendedLifetime(signals) {}
  }

  private func change(
    _ scope: StoredScope, _ peer: Replica, _ random: inout SeededRandom
  ) throws {
    switch random.number(below: 10) {
    case 0...3:
      try scope.update { try save($0, &random) }
    case 4...5:
      try save(peer, &random)
    case 6:
      try scope.update { replica in
        _ = replica.merge(peer)
        if random.chance(percent: 50) { _ = peer.merge(replica) }
      }
    case 7:
      try scope.update { _ = try $0.undo() }
    case 8:
      try scope.update { _ = try $0.redo() }
    default:
      try scope.update { replica in
        for _ in 0..<2 {
          _ = replica.merge(peer)
          _ = peer.merge(replica)
          replica.recordVersion(peer.version, of: peer.device)
          try replica.purgeDeletedRecords()
        }
      }
    }
  }

  private func save(
    _ replica: Replica, _ random: inout SeededRandom
  ) throws {
    // Many changes together are applied in another way.
    let edits = random.chance(percent: 20) ? 30 : 2
    try replica.save(undoable: "edit") { transaction in
      for _ in 0...random.number(below: edits) {
        let key = "\(random.number(below: 25))"
        let fruit = transaction[Fruit.self, key]
        let number = random.number(below: 5)
        switch random.number(below: 8) {
        case 0:
          fruit.name = number == 0 ? nil : "a name of many bytes \(number)"
        case 1: fruit.isRipe = [nil, true, false][number % 3]
        case 2: fruit.priority = [nil, .low, .medium, .high][number % 4]
        case 3, 4: fruit.basket = Reference("\(number % 3)")
        case 5: fruit.count.increment(by: Int64(number) - 2)
        case 6: fruit.delete()
        default:
          let basket = transaction[Basket.self, "\(number % 3)"]
          if number > 2 { basket.delete() } else { basket.ensureExists() }
        }
      }
    }
  }
}
