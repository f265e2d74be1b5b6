// SPDX-License-Identifier: Apache-2.0

/// The records of each entity: their positions, their order, and their number.
struct RecordIndex: Sendable {
  /// The records of each entity, by its name.
  private var entities = RunMap<SchemaName, EntityRecords>()

  /// The position of a record.
  subscript(id: RecordID) -> Int? {
    entities.index(of: SchemaName(id.entity)).flatMap {
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
  struct Checkpoint {
    fileprivate let entities: [EntityRecords.Checkpoint]
  }

  /// The current state of the index.
  var checkpoint: Checkpoint {
    Checkpoint(entities: entities.entries.map(\.content.checkpoint))
  }

  /// Returns whether no positions were sorted since a checkpoint.
  func canRevert(to checkpoint: Checkpoint) -> Bool {
    zip(entities.entries, checkpoint.entities).allSatisfy {
      $0.content.checkpoint.sorts == $1.sorts
    }
  }

  /// Restores the index to a checkpoint.
  ///
  /// - Parameter records: The records that were added since the checkpoint. They are
  ///   the last ones in the list.
  mutating func revert(
    to checkpoint: Checkpoint, without records: ArraySlice<RecordState>
  ) {
    for record in records {
      update(record.id.entity) { $0.positions[SchemaName(record.id.key)] = nil }
    }
    entities.removeAll(after: checkpoint.entities.count)
    let start = UInt32(records.startIndex)
    entities.updateAll { $1.revert(to: checkpoint.entities[$0], before: start) }
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
  fileprivate struct Checkpoint {
    let sorts: Int
    let existing: (updateWins: Int, deleteWins: Int)
  }

  fileprivate var checkpoint: Checkpoint {
    Checkpoint(sorts: sorts, existing: existing)
  }

  /// Removes the positions from `count` on.
  ///
  /// - Precondition: The positions were not sorted since the checkpoint.
  fileprivate mutating func revert(
    to checkpoint: Checkpoint, before count: UInt32
  ) {
    existing = checkpoint.existing
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
    func change(_ rule: DeletionRule) -> Int {
      (new.holds(rule) ? 1 : 0) - (old.holds(rule) ? 1 : 0)
    }
    existing.updateWins += change(.updateWins)
    existing.deleteWins += change(.deleteWins)
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

/// The positions of records, sorted by key.
///
/// The positions are in runs of limited length. In a single array, inserting a
/// record between others would move half of them.
struct KeyOrder: Sendable {
  /// The maximum length of a run.
  private static var limit: Int { 512 }

  /// The runs, each with 1 to `limit` positions.
  private var runs: [[UInt32]] = []

  init() {}

  /// - Parameter positions: Sorted by key.
  init(_ positions: [UInt32]) {
    runs = stride(from: 0, to: positions.count, by: Self.limit).map {
      Array(positions[$0..<min($0 + Self.limit, positions.count)])
    }
  }

  /// The positions in order.
  var all: [UInt32] { Array(runs.joined()) }

  /// The position of the record with the greatest key.
  var last: UInt32? { runs.last?.last }

  /// Adds the position of a record with a greater key than all others.
  mutating func append(_ position: UInt32) {
    if runs.last.map({ $0.count < Self.limit }) ?? false {
      runs[runs.count - 1].append(position)
    } else {
      runs.append([position])
    }
  }

  /// Removes the positions from `count` on, which are the last ones.
  mutating func removeLast(from count: UInt32) {
    while let last, last >= count {
      runs[runs.count - 1].removeLast()
      if runs[runs.count - 1].isEmpty { runs.removeLast() }
    }
  }

  /// Adds the position of a record.
  ///
  /// - Complexity: O(log *n*), where *n* is the number of records.
  mutating func insert(_ position: UInt32, _ records: [RecordState]) {
    let index = index(after: records[Int(position)].id.key, records)
    guard index.run < runs.count else { return append(position) }
    runs[index.run].insert(position, at: index.index)
    guard runs[index.run].count > Self.limit else { return }
    let half = Self.limit / 2
    runs.insert(Array(runs[index.run][half...]), at: index.run + 1)
    runs[index.run].removeSubrange(half...)
  }

  /// Returns the index of the first record after a key.
  private func index(
    after key: String, _ records: [RecordState]
  ) -> (run: Int, index: Int) {
    func isAfter(_ position: UInt32?) -> Bool {
      position.map {
        UTF8Order.compare(records[Int($0)].id.key, key) > 0
      } ?? false
    }
    let run = runs.partitioningIndex { isAfter($0.last) }
    guard run < runs.count else { return (run, 0) }
    return (run, runs[run].partitioningIndex { isAfter($0) })
  }

  /// Calls `body` with the positions of the records after a key, in order,
  /// until it returns `false`.
  func forEach(
    after key: String?, _ records: [RecordState], _ body: (UInt32) -> Bool
  ) {
    var (run, index) = (0, 0)
    if let key { (run, index) = self.index(after: key, records) }
    while run < runs.count {
      for position in runs[run][index...] {
        if !body(position) { return }
      }
      (run, index) = (run + 1, 0)
    }
  }
}

#if REJOIN_CHECK_INVARIANTS
  extension KeyOrder {
    func _checkInvariants() {
      precondition(
        runs.allSatisfy { !$0.isEmpty && $0.count <= Self.limit },
        "a run is empty or too long: \(runs.map(\.count))")
    }
  }
#endif
