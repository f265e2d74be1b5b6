// SPDX-License-Identifier: Apache-2.0

/// The records of each entity: where they are, in which order, and how many
/// exist.
struct RecordIndex: Sendable {
  /// By name of the entity.
  private var entities = RunMap<Name, EntityRecords>()

  /// The position of a record.
  subscript(id: RecordID) -> Int? {
    entities.place(of: Name(id.entity)).flatMap {
      entities.entries[$0].content.positions[Name(id.key)]
    }.map { Int($0) }
  }

  /// The records of an entity.
  subscript(entity: String) -> EntityRecords? { entities[Name(entity)] }

  /// The names of the entities, in no particular order.
  var names: [Name] { entities.entries.map(\.key) }

  /// Changes what is known of an entity's records.
  mutating func update(
    _ entity: String, _ change: (inout EntityRecords) -> Void
  ) {
    entities.update(Name(entity), default: EntityRecords(), change)
  }
}

/// The records of one entity.
struct EntityRecords: Sendable {
  /// The position of each record, by its key.
  fileprivate(set) var positions: [Name: UInt32] = [:]
  /// The positions in the order of keys, and then those that were added since
  /// they were sorted.
  private(set) var order: [UInt32] = []
  private var sorted = 0
  /// How many of the records exist, under each rule for deletions.
  private var existing = (updateWins: 0, deleteWins: 0)

  /// Adds a record.
  mutating func add(_ key: String, at position: Int, _ records: [RecordState]) {
    positions[Name(key)] = UInt32(position)
    let isNext =
      sorted == order.count
      && order.last.map {
        UTF8Order.compare(records[Int($0)].id.key, key) < 0
      } ?? true
    if isNext { sorted += 1 }
    order.append(UInt32(position))
  }

  /// Whether the positions are sorted by key.
  var isSorted: Bool { sorted == order.count }

  /// Sorts the positions by key.
  mutating func sort(_ records: [RecordState]) {
    order.sort {
      UTF8Order.compare(records[Int($0)].id.key, records[Int($1)].id.key) < 0
    }
    sorted = order.count
  }

  /// The number of records that exist under a rule.
  func count(_ rule: DeletionRule) -> Int {
    switch rule {
    case .updateWins: existing.updateWins
    case .deleteWins: existing.deleteWins
    }
  }

  /// Counts a record that has come into existence or ceased to exist.
  mutating func recount(from old: Existence, to new: Existence) {
    existing.updateWins += (new.updateWins ? 1 : 0) - (old.updateWins ? 1 : 0)
    existing.deleteWins += (new.deleteWins ? 1 : 0) - (old.deleteWins ? 1 : 0)
  }

  /// The place in `order` of the first record after a key.
  ///
  /// - Precondition: The positions are sorted.
  func place(after key: String, _ records: [RecordState]) -> Int {
    order.partitioningIndex {
      UTF8Order.compare(records[Int($0)].id.key, key) > 0
    }
  }
}

#if REJOIN_CHECK_INVARIANTS
  extension RecordIndex {
    /// Checks that each record is where it is said to be, in order and counted.
    func _checkInvariants(_ records: [RecordState]) {
      let byEntity = Dictionary(grouping: records.indices) {
        Name(records[$0].id.entity)
      }
      precondition(Set(names) == Set(byEntity.keys), "an entity is not listed")
      for (name, all) in entities.entries.map({ ($0.key, $0.content) }) {
        all._checkInvariants(name, byEntity[name] ?? [], records)
      }
    }
  }

  extension EntityRecords {
    fileprivate func _checkInvariants(
      _ entity: Name, _ expected: [Int], _ records: [RecordState]
    ) {
      precondition(
        positions.count == expected.count
          && expected.allSatisfy {
            positions[Name(records[$0].id.key)] == UInt32($0)
          }, "a record of \(entity) is not at its position")
      precondition(
        order.sorted() == expected.map { UInt32($0) },
        "`order` does not list each record of \(entity) once")
      let keys = order[..<sorted].map { Name(records[Int($0)].id.key) }
      precondition(
        zip(keys, keys.dropFirst()).allSatisfy(<),
        "the records of \(entity) are not in order")
      for rule in [DeletionRule.updateWins, .deleteWins] {
        let count = expected.count { records[$0].exists(rule) }
        precondition(
          self.count(rule) == count,
          "\(count) records of \(entity) exist, \(self.count(rule)) are counted"
        )
      }
    }
  }
#endif
