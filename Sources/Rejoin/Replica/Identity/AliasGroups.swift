// SPDX-License-Identifier: Apache-2.0

/// The IDs of each record that has several, kept up to date as aliases arrive.
///
/// Aliases are never taken back, so that groups only grow. The smaller one moves
/// into the larger one, as in a union-find.
struct AliasGroups: Sendable {
  private struct Group {
    var members: [RecordID]
    var representative: RecordID
  }

  private var places: [RecordID: Int] = [:]
  private var groups: [Group] = []

  /// All IDs of a record, in no particular order.
  ///
  /// - Complexity: O(1).
  subscript(id: RecordID) -> [RecordID] {
    places[id].map { groups[$0].members } ?? [id]
  }

  /// The smallest ID of a record.
  func representative(of id: RecordID) -> RecordID {
    places[id].map { groups[$0].representative } ?? id
  }

  /// Notes that some IDs are of one record.
  ///
  /// - Complexity: O(log *n*) look-ups for each of *n* aliases, on average.
  mutating func unite(_ ids: [RecordID]) {
    guard let first = ids.first else { return }
    for id in ids.dropFirst() { unite(first, id) }
  }

  private mutating func unite(_ a: RecordID, _ b: RecordID) {
    var (into, from) = (place(of: a), place(of: b))
    if into == from { return }
    if groups[into].members.count < groups[from].members.count {
      swap(&into, &from)
    }
    let moved = groups[from]
    groups[from].members = []
    for id in moved.members { places[id] = into }
    groups[into].members += moved.members
    groups[into].representative = min(
      groups[into].representative, moved.representative)
  }

  private mutating func place(of id: RecordID) -> Int {
    if let place = places[id] { return place }
    places[id] = groups.count
    groups.append(Group(members: [id], representative: id))
    return groups.count - 1
  }
}
