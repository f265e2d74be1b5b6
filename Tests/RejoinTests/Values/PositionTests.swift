// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing
import _RejoinVerification

@testable import Rejoin

private struct PlacedItem: Entity {
  let position = lww("position", of: Position.self)
}

/// The order of items that several devices insert and move.
@Suite struct PositionTests {
  /// A device with a list.
  private final class Device {
    let number: Int
    let replica: Replica
    private var count = 0
    private(set) var moves = 0

    init(_ number: Int) {
      self.number = number
      replica = Replica(
        device: DeviceID(high: UInt64(number + 1) << 40, low: 77),
        schema: [PlacedItem.self], wallClock: ManualClock(1_000_000).wallClock,
        makeDeviceID: { DeviceID(9) })
    }

    /// The keys in the order of the list, without unplaced ones.
    var order: [String] { placed.map(\.key) }

    var placed: [(position: Position, key: String)] {
      replica.records(of: PlacedItem.self)
        .compactMap { item in item.position.map { ($0, item.id) } }
        .sorted { $0 < $1 }
    }

    func newKey() -> String {
      count += 1
      return "\(number).\(count)"
    }

    /// Places items one behind the other at a gap, without the items themselves.
    func place(
      _ keys: [String], at gap: Int, made: inout Set<Position>
    ) throws {
      try replica.save { transaction in
        try place(keys, at: gap, transaction, made: &made)
      }
    }

    private func place(
      _ keys: [String], at gap: Int, _ transaction: Transaction,
      made: inout Set<Position>
    ) throws {
      let others = placed.filter { !keys.contains($0.key) }.map(\.position)
      var left = gap > 0 ? others[gap - 1] : nil
      let right = others.dropFirst(gap).first { right in
        left.map { $0 < right } ?? true
      }
      for key in keys {
        let position = transaction.position(between: left, and: right)
        #expect(left.map { $0 < position } ?? true)
        #expect(right.map { position < $0 } ?? true)
        #expect(made.insert(position).inserted, "a position was made twice")
        #expect(Position(fieldValue: position.fieldValue) == position)
        transaction[PlacedItem.self, key].position = position
        left = position
      }
    }

    func take(from other: Device) {
      if let delta = other.replica.delta(since: replica.version) {
        replica.apply(delta)
      }
    }
  }

  private func meet(_ devices: [Device]) {
    for _ in 0..<2 {
      for one in devices {
        for other in devices where one !== other { one.take(from: other) }
      }
    }
  }

  /// Random pasts, in which devices insert, move, remove, undo and meet.
  private func live(
    _ devices: [Device], _ random: inout SeededRandom,
    made: inout Set<Position>
  ) throws {
    for _ in 0..<random.number(below: 15) {
      let device = devices[random.number(below: devices.count)]
      let order = device.order
      switch random.number(below: 20) {
      case 0..<9:
        try device.place(
          [device.newKey()], at: random.number(below: order.count + 1),
          made: &made)
      case 9..<13:
        guard let key = order.randomElement(using: &random) else { continue }
        let gap = random.number(below: order.count)
        var moved = made
        try device.replica.save(undoable: "move") { transaction in
          let others = device.placed.filter { $0.key != key }.map(\.position)
          let left = gap > 0 ? others[gap - 1] : nil
          let right = gap < others.count ? others[gap] : nil
          let position = transaction.position(between: left, and: right)
          #expect(moved.insert(position).inserted)
          transaction[PlacedItem.self, key].position = position
        }
        made = moved
      case 13..<15:
        guard let key = order.randomElement(using: &random) else { continue }
        try device.replica.save { $0[PlacedItem.self, key].delete() }
      case 15: _ = try device.replica.undo()
      default:
        device.take(from: devices[random.number(below: devices.count)])
      }
    }
  }

  private enum Direction: CaseIterable { case forward, backward, mixed, inner }

  /// Runs that devices insert at one place stay together.
  @Test(arguments: 0..<4) func runsStayTogether(_ part: Int) throws {
    var random = SeededRandom(seed: UInt64(part))
    var runs = 0
    let histories = Tier.isNightly ? 2_500 : 600
    for history in 0..<histories {
      let devices = Array(
        [0, 1, 2, 3, 4].shuffled(using: &random)
          .prefix(2 + random.number(below: 2)).map { Device($0) })
      var made: Set<Position> = []
      try live(devices, &random, made: &made)
      let isSamePlace = random.chance(percent: 50)
      if isSamePlace { meet(devices) }
      let place = random.number(below: devices[0].order.count + 1)
      var inserted: [[String]] = []
      for device in devices {
        let first =
          isSamePlace ? place : random.number(below: device.order.count + 1)
        let direction = random.pick(Direction.allCases)
        var keys: [String] = []
        let count =
          random.chance(percent: 2) ? 100 : 2 + random.number(below: 5)
        if random.chance(percent: 30) {
          keys = (0..<count).map { _ in device.newKey() }
          try device.place(keys, at: first, made: &made)
        } else {
          for i in 0..<count {
            let key = device.newKey()
            let offset =
              switch direction {
              case .forward: i
              case .backward: 0
              case .mixed: random.pick([0, i])
              case .inner: random.number(below: i + 1)
              }
            try device.place([key], at: first + offset, made: &made)
            keys.append(key)
          }
        }
        inserted.append(keys)
        runs += 1
      }
      meet(devices)
      let order = devices[0].order
      for device in devices {
        #expect(device.order == order, "history \(history)")
      }
      for keys in inserted {
        let places = keys.compactMap { order.firstIndex(of: $0) }.sorted()
        let isTogether =
          places.count == keys.count
          && places.last! - places[0] == keys.count - 1
        #expect(isTogether, "history \(history): \(keys) in \(order)")
      }
    }
    #expect(runs > 2 * histories)
  }

  // MARK: Lengths

  private static func origin(_ device: Int, _ save: Int) -> Position.Origin {
    let id = DeviceID(high: UInt64(device + 1) << 40, low: 77)
    return Position.Origin(Dot(id, UInt64(save)))
  }

  private func position(
    between left: Position?, and right: Position?, _ device: Int, _ save: Int
  ) -> Position {
    var origin = Self.origin(device, save)
    return origin.next(after: left, before: right)
  }

  /// Inserts items by devices in turn, and returns the lengths of their positions.
  private func lengths(
    _ count: Int, devices: Int, at place: (_ count: Int) -> Int
  ) -> [Int] {
    var order: [Position] = []
    for i in 0..<count {
      let gap = place(order.count)
      let position = self.position(
        between: gap > 0 ? order[gap - 1] : nil,
        and: gap < order.count ? order[gap] : nil, i % devices,
        i / devices + 1)
      order.insert(position, at: gap)
    }
    #expect(order == order.sorted())
    return order.map(\.bytes.count)
  }

  @Test func appendedPositionsAreShort() {
    #expect(lengths(100_000, devices: 1) { $0 }.max() == 10)
    #expect(lengths(100_000, devices: 2) { $0 }.max() == 21)
  }

  @Test func insertionsAtCenterAddFourBytes() {
    let lengths = lengths(200, devices: 1) { $0 / 2 }
    #expect(lengths.max().map { (600..<900).contains($0) } == true)
  }

  /// Random moves leave positions of a bounded length.
  @Test(arguments: [(10, 1), (100, 2), (1_000, 4)])
  func movedPositionsAreShort(_ size: Int, _ devices: Int) {
    var random = SeededRandom(seed: UInt64(size))
    var order: [Position] = []
    var saves = [Int](repeating: 0, count: devices)
    func insert(at gap: Int, by device: Int) {
      saves[device] += 1
      order.insert(
        position(
          between: gap > 0 ? order[gap - 1] : nil,
          and: gap < order.count ? order[gap] : nil, device, saves[device]),
        at: gap)
    }
    for i in 0..<size { insert(at: i, by: i % devices) }
    for _ in 0..<100_000 {
      order.remove(at: random.number(below: size))
      insert(
        at: random.number(below: size), by: random.number(below: devices))
    }
    let sum = order.reduce(0) { $0 + $1.bytes.count }
    #expect((10..<90).contains(sum / size), "\(sum / size)")
  }

  // MARK: Bad input

  @Test func bytesThatAreNoPositionReadAsUnset() throws {
    let long = position(
      between: position(between: nil, and: nil, 0, 5), and: nil, 1, 700_000)
    #expect(Position(fieldValue: .bytes(long.bytes)) == long)
    // Any change of a byte gives another position or none, and never a crash.
    var random = SeededRandom(seed: 3)
    for _ in 0..<20_000 {
      var bytes = long.bytes
      for _ in 0..<(1 + random.number(below: 3)) {
        bytes[random.number(below: bytes.count)] = UInt8(
          random.number(below: 256))
      }
      if random.chance(percent: 30) {
        bytes.removeLast(random.number(below: bytes.count))
      }
      guard let position = Position(fieldValue: .bytes(bytes)) else { continue }
      #expect(position.bytes == bytes && bytes.last.map { $0 & 1 } == 1)
      // Each device can make positions on both sides of it.
      let left = self.position(between: nil, and: position, 2, 9)
      let right = self.position(between: position, and: nil, 2, 9)
      #expect(left < position && position < right)
    }
    for value: Value in [
      .bytes([]), .bytes([1, 2, 3]), .string("a"), .double(1), .null,
      .bytes(long.bytes.dropLast()),
      .bytes([UInt8](repeating: 0xff, count: 2_000)),
    ] { #expect(Position(fieldValue: value) == nil) }
  }

  /// A number has one form, and a known tag is named by its index.
  @Test func otherFormsAreNoPosition() {
    let bytes = position(between: nil, and: nil, 0, 3).bytes
    #expect(bytes.count == 8)
    let tag = Array(bytes[..<6])
    // The number 3 in two bytes, and the own tag below itself as a new one.
    #expect(Position(fieldValue: .bytes(tag + [0x90, 3, 0x81])) == nil)
    #expect(
      Position(fieldValue: .bytes(bytes + [0xff] + tag + [0x83, 0x81])) == nil)
    #expect(Position(fieldValue: .bytes(bytes + [0, 0x83, 0x81])) != nil)
    #expect(Position(fieldValue: .bytes(bytes + [1, 0x83, 0x81])) == nil)
    // A position has at most 1,024 bytes.
    for (levels, isPosition) in [(338, true), (339, false)] {
      let below = (0..<levels).flatMap { _ in [0, 0x83, 0x81] as [UInt8] }
      let long = Position(fieldValue: .bytes(bytes + below))
      #expect((long != nil) == isPosition)
    }
  }

  @Test func positionAboveTheLimitRefusesTheSave() throws {
    let replica = Replica(
      device: DeviceID(1), schema: [PlacedItem.self],
      wallClock: ManualClock(1).wallClock, makeDeviceID: { DeviceID(2) })
    var (left, right): (Position?, Position?) = (nil, nil)
    #expect(throws: SaveError.positionTooLong) {
      for i in 0..<1_000 {
        try replica.save { transaction in
          let next = transaction.position(between: left, and: right)
          transaction[PlacedItem.self, "\(i)"].position = next
          if i % 2 == 0 { left = next } else { right = next }
        }
      }
    }
    let keys = replica.records(of: PlacedItem.self).map(\.id)
    #expect(keys.count > 100)
    try replica.save { $0.rebalance(keys, by: \PlacedItem.position) }
    let lengths = replica.records(of: PlacedItem.self)
      .compactMap { $0.position?.bytes.count }
    #expect(lengths.allSatisfy { $0 <= 12 })
  }

  /// A copy of a device can make equal positions, between which nothing fits.
  @Test func equalPositionsAreNoError() {
    let one = self.position(between: nil, and: nil, 0, 1)
    let next = self.position(between: one, and: one, 0, 2)
    #expect(one < next)
    #expect(one < self.position(between: one, and: next, 1, 2))
  }

  /// If two replicas use one device ID, a replica that finds out takes a new one.
  @Test func positionNamesNewDevice() throws {
    let replicas = (0..<2).map { _ in
      let ids = Locked(8 as UInt64)
      return Replica(
        device: DeviceID(1), schema: [PlacedItem.self],
        wallClock: ManualClock(1).wallClock,
        makeDeviceID: {
          DeviceID(
            ids.withLock {
              $0 += 1
              return $0
            })
        })
    }
    for (i, replica) in replicas.enumerated() {
      for j in 0...i {
        try replica.save { $0[PlacedItem.self, "\(i) \(j)"].ensureExists() }
      }
    }
    replicas[0].apply(replicas[1].delta()!)
    try replicas[0].save { transaction in
      transaction[PlacedItem.self, "a"].position = transaction.position(
        between: nil, and: nil)
    }
    let device = replicas[0].device
    #expect(device != DeviceID(1))
    let made = replicas[0][PlacedItem.self, "a"]?.position
    var origin = Position.Origin(Dot(device, 1))
    #expect(made == origin.next(after: nil, before: nil))
  }

  // MARK: Moves by key

  private func list(_ keys: [String]) throws -> Replica {
    // The tag of this device is less than that of the other one.
    let devices = [DeviceID(1), DeviceID(2)]
      .sorted {
        Position.Origin(Dot($0, 1)).tag > Position.Origin(Dot($1, 1)).tag
      }
    let replicas = devices.map {
      Replica(
        device: $0, schema: [PlacedItem.self],
        wallClock: ManualClock(1).wallClock, makeDeviceID: { DeviceID(9) })
    }
    try replicas[0].save { transaction in
      for key in keys { transaction[PlacedItem.self, key].ensureExists() }
      transaction.rebalance(keys, by: \PlacedItem.position)
    }
    replicas[1].apply(replicas[0].delta()!)
    return replicas[1]
  }

  private func order(_ replica: Replica) -> [String] {
    replica.records(of: PlacedItem.self)
      .compactMap { item in item.position.map { ($0, item.id) } }
      .sorted { $0 < $1 }.map(\.1)
  }

  @Test func deletedNeighborKeepsItsPlace() throws {
    let replica = try list(["a", "b", "c", "d", "e"])
    try replica.save { $0[PlacedItem.self, "c"].delete() }
    try replica.save {
      $0.move(["a"], by: \PlacedItem.position, between: "c", and: "d")
    }
    #expect(order(replica) == ["b", "a", "d", "e"])
  }

  @Test func neighborWithoutPositionGetsOne() throws {
    let replica = try list(["a", "b", "c"])
    try replica.save { $0[PlacedItem.self, "a"].position = nil }
    try replica.save {
      $0.move(["b"], by: \PlacedItem.position, between: "a", and: nil)
    }
    #expect(order(replica) == ["c", "a", "b"])
  }

  /// All devices make the same positions in an import, and a second import can follow.
  @Test func importsMakeEqualPositions() throws {
    var made: [[Position?]] = []
    for device in [1, 2] as [UInt64] {
      let replica = Replica(
        device: DeviceID(device), schema: [PlacedItem.self],
        wallClock: ManualClock(1).wallClock, makeDeviceID: { DeviceID(9) })
      var last: Position?
      for keys in [["a", "b"], ["c", "d"]] {
        try replica.importRows { transaction in
          for key in keys {
            last = transaction.position(between: last, and: nil)
            transaction[PlacedItem.self, key].position = last
          }
        }
      }
      #expect(order(replica) == ["a", "b", "c", "d"])
      made.append(replica.records(of: PlacedItem.self).map(\.position))
    }
    #expect(made[0] == made[1])
  }
}
