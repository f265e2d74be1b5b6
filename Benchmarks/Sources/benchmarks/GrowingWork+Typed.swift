// SPDX-License-Identifier: Apache-2.0

import Harness
import Rejoin
import RejoinPolicies
import RejoinStore

private struct Basket: Entity {
  let tags = set("tags", of: Int.self)
  let newTags = set(
    "new", of: Int.self, fallingBackTo: .register(of: String.self) { Int($0) })
  let list = toOne("list", Basket.self)
}

extension GrowingWork {
  /// Works with typed editors.
  static var typed: [GrowingWork] {
    [
      searchesInSave, searchesInDraft, insertionsBesideOlderField, deletions,
      observedItems,
    ]
  }

  private static func basketReplica(_ device: Int = 1) -> Replica {
    Dataset.emptyReplica(device, schema: [Basket.self])
  }

  private static func basketReplica(elements count: Int) throws -> Replica {
    let replica = basketReplica()
    try replica.save { transaction in
      let tags = transaction[Basket.self, "1"].tags
      for element in 0..<count { tags.insert(element) }
    }
    return replica
  }

  private static func removals(
    of count: Int, from tags: SetEditor<Int>
  ) -> Int {
    (0..<count).count { element in
      guard tags.contains(element) else { return false }
      tags.remove(element)
      return true
    }
  }

  private static var searchesInSave: GrowingWork {
    GrowingWork(
      "searches and removals of elements in a save", from: 5_000,
      setUp: { try basketReplica(elements: $0) }
    ) { replica, count in
      try replica.save {
        removals(of: count, from: $0[Basket.self, "1"].tags)
      }.value
    }
  }

  private static var searchesInDraft: GrowingWork {
    GrowingWork(
      "searches and removals of elements in a draft", from: 5_000,
      setUp: {
        try basketReplica(elements: $0).draft(of: Basket.self, key: "1")
      }
    ) { draft, count in
      draft.edit { removals(of: count, from: $0.tags) }
    }
  }

  private static var insertionsBesideOlderField: GrowingWork {
    GrowingWork(
      "saves that insert into a set with an older field", from: 5_000,
      setUp: { _ in basketReplica() }
    ) { replica, count in
      try (0..<count).count { element in
        try replica.save { $0[Basket.self, "1"].newTags.insert(element) }.dot
          != nil
      }
    }
  }

  /// Not linear: each of *n* deletions covers a save of each of *n* devices.
  private static var deletions: GrowingWork {
    GrowingWork(
      "deletions of one record by devices", from: 64, growth: 2.6
    ) { count in
      let base = basketReplica()
      func device(_ number: Int) -> Replica {
        let replica = basketReplica(number)
        replica.merge(base)
        return replica
      }
      for number in 2..<2 + count {
        let device = device(number)
        try device.save { $0[Basket.self, "1"].tags.insert(number) }
        base.merge(device)
      }
      let deltas = try (0..<count).compactMap { number in
        let device = device(2 + count + number)
        let version = device.version
        try device.save { $0[Basket.self, "1"].delete() }
        return device.delta(since: version)
      }
      return (base, deltas)
    } body: { input, _ in
      let (base, deltas) = input
      return deltas.count { base.apply($0).hasAdvanced }
    }
  }

  /// The items of one list, added one by one while the list is observed.
  private static var observedItems: GrowingWork {
    GrowingWork(
      "items of one list that is observed", from: 500
    ) { _ in
      try blocking {
        let store = try await ReplicaStore.inMemory(
          schema: [Basket.self],
          wallClock: WallClock { 1_750_000_000_000 },
          makeDeviceID: { Dataset.device(7) })
        try await store.save { $0[Basket.self, "list"].ensureExists() }
        return (store, await store.changes)
      }
    } body: { input, count in
      let (store, changes) = input
      defer { withExtendedLifetime(changes) {} }
      return try blocking {
        var saves = 0
        for i in 0..<count {
          let report = try await store.save {
            $0[Basket.self, "\(i)"].list = Reference("list")
          }.report
          saves += report.dot == nil ? 0 : 1
        }
        return saves
      }
    }
  }
}
