// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinStore
import RejoinTesting
import Testing

private struct Dish: Entity {
  let course = register("course", of: String.self)
  let isDone = register("isDone", of: Bool.self)
  let position = lww("position", of: Position.self)
}

/// Moves in a list, compared with an array that is moved by hand.
@MainActor @Suite struct ListMovingTests {
  /// A store with a list.
  @MainActor private final class Device {
    let store: ReplicaStore
    let list: RecordList<Dish>
    private let isIncluded: @Sendable (TypedRecord<Dish>) -> Bool

    init(
      where isIncluded: @escaping @Sendable (TypedRecord<Dish>) -> Bool = { _ in
        true
      }
    ) async throws {
      store = try await ReplicaStore.inMemory(schema: [Dish.self])
      self.isIncluded = isIncluded
      list = RecordList(
        store, of: Dish.self, where: isIncluded, sortedBy: \.position)
    }

    var keys: [String] { list.elements.map(\.id) }

    /// Waits until the list shows the records of the store in their order.
    func settle() async throws {
      let records = await store.read {
        $0.records(of: Dish.self).filter(isIncluded)
      }
      let placed = records.filter { $0.position != nil }
        .sorted { ($0.position!, $0.id) < ($1.position!, $1.id) }
      let unplaced = records.filter { $0.position == nil }
        .sorted { $0.id < $1.id }
      let start = ContinuousClock.now
      while list.elements != placed + unplaced || !list.isLoaded,
        ContinuousClock.now - start < .seconds(60)
      {
        await Task.yield()
      }
      #expect(list.elements == placed + unplaced)
    }

    func fill(_ count: Int) async throws {
      try await store.save { transaction in
        var last: Position?
        for i in 0..<count {
          let dish = transaction[Dish.self, "\(i)"]
          dish.course = i % 2 == 0 ? "main" : "dessert"
          last = transaction.position(between: last, and: nil)
          dish.position = last
        }
      }
      try await settle()
    }

    func move(_ source: IndexSet, to destination: Int) async throws {
      try await list.move(
        fromOffsets: source, toOffset: destination, by: \.position)
      try await settle()
    }
  }

  private func meet(_ one: Device, _ other: Device) async throws {
    for (a, b) in [(one, other), (other, one)] {
      let version = await b.store.version
      if let delta = try await a.store.delta(since: version) {
        try await b.store.apply(delta)
      }
    }
    for device in [one, other] { try await device.settle() }
  }

  private func moved(
    _ keys: [String], _ source: IndexSet, to destination: Int
  ) -> [String] {
    var rest: [String] = []
    var index = 0
    for (offset, key) in keys.enumerated() where !source.contains(offset) {
      if offset < destination { index += 1 }
      rest.append(key)
    }
    rest.insert(contentsOf: source.map { keys[$0] }, at: index)
    return rest
  }

  @Test func movesEqualThoseOfArray() async throws {
    var random = SeededRandom(seed: 69)
    let device = try await Device()
    try await device.fill(12)
    for _ in 0..<200 {
      let keys = device.keys
      let source = IndexSet(
        (0..<(1 + random.number(below: 3))).map { _ in
          random.number(below: keys.count)
        })
      let destination = random.number(below: keys.count + 1)
      try await device.move(source, to: destination)
      #expect(device.keys == moved(keys, source, to: destination))
    }
  }

  @Test func itemsWithoutPositionGetOne() async throws {
    let device = try await Device()
    try await device.store.save { transaction in
      for i in 0..<5 { transaction[Dish.self, "\(i)"].isDone = false }
    }
    try await device.settle()
    let keys = device.keys
    try await device.move([4], to: 2)
    #expect(device.keys == moved(keys, [4], to: 2))
    // Two items are behind the gap, and have no position.
    #expect(device.list.elements.filter { $0.position == nil }.count == 2)
  }

  @Test func hiddenItemsStay() async throws {
    let device = try await Device(where: { $0.isDone != true })
    try await device.fill(8)
    try await device.store.save { transaction in
      for i in [1, 2, 5] { transaction[Dish.self, "\(i)"].isDone = true }
    }
    try await device.settle()
    #expect(device.keys == ["0", "3", "4", "6", "7"])
    try await device.move([0], to: 3)
    #expect(device.keys == ["3", "4", "0", "6", "7"])
    try await device.store.save { transaction in
      for i in [1, 2, 5] { transaction[Dish.self, "\(i)"].isDone = false }
    }
    try await device.settle()
    let shown = device.keys.filter { !["1", "2", "5"].contains($0) }
    #expect(shown == ["3", "4", "0", "6", "7"])
    #expect(
      device.keys.filter { ["1", "2", "5"].contains($0) } == ["1", "2", "5"])
  }

  @Test func offsetsAreThoseOfSection() async throws {
    let store = try await ReplicaStore.inMemory(schema: [Dish.self])
    let list = RecordList(
      store, of: Dish.self, sectionedBy: \.course, sortedBy: \.position)
    try await store.save { transaction in
      var last: Position?
      for i in 0..<6 {
        let dish = transaction[Dish.self, "\(i)"]
        dish.course = i < 3 ? "a" : "b"
        last = transaction.position(between: last, and: nil)
        dish.position = last
      }
    }
    func wait(for keys: [[String]]) async throws {
      let start = ContinuousClock.now
      while list.sections.map({ $0.elements.map(\.id) }) != keys,
        ContinuousClock.now - start < .seconds(60)
      {
        await Task.yield()
      }
      #expect(list.sections.map { $0.elements.map(\.id) } == keys)
    }
    try await wait(for: [["0", "1", "2"], ["3", "4", "5"]])
    let section = try #require(list.sections.last)
    try await list.move(
      fromOffsets: [2], toOffset: 0, in: section, by: \.position)
    try await wait(for: [["0", "1", "2"], ["5", "3", "4"]])
  }

  @Test func concurrentMovesMerge() async throws {
    let (one, other) = (try await Device(), try await Device())
    try await one.fill(10)
    try await meet(one, other)
    // One item, two overlapping ranges, and an item that the other one deletes.
    try await one.move([0], to: 5)
    // The clocks decide about one item that both move.
    try await Task.sleep(for: .milliseconds(5))
    try await other.move([0], to: 10)
    #expect(other.keys.last == "0")
    let range = try #require(one.keys.firstIndex(of: "6"))
    try await one.move([range, range + 1, range + 2], to: 0)
    #expect(one.keys.prefix(3) == ["6", "7", "8"])
    try await Task.sleep(for: .milliseconds(5))
    try await other.move([4, 5, 6], to: 0)
    #expect(other.keys.prefix(3) == ["5", "6", "7"])
    try await one.store.save { $0[Dish.self, "9"].delete() }
    let deleted = try #require(other.keys.firstIndex(of: "9"))
    try await other.move([deleted], to: 2)
    try await meet(one, other)
    #expect(one.keys == other.keys)
    #expect(Set(one.keys) == Set((0..<10).map(String.init)))
    #expect(one.keys.count == 10)
    // The later moves win: the whole range of the second device, and of the first one
    // what only it moved.
    #expect(
      one.keys.filter { ["5", "6", "7"].contains($0) } == ["5", "6", "7"])
    let first = try #require(one.keys.firstIndex(of: "5"))
    // "9" was moved into the range by its own device.
    #expect(one.keys[first...].prefix(4) == ["5", "6", "9", "7"])
    #expect(one.keys.last == "0")
    for device in [one, other] {
      let conflicts = await device.store.read {
        $0.conflictedFields(of: Dish.self)
      }
      #expect(conflicts.isEmpty)
    }
  }

  /// A drag can begin before the list shows the last one.
  @Test func moveIsBesideCurrentPlaceOfNeighbor() async throws {
    let device = try await Device()
    try await device.fill(4)
    let (store, isSaved) = (device.store, Locked(false))
    Task.detached {
      try await store.save { transaction in
        transaction.move(["2"], by: \Dish.position, between: nil, and: "0")
      }
      isSaved.withLock { $0 = true }
    }
    // The list cannot change as long as the main actor is busy.
    while !isSaved.withLock({ $0 }) { usleep(100) }
    #expect(device.keys == ["0", "1", "2", "3"])
    try await device.move([0], to: 3)
    #expect(device.keys == ["2", "0", "1", "3"])
  }

  /// Equal positions, as two imports make them, do not prevent a move between them.
  @Test func itemsWithEqualPositionsAreMoved() async throws {
    let device = try await Device()
    try await device.store.withReplica { replica in
      for key in ["a", "b", "c", "d"] {
        try replica.importRows { transaction in
          transaction[Dish.self, key].position = transaction.position(
            between: nil, and: nil)
        }
      }
    }
    try await device.settle()
    #expect(device.keys == ["a", "b", "c", "d"])
    try await device.move([3], to: 1)
    #expect(device.keys == ["a", "d", "b", "c"])
    try await device.move([0], to: 3)
    #expect(device.keys == ["d", "b", "a", "c"])
  }

  /// The list can become shorter between the user's drop and the move.
  @Test func missingOffsetsAreLeftOut() async throws {
    let device = try await Device()
    try await device.fill(3)
    try await device.move([0, 7], to: 9)
    #expect(device.keys == ["1", "2", "0"])
    try await device.move([5], to: 0)
    #expect(device.keys == ["1", "2", "0"])
  }

  /// The undo restores the place, and not the title that was written later.
  @Test func namedMoveIsUndone() async throws {
    let device = try await Device()
    try await device.fill(4)
    try await device.list.move(
      fromOffsets: [3], toOffset: 0, by: \.position, undoable: "Move")
    try await device.settle()
    #expect(device.keys == ["3", "0", "1", "2"])
    #expect(await device.store.undoName == "Move")
    try await device.store.save { $0[Dish.self, "3"].course = "soup" }
    try await device.store.undo()
    try await device.settle()
    #expect(device.keys == ["0", "1", "2", "3"])
    #expect(device.list.elements.last?.course == "soup")
    try await device.move([0], to: 2)
    #expect(await device.store.undoName == nil)
  }

  @Test func moveToOwnPlaceSavesNothing() async throws {
    let device = try await Device()
    try await device.fill(4)
    let version = await device.store.version
    for (source, destination) in [
      ([], 2), ([1], 1), ([1], 2), ([1, 2], 1), ([1, 2], 2), ([1, 2], 3),
    ] as [(IndexSet, Int)] {
      try await device.list.move(
        fromOffsets: source, toOffset: destination, by: \.position)
    }
    #expect(await device.store.version == version)
    try await device.move([1, 3], to: 3)
    #expect(device.keys == ["0", "2", "1", "3"])
  }

  /// A record that was deleted after the list changed last is left out.
  @Test func deletedItemStaysDeleted() async throws {
    let device = try await Device()
    try await device.fill(3)
    let list = device.list
    try await device.store.save { $0[Dish.self, "1"].delete() }
    // The list may not know it yet.
    try await list.move(fromOffsets: [1], toOffset: 0, by: \.position)
    let keys = await device.store.read { $0.records(of: Dish.self).map(\.id) }
    #expect(!keys.contains("1"))
  }
}
