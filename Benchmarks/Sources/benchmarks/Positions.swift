// SPDX-License-Identifier: Apache-2.0

import Harness
import Rejoin
import RejoinTesting

extension Suite {
  /// Adds lists that devices rearrange: W26.
  mutating func addPositions() {
    for length in [10, 40, 80] {
      addTimes(
        "W26",
        "a position of about \(length) bytes made, in comparisons of strings",
        size: length, target: 5
      ) { scale in
        let pairs = try PositionPairs(of: length)
        let rounds = scale(100_000) / pairs.count + 1
        return try pairs.makingTime(rounds)
          / pairs.time(of: pairs.strings, rounds)
      }
      addTimes(
        "W26",
        "positions of about \(length) bytes compared, in comparisons of strings",
        size: length, target: 1
      ) { scale in
        let pairs = try PositionPairs(of: length)
        let rounds = scale(1_000_000) / pairs.count + 1
        return pairs.time(of: pairs.positions, rounds)
          / pairs.time(of: pairs.strings, rounds)
      }
    }
    addBytes(
      "W26", "the longest position after 1,000 drags by each of 3 devices",
      size: 10_000
    ) { scale in
      try DraggedList(scale(10_000)).dragged(scale(1_000)).longest
    }
    addTimes(
      "W26",
      "bytes sent for 1,000 drags by each of 3 devices, in those of doubles",
      size: 10_000
    ) { scale in
      let count = scale(1_000)
      let positions = try DraggedList(scale(10_000)).dragged(count).sent
      let doubles = try DraggedList(scale(10_000), numbered: true)
        .dragged(count).sent
      return Double(positions) / Double(doubles)
    }
  }
}

private struct PlacedItem: Entity {
  let position = lww("position", of: Position.self)
  let number = lww("number", of: Double.self)

  static func replica(_ device: Int) -> Replica {
    Replica(
      device: Dataset.device(device), schema: [PlacedItem.self],
      wallClock: WallClock { 1_000_000 }, makeDeviceID: { Dataset.device(99) })
  }
}

/// Neighbors in a list of three devices, and strings of their lengths.
private struct PositionPairs {
  typealias Pairs<Element> = [(Element, Element)]

  var positions: Pairs<Position> = []
  /// The strings have as many first characters in common as the positions have bytes.
  var strings: Pairs<String> = []

  var count: Int { positions.count }

  init(of length: Int) throws {
    var random = SeededRandom(seed: 26)
    let replicas = (0..<3).map { PlacedItem.replica($0 + 1) }
    var list: [Position] = []
    while count < 50 {
      let isAppended = length == 10
      if list.count > 300 { list.remove(at: random.number(below: list.count)) }
      let gap = isAppended ? list.count : random.number(below: list.count + 1)
      let replica = isAppended ? replicas[0] : random.pick(replicas)
      try replica.save { transaction in
        let position = transaction.position(
          between: gap > 0 ? list[gap - 1] : nil,
          and: gap < list.count ? list[gap] : nil)
        transaction[PlacedItem.self, "item"].position = position
        list.insert(position, at: gap)
      }
      guard gap > 0 else { continue }
      let pair = (list[gap - 1], list[gap])
      let lengths = [pair.0.byteCount, pair.1.byteCount]
      if lengths.allSatisfy({ abs($0 - length) < 6 }) {
        positions.append(pair)
        strings.append((pair.0.text, pair.1.text))
      }
    }
  }

  /// Returns the seconds of a comparison of each pair.
  func time<Element: Comparable>(of pairs: Pairs<Element>, _ rounds: Int)
    -> Double
  {
    best {
      var count = 0
      for _ in 0..<rounds {
        for (a, b) in pairs where a < b { count += 1 }
      }
      return count
    }
  }

  /// Returns the seconds of making a position in each pair.
  func makingTime(_ rounds: Int) throws -> Double {
    let replica = PlacedItem.replica(2)
    return best {
      var count = 0
      _ = try? replica.save { transaction in
        for _ in 0..<rounds {
          for (a, b) in positions {
            if a < transaction.position(between: a, and: b) { count += 1 }
          }
        }
      }
      return count
    }
  }

  private func best(_ body: () -> Int) -> Double {
    let clock = ContinuousClock()
    return (0..<5).map { _ in
      var count = 0
      let time = clock.measure { count = body() }
      precondition(count > 0, "no pair is in order")
      return time / .seconds(1)
    }.min() ?? 0
  }
}

extension Position {
  fileprivate var byteCount: Int { description.utf8.count / 2 }

  /// A string with a character for each byte.
  fileprivate var text: String {
    guard case .bytes(let bytes) = fieldValue else { return "" }
    return String(decoding: bytes.map { 48 + $0 & 63 }, as: UTF8.self)
  }
}

/// A list that three devices have, rearrange offline, and sync.
private struct DraggedList {
  private let replicas = (0..<3).map { PlacedItem.replica($0 + 1) }
  private let numbered: Bool
  private(set) var sent = 0
  private(set) var longest = 0

  init(_ count: Int, numbered: Bool = false) throws {
    self.numbered = numbered
    try replicas[0].save { transaction in
      var last: Position?
      for i in 0..<count {
        let item = transaction[PlacedItem.self, "\(i)"]
        if numbered {
          item.number = Double(i)
        } else {
          last = transaction.position(between: last, and: nil)
          item.position = last
        }
      }
    }
    for replica in replicas.dropFirst() {
      if let delta = replicas[0].delta() { replica.apply(delta) }
    }
  }

  private typealias Place = (position: Position?, number: Double, key: String)

  private func order(_ replica: Replica) -> [Place] {
    replica.records(of: PlacedItem.self)
      .map { ($0.position, $0.number ?? 0, $0.id) }.sorted(by: isBefore)
  }

  private func isBefore(_ a: Place, _ b: Place) -> Bool {
    if let one = a.position, let other = b.position, one != other {
      return one < other
    }
    return (a.number, a.key) < (b.number, b.key)
  }

  /// Drags items one by one on each device, and syncs the devices.
  func dragged(_ count: Int) throws -> DraggedList {
    var list = self
    var random = SeededRandom(seed: 3)
    let before = replicas[0].version
    for replica in replicas {
      var order = order(replica)
      for _ in 0..<count {
        let key = order.remove(at: random.number(below: order.count)).key
        let gap = random.number(below: order.count + 1)
        let left = gap > 0 ? order[gap - 1] : nil
        let right = gap < order.count ? order[gap] : nil
        var place: Place = (nil, 0, key)
        try replica.save { transaction in
          if numbered {
            place.number =
              ((left?.number ?? -1) + (right?.number ?? 1_000_000)) / 2
            transaction[PlacedItem.self, key].number = place.number
          } else {
            let position = transaction.position(
              between: left?.position, and: right?.position)
            place.position = position
            transaction[PlacedItem.self, key].position = position
          }
        }
        order.insert(place, at: gap)
      }
      list.sent += replica.delta(since: before)?.encoded().count ?? 0
    }
    for one in replicas {
      for other in replicas where one !== other {
        if let delta = one.delta(since: other.version) { other.apply(delta) }
      }
    }
    let orders = replicas.map { order($0).map(\.key) }
    precondition(
      orders.allSatisfy { $0 == orders[0] }, "the orders of the devices differ")
    list.longest =
      replicas[0].records(of: PlacedItem.self)
      .compactMap { $0.position?.byteCount }.max() ?? 0
    return list
  }
}
