// SPDX-License-Identifier: Apache-2.0

/// The records of each entity: their positions, their order, and their number.
struct RecordIndex: Sendable {
  /// The records of each entity, by its name.
  private var entities = RunMap<SchemaName, EntityRecords>()

  /// The position of a record.
  subscript(id: RecordID) -> Int? {
    entities.place(of: SchemaName(id.entity)).flatMap {
      entities.entries[$0].content.positions[SchemaName(id.key)]
    }.map { Int($0) }
  }

  /// The records of an entity.
  subscript(entity: String) -> EntityRecords? { entities[SchemaName(entity)] }

  /// The names of the entities, in no particular order.
  var names: [SchemaName] { entities.entries.map(\.key) }

  /// Changes the entry of an entity.
  mutating func update(
    _ entity: String, _ change: (inout EntityRecords) -> Void
  ) {
    entities.update(SchemaName(entity), default: EntityRecords(), change)
  }

  /// The state of the index at one moment.
  struct Mark {
    fileprivate let entities: [EntityRecords.Mark]
  }

  /// The current state of the index.
  var mark: Mark { Mark(entities: entities.entries.map(\.content.mark)) }

  /// Returns whether no positions were sorted since a mark.
  func canTakeBack(to mark: Mark) -> Bool {
    zip(entities.entries, mark.entities).allSatisfy {
      $0.content.mark.sorts == $1.sorts
    }
  }

  /// Restores the index to a mark.
  ///
  /// - Parameter records: The records that were added since the mark. They are
  ///   the last ones in the list.
  mutating func revert(
    to mark: Mark, without records: ArraySlice<RecordState>
  ) {
    for record in records {
      update(record.id.entity) { $0.positions[SchemaName(record.id.key)] = nil }
    }
    entities.removeAll(after: mark.entities.count)
    let start = UInt32(records.startIndex)
    entities.updateAll { $1.revert(to: mark.entities[$0], before: start) }
  }
}

/// The records of one entity.
struct EntityRecords: Sendable {
  /// The position of each record, by its key.
  fileprivate(set) var positions: [SchemaName: UInt32] = [:]
  /// The positions in the order of keys, without those in `added`.
  private var sorted = KeyOrder()
  /// The positions that were added out of order since the last sort.
  private var added: [UInt32] = []
  /// The number of records that exist, under each rule for deletions.
  private var existing = (updateWins: 0, deleteWins: 0)
  /// The number of times that the positions were sorted.
  private var sorts = 0

  /// The part of the state at one moment that does not follow from the
  /// positions.
  fileprivate struct Mark {
    let sorts: Int
    let existing: (updateWins: Int, deleteWins: Int)
  }

  fileprivate var mark: Mark { Mark(sorts: sorts, existing: existing) }

  /// Removes the positions from `count` on.
  ///
  /// - Precondition: The positions were not sorted since the mark.
  fileprivate mutating func revert(to mark: Mark, before count: UInt32) {
    existing = mark.existing
    while let last = added.last, last >= count { added.removeLast() }
    sorted.removeLast(from: count)
  }

  /// Adds a record.
  mutating func add(_ key: String, at position: Int, _ records: [RecordState]) {
    positions[SchemaName(key)] = UInt32(position)
    let isNext =
      added.isEmpty
      && sorted.last.map {
        UTF8Order.compare(records[Int($0)].id.key, key) < 0
      } ?? true
    if isNext {
      sorted.append(UInt32(position))
    } else {
      added.append(UInt32(position))
    }
  }

  /// The positions, sorted by key if ``isSorted``.
  var order: [UInt32] { sorted.all + added }

  /// Whether the positions are sorted by key.
  var isSorted: Bool { added.isEmpty }

  /// Sorts the positions by key.
  ///
  /// - Complexity: O(*k* log *n*), where *k* is the number of records that were
  ///   added out of order.
  mutating func sort(_ records: [RecordState]) {
    sorts += 1
    // Sorting all of them takes about as long as inserting one in sixteen.
    if added.count > positions.count / 16 {
      var all = order
      all.sort {
        UTF8Order.compare(records[Int($0)].id.key, records[Int($1)].id.key) < 0
      }
      sorted = KeyOrder(all)
    } else {
      for position in added { sorted.insert(position, records) }
    }
    added = []
  }

  /// Returns the number of records that exist under a rule.
  func count(_ rule: DeletionRule) -> Int {
    switch rule {
    case .updateWins: existing.updateWins
    case .deleteWins: existing.deleteWins
    }
  }

  /// Updates the counts after a record's existence changed.
  mutating func recount(from old: Existence, to new: Existence) {
    existing.updateWins += (new.updateWins ? 1 : 0) - (old.updateWins ? 1 : 0)
    existing.deleteWins += (new.deleteWins ? 1 : 0) - (old.deleteWins ? 1 : 0)
  }

  /// Calls `body` with the positions of the records after a key, in order,
  /// until it returns `false`.
  ///
  /// - Parameter key: The key, or `nil` for all records.
  /// - Precondition: The positions are sorted.
  func forEach(
    after key: String?, _ records: [RecordState], _ body: (Int) -> Bool
  ) {
    sorted.forEach(after: key, records) { body(Int($0)) }
  }
}

#if REJOIN_CHECK_INVARIANTS
  extension RecordIndex {
    /// Checks that each record is at its position, in order and counted.
    func _checkInvariants(_ records: [RecordState]) {
      let byEntity = Dictionary(grouping: records.indices) {
        SchemaName(records[$0].id.entity)
      }
      precondition(Set(names) == Set(byEntity.keys), "an entity is not listed")
      for (name, all) in entities.entries.map({ ($0.key, $0.content) }) {
        all._checkInvariants(name, byEntity[name] ?? [], records)
      }
    }
  }

  extension EntityRecords {
    fileprivate func _checkInvariants(
      _ entity: SchemaName, _ expected: [Int], _ records: [RecordState]
    ) {
      precondition(
        positions.count == expected.count
          && expected.allSatisfy {
            positions[SchemaName(records[$0].id.key)] == UInt32($0)
          }, "a record of \(entity) is not at its position")
      sorted._checkInvariants()
      precondition(
        order.sorted() == expected.map { UInt32($0) },
        "`order` does not list each record of \(entity) once")
      let keys = sorted.all.map { SchemaName(records[Int($0)].id.key) }
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
