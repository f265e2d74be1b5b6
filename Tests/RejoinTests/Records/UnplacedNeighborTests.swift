// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinTesting
import Testing

/// Moves by keys beside a left neighbor without a position.
///
/// The devices have different IDs, because positions at one place depend on them.
@Suite struct UnplacedNeighborTests {
  private struct Item: Entity {
    let title = register("title", of: String.self)
    let position = lww("position", of: Position.self)
  }

  private static let devices: [(UInt64, UInt64)] = [(1, 2), (2, 1), (7, 5)]

  private func replica(_ device: UInt64) -> Replica {
    Replica(
      device: DeviceID(device), schema: [Item.self],
      wallClock: ManualClock().wallClock,
      makeDeviceID: { DeviceID(100 + device) })
  }

  /// The keys in the order of a list: by position, and those without one last.
  private func order(_ replica: Replica) -> [String] {
    let items = replica.records(of: Item.self)
    let placed = items.compactMap { item in
      item.position.map { ($0, item.id) }
    }
    return placed.sorted { $0 < $1 }.map(\.1)
      + items.filter { $0.position == nil }.map(\.id)
  }

  /// Two replicas with placed and unplaced items.
  private func pair(
    _ devices: (UInt64, UInt64), placed: [String], unplaced: [String]
  ) throws -> (Replica, Replica) {
    let (one, other) = (replica(devices.0), replica(devices.1))
    try one.save { transaction in
      for key in placed + unplaced { transaction[Item.self, key].title = key }
      transaction.rebalance(placed, by: \Item.position)
    }
    if let delta = one.delta() { other.apply(delta) }
    return (one, other)
  }

  private struct Move {
    let placed: [String]
    let unplaced: [String]
    let moved: String
    let left: String
    let right: String
    let order: [String]
  }

  private static let moves = [
    Move(
      placed: [], unplaced: ["bread", "milk", "salt", "tea"], moved: "tea",
      left: "milk", right: "salt", order: ["bread", "milk", "tea", "salt"]),
    // A left neighbor that never existed has the place of its key.
    Move(
      placed: ["a", "b"], unplaced: ["t", "v"], moved: "a", left: "u",
      right: "v", order: ["b", "t", "a", "v"]),
  ]

  @Test(arguments: devices)
  func itemsBeforeLeftGetPositions(_ one: UInt64, _ other: UInt64) throws {
    for move in Self.moves {
      let (_, tablet) = try pair(
        (one, other), placed: move.placed, unplaced: move.unplaced)
      try tablet.save {
        $0.move(
          [move.moved], by: \Item.position, between: move.left,
          and: move.right)
      }
      #expect(order(tablet) == move.order)
    }
  }

  @Test(arguments: devices)
  func deletedLeftKeepsItsPlace(_ one: UInt64, _ other: UInt64) throws {
    let (_, tablet) = try pair(
      (one, other), placed: ["a", "b", "c"], unplaced: ["t", "u", "v"])
    try tablet.save { $0[Item.self, "u"].delete() }
    try tablet.save {
      $0.move(["a"], by: \Item.position, between: "u", and: "v")
    }
    #expect(order(tablet) == ["b", "c", "t", "a", "v"])
  }

  @Test(arguments: devices)
  func recordsOfSaveCount(_ one: UInt64, _ other: UInt64) throws {
    let (phone, tablet) = try pair(
      (one, other), placed: ["a", "y"], unplaced: ["u"])
    try phone.save { $0[Item.self, "y"].delete() }
    tablet.apply(try #require(phone.delta()))
    try tablet.save { transaction in
      transaction[Item.self, "n"].title = "n"
      transaction.move(["n"], by: \Item.position, between: "y", and: nil)
      transaction[Item.self, "m"].title = "m"
      transaction.move(["m"], by: \Item.position, between: "u", and: nil)
    }
    #expect(order(tablet) == ["a", "n", "u", "m"])
  }

  @Test func deletedLeftIsReadInOlderForm() throws {
    struct Older: Entity {
      static let entityName = "Item"
      let title = register("title", of: String.self)
      let place = register("place", of: String.self)
    }
    struct Newer: Entity {
      static let entityName = "Item"
      let place = lww(
        "place", of: Position.self,
        fallingBackTo: .register(of: String.self) { text in
          Position(
            fieldValue: .bytes(
              stride(from: 0, to: text.count, by: 2).compactMap { start in
                UInt8(text.dropFirst(start).prefix(2), radix: 16)
              }))
        })
    }
    for device in [1, 2] as [UInt64] {
      let (positions, _) = try pair(
        (device, 9), placed: ["a", "b", "c"], unplaced: [])
      let old = Replica(
        device: DeviceID(5), schema: [Older.self],
        wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(6) })
      try old.save { transaction in
        for item in positions.records(of: Item.self) {
          guard case .bytes(let bytes)? = item.position?.fieldValue else {
            continue
          }
          transaction[Older.self, item.id].place =
            bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
      }
      let new = Replica(
        device: DeviceID(device), schema: [Newer.self],
        wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(8) })
      new.apply(try #require(old.delta()))
      try new.save { $0[Newer.self, "b"].delete() }
      try new.save { transaction in
        transaction[Newer.self, "d"].ensureExists()
        transaction.move(
          ["d"], by: \Newer.place, between: "b", and: "c")
      }
      let sorted = new.records(of: Newer.self)
        .compactMap { item in item.place.map { ($0, item.id) } }
        .sorted { $0 < $1 }.map(\.1)
      #expect(sorted == ["a", "d", "c"])
    }
  }
}
