// SPDX-License-Identifier: Apache-2.0

/// The equivalence classes of record IDs under the declared aliases.
///
/// Aliases are never revoked, so groups only grow. Uniting two groups moves the
/// members of the smaller one, as in a union-find, so that an ID moves O(log
/// *n*) times.
struct AliasGroups: Sendable {
  private struct Group {
    /// The IDs of one record, in no order; empty once they have moved into
    /// another group.
    var members: [RecordID]
    /// The smallest member, while there are any.
    var representative: RecordID
  }

  /// The group of each ID that has aliases: the inverse of `groups`.
  private var groupIndices: [RecordID: Int] = [:]
  /// The groups; no ID is in two of them.
  ///
  /// A group whose members have moved keeps its place, so that indices stay
  /// valid.
  private var groups: [Group] = []

  /// All IDs of a record, in no particular order.
  ///
  /// - Complexity: O(1).
  subscript(id: RecordID) -> [RecordID] {
    groupIndices[id].map { groups[$0].members } ?? [id]
  }

  /// Whether an ID has aliases.
  func contain(_ id: RecordID) -> Bool {
    !groups.isEmpty && groupIndices[id] != nil
  }

  /// The smallest ID of a record.
  func representative(of id: RecordID) -> RecordID {
    groupIndices[id].map { groups[$0].representative } ?? id
  }

  /// The smallest IDs of the records of which `isIncluded` picks an ID, sorted.
  func representatives(
    where isIncluded: (RecordID) -> Bool
  ) -> [RecordID] {
    groups.filter { $0.members.contains(where: isIncluded) }
      .map(\.representative).sorted()
  }

  /// Unites the groups of the given IDs.
  ///
  /// - Complexity: O(log *n*) moves for each of *n* aliases, amortized.
  mutating func unite(_ ids: [RecordID]) {
    guard let first = ids.first else { return }
    for id in ids.dropFirst() { unite(first, id) }
  }

  private mutating func unite(_ a: RecordID, _ b: RecordID) {
    var (into, from) = (groupIndex(of: a), groupIndex(of: b))
    if into == from { return }
    if groups[into].members.count < groups[from].members.count {
      swap(&into, &from)
    }
    let moved = groups[from]
    groups[from].members = []
    for id in moved.members { groupIndices[id] = into }
    groups[into].members += moved.members
    groups[into].representative = min(
      groups[into].representative, moved.representative)
  }

  private mutating func groupIndex(of id: RecordID) -> Int {
    if let index = groupIndices[id] { return index }
    groupIndices[id] = groups.count
    groups.append(Group(members: [id], representative: id))
    return groups.count - 1
  }
}

extension AliasGroups {
  #if REJOIN_CHECK_INVARIANTS
    /// Checks that `groups` is a partition, of which `groupIndices` is the
    /// inverse, with the smallest member representing each group.
    func _checkInvariants() {
      for (i, group) in groups.enumerated() {
        precondition(
          group.members.allSatisfy { groupIndices[$0] == i },
          "alias group \(i): a member is missing in `groupIndices`")
        precondition(
          group.members.isEmpty || group.representative == group.members.min(),
          "alias group \(i): its smallest member does not represent it")
      }
      let count = groups.reduce(0) { $0 + $1.members.count }
      precondition(
        count == groupIndices.count,
        "alias groups: \(count) members, \(groupIndices.count) IDs")
    }
  #else
    func _checkInvariants() {}
  #endif
}
