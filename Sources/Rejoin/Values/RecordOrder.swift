// SPDX-License-Identifier: Apache-2.0

/// Sorts many records by ID.
///
/// Most comparisons read no text: each entity is ranked once, and the first
/// bytes of the keys decide most other comparisons.
struct RecordOrder {
  private struct Item {
    let prefix: UInt64
    var entity: UInt32
    let place: UInt32
  }

  /// Returns the indices of the IDs, sorted by ID, or `nil` if the IDs are
  /// already sorted.
  static func places(_ count: Int, _ id: (Int) -> RecordID) -> [UInt32]? {
    if count < 2 { return nil }
    var entities = RunMap<SchemaName, Void>()
    var items: [Item] = []
    items.reserveCapacity(count)
    for place in 0..<count {
      let id = id(place)
      items.append(
        Item(
          prefix: UTF8Order.prefix(of: id.key),
          entity: UInt32(entities.intern(SchemaName(id.entity), default: ())),
          place: UInt32(place)))
    }
    if entities.entries.count > 1 {
      var ranks = Array(repeating: 0 as UInt32, count: entities.entries.count)
      for (rank, place) in entities.order.enumerated() {
        ranks[place] = UInt32(rank)
      }
      for i in items.indices { items[i].entity = ranks[Int(items[i].entity)] }
    }
    func isLess(_ a: Item, _ b: Item) -> Bool {
      if a.entity != b.entity { return a.entity < b.entity }
      if a.prefix != b.prefix { return a.prefix < b.prefix }
      return UTF8Order.compare(id(Int(a.place)).key, id(Int(b.place)).key) < 0
    }
    let isSorted = items.indices.dropFirst().allSatisfy {
      !isLess(items[$0], items[$0 - 1])
    }
    if isSorted { return nil }
    items.sort(by: isLess)
    return items.map(\.place)
  }
}
