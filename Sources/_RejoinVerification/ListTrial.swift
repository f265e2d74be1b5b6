// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinStore
import RejoinTesting

/// A list of records apart from a store, for benchmarks.
public struct ListTrial {
  private struct Item: Entity {
    let title = register("title", of: String.self)
    let isDone = register("done", of: Bool.self)
  }

  private let replica: Replica
  private let count: Int
  private var list = ListContent<Item>(
    { $0.isDone != true }, ListOrder(by: \.title, .forward))

  /// Creates records, and puts every second one into the list.
  public init(count: Int) throws {
    self.count = count
    replica = Replica(
      device: DeviceID(1), schema: [Item.self],
      wallClock: ManualClock().wallClock, makeDeviceID: { DeviceID(2) })
    try replica.save { transaction in
      for i in 0..<count {
        transaction[Item.self, Self.key(i)].title = title(i)
        transaction[Item.self, Self.key(i)].isDone = i % 2 == 1
      }
    }
  }

  private static func key(_ i: Int) -> String { "item-\(i)" }

  private func title(_ i: Int) -> String { "Title \(i &* 7919 % count)" }

  /// The keys, the titles and whether each record is left out.
  public var rows: [(key: String, title: String, isDone: Bool)] {
    (0..<count).map { (Self.key($0), title($0), $0 % 2 == 1) }
  }

  /// Reads, filters and sorts the records.
  ///
  /// - Returns: The number of elements.
  public mutating func load() -> Int {
    list.load(replica.records(of: Item.self))
    return list.elements.count
  }

  /// Returns the changes of saves that each edit one element.
  ///
  /// - Parameter moves: Whether the elements move in the list.
  public func changes(_ number: Int, moves: Bool) throws -> [RecordChanges] {
    try (0..<number).map { n in
      let i = n * 2 * max(1, count / 2 / number) % count
      var referrers: ReferrerIndex?
      replica.keepFormerRecords()
      try replica.save { transaction in
        if moves {
          transaction[Item.self, Self.key(i)].title = "Title \(n * 77)"
        } else {
          transaction[Item.self, Self.key(i)].isDone = false
        }
      }
      return RecordChanges(
        replica.takeDifferences(&referrers).changed, replica.schema)
    }
  }

  /// Applies changes one after the other.
  ///
  /// - Returns: The number of elements.
  public mutating func apply(_ changes: [RecordChanges]) -> Int {
    for change in changes { list.apply(change) }
    return list.elements.count
  }

  /// Reads the titles of a page of 50 elements.
  public func page(at start: Int) -> Int {
    list.elements[start..<min(start + 50, list.elements.count)]
      .count { $0.title != nil }
  }
}
