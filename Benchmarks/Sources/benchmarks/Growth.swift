// SPDX-License-Identifier: Apache-2.0

import Harness
import Rejoin
import RejoinPolicies

/// A work on *n* items.
struct GrowingWork {
  /// The name of the work, without a comma.
  let name: String
  /// The smallest *n*, which is doubled twice.
  let size: Int
  /// How much longer one item may take if *n* doubles.
  let growth: Double
  /// Prepares the work on a number of items.
  let work: (Int) throws -> Work

  init<Input>(
    _ name: String, from size: Int, growth: Double = 1.3,
    setUp: @escaping (Int) throws -> Input,
    body: @escaping (inout Input, Int) throws -> Int
  ) {
    (self.name, self.size, self.growth) = (name, size, growth)
    work = { count in
      Work(
        operations: count, expecting: count, setUp: { try setUp(count) }
      ) { try body(&$0, count) }
    }
  }
}

extension Suite {
  /// Works whose time must be linear in the number of items: W21.
  ///
  /// If *n* doubles, such a work takes at most 2.6 times as long, and one item
  /// at most 1.3 times.
  mutating func addGrowth() {
    for work in GrowingWork.all {
      let sizes = [work.size, 2 * work.size, 4 * work.size]
      for size in sizes {
        add("W21", work.name, size: size, per: "item") { scale in
          try work.work(scale(size))
        }
      }
      for (small, large) in zip(sizes, sizes.dropFirst()) {
        addGrowth(
          of: "W21", work.name, from: small, to: large, target: work.growth)
      }
    }
  }
}

extension GrowingWork {
  private static let name = FieldKey("name", .register)
  private static let tags = FieldKey("tags", .set)
  private static let log = FieldKey("log", .ledger)
  private static let steps = FieldKey("steps", .counter)
  private static let schema = Schema([
    "Item": .init(fields: [name, tags, log, steps])
  ])
  private static let record = RecordID("Item", "r")

  private static func replica() -> Replica {
    Dataset.emptyReplica(1, schema: schema)
  }

  private static func ids(_ count: Int) -> [RecordID] {
    Suite.elements(count, seed: 11).map { RecordID("Item", $0) }
  }

  private static func insertion(_ element: Int) -> FieldEdit {
    .members(SetEdit(inserting: [.int(Int64(element))]))
  }

  private static func entry(_ amount: Int) -> FieldEdit {
    var edit = LedgerEdit()
    edit.append(Int64(amount), memo: nil)
    return .append(edit)
  }

  /// A replica with a set of a number of elements.
  private static func replica(elements: Range<Int>) throws -> Replica {
    let replica = replica()
    try replica.save {
      $0.apply(
        .members(SetEdit(inserting: elements.map { .int(Int64($0)) })),
        to: tags, of: record)
    }
    return replica
  }

  static var all: [GrowingWork] {
    [undo] + edits(tags, "set", insertion) + edits(log, "ledger", entry)
      + [
        overflows, removals, recordings, transfers, parts, listings, pulls,
        resolutions, creationAgain,
      ] + typed
  }

  private static var undo: GrowingWork {
    GrowingWork(
      "undo of a save that changes a set", from: 5_000
    ) { count in
      let half = count / 2
      let replica = try replica(elements: 0..<half)
      let report = try replica.save(undoable: "Tag") { transaction in
        transaction.apply(
          .members(
            SetEdit(
              inserting: (half..<2 * half).map { .int(Int64($0)) },
              removing: (0..<half).map { .int(Int64($0)) })),
          to: tags, of: record)
      }
      return (replica, report)
    } body: { input, count in
      let (replica, report) = input
      guard let undo = report.undo,
        try replica.undo(undo).unrevertedFields.isEmpty
      else {
        return 0
      }
      return count
    }
  }

  private static func edits(
    _ key: FieldKey, _ kind: String,
    _ edit: @escaping @Sendable (Int) -> FieldEdit
  ) -> [GrowingWork] {
    let context = GrowingWork(
      "edits of one \(kind) in a context", from: 4_000,
      setUp: { _ in EditingContext(replica()) }
    ) { context, count in
      (0..<count).count { context.apply(edit($0), to: key, in: record) }
    }
    let draft = GrowingWork(
      "edits of one \(kind) in a draft", from: 4_000,
      setUp: { _ in replica().draft(record) }
    ) { draft, count in
      (0..<count).count { draft.apply(edit($0), to: key) }
    }
    return [context, draft]
  }

  private static var overflows: GrowingWork {
    GrowingWork(
      "counters that overflow in a context", from: 250
    ) { count in
      let (replica, ids) = (replica(), ids(count))
      for _ in 0..<2 {
        try replica.save { transaction in
          for id in ids {
            transaction.apply(.count(CounterEdit(by: .max)), to: steps, of: id)
          }
        }
      }
      let context = EditingContext(replica)
      let edit = FieldEdit.count(CounterEdit(by: 2))
      for id in ids { context.apply(edit, to: steps, in: id) }
      return context
    } body: { context, _ in
      try context.save().failedRecords.count
    }
  }

  /// Not linear: after a removal the set is in the delta as a whole.
  private static var removals: GrowingWork {
    GrowingWork(
      "removals from a set with a delta after each", from: 500, growth: 2.3,
      setUp: { try replica(elements: 0..<$0) }
    ) { replica, count in
      try (0..<count).count { element in
        let version = replica.version
        try replica.save {
          $0.apply(
            .members(SetEdit(inserting: [], removing: [.int(Int64(element))])),
            to: tags, of: record)
        }
        return replica.delta(since: version) != nil
      }
    }
  }

  private static var recordings: GrowingWork {
    GrowingWork(
      "acknowledgements of devices", from: 250
    ) { count in
      let hub = Dataset.emptyReplica(0, schema: schema)
      let versions = try (1...count).map { number in
        let device = Dataset.emptyReplica(number, schema: schema)
        try device.save { $0.ensureExists(record) }
        if let delta = device.delta() { hub.apply(delta, reporting: .faults) }
        return (device.device, device.version)
      }
      return (hub, versions)
    } body: { input, _ in
      let (hub, versions) = input
      return versions.count { !hub.recordVersion($1, of: $0).hasFaults }
    }
  }

  private static var transfers: GrowingWork {
    GrowingWork(
      "interrupted transfers from devices", from: 500
    ) { count in
      let parts = try (1...count).map { number in
        let device = Dataset.emptyReplica(number, schema: schema)
        try device.save { transaction in
          for end in ["a", "b"] {
            transaction.ensureExists(RecordID("Item", "\(number)\(end)"))
          }
        }
        return device.delta(since: ReplicaVersion(), byteLimit: 1)
      }
      return (Dataset.emptyReplica(0, schema: schema), parts.compactMap { $0 })
    } body: { input, _ in
      let (hub, parts) = input
      for part in parts { hub.apply(part, reporting: .faults) }
      return hub.version.prefixes.reduce(0) {
        $0 + $1.vectorClock.entries.count
      }
    }
  }

  private static var parts: GrowingWork {
    GrowingWork(
      "devices whose saves do not fit into a part", from: 2_000
    ) { count in
      let hub = Dataset.emptyReplica(0, schema: schema)
      for number in 1...count {
        let device = Dataset.emptyReplica(number, schema: schema)
        try device.save { $0.ensureExists(RecordID("Item", "\(number)")) }
        if let delta = device.delta() { hub.apply(delta, reporting: .faults) }
      }
      return (hub, hub.delta()?.encoded().count ?? 0)
    } body: { input, count in
      let (hub, all) = input
      let part = hub.delta(since: ReplicaVersion(), byteLimit: 1)
      return part.map { $0.encoded().count < all ? count : 0 } ?? 0
    }
  }

  private static var listings: GrowingWork {
    GrowingWork(
      "saves of new records with a listing after each", from: 4_000,
      setUp: { (replica(), ids($0)) }
    ) { input, _ in
      let (replica, ids) = input
      return try ids.count { id in
        try replica.save { $0.ensureExists(id) }
        return !replica.recordIDs(of: "Item", limit: 10).isEmpty
      }
    }
  }

  private static var pulls: GrowingWork {
    GrowingWork(
      "pulls from servers", from: 250, setUp: { (replicaThatPulls(), ids($0)) }
    ) { input, _ in
      let (replica, ids) = input
      return try ids.count { id in
        let report = try replica.importRows(
          from: id.key, modifiedAt: 1_750_000_000_000
        ) {
          $0.apply(.write("Ada"), to: name, of: id)
        }
        return !report.hasFaults
      }
    }
  }

  /// A replica that needs an ID for each server.
  private static func replicaThatPulls() -> Replica {
    var devices = 1
    return Replica(
      device: Dataset.device(devices), schema: schema,
      wallClock: WallClock { 1_750_000_000_000 },
      makeDeviceID: {
        devices += 1
        return Dataset.device(devices)
      })
  }

  private static var resolutions: GrowingWork {
    GrowingWork(
      "resolutions of queued conflicts", from: 250
    ) { count in
      let (replica, ids) = (replica(), ids(count))
      func write(_ value: Value) throws {
        try replica.save { transaction in
          for id in ids { transaction.apply(.write(value), to: name, of: id) }
        }
      }
      try write("base")
      let context = EditingContext(replica, mergePolicy: .manual)
      for id in ids { context.set("mine", for: name, in: id) }
      try write("store")
      try context.save()
      return (context, ids)
    } body: { input, count in
      let (context, ids) = input
      for id in ids { try context.resolve(id, [name: "both"]) }
      return context.pendingConflicts.isEmpty ? count : 0
    }
  }

  private static var creationAgain: GrowingWork {
    GrowingWork(
      "elements of a record that is deleted and created again", from: 10_000,
      setUp: { try replica(elements: 0..<$0) }
    ) { replica, count in
      try replica.save { $0.delete(record) }
      try replica.save { transaction in
        for element in 0..<count {
          transaction.apply(insertion(element), to: tags, of: record)
        }
      }
      return replica.exists(record) ? count : 0
    }
  }
}
