// SPDX-License-Identifier: Apache-2.0

import Foundation
import Harness
import Rejoin
import RejoinSQL
import RejoinStore

extension Suite {
  /// Adds a hub on SQLite and, if `REJOIN_POSTGRESQL` contains a connection
  /// string, on PostgreSQL: W20.
  mutating func addHubs() {
    for database in HubDatabase.available {
      for size in [10_000, 1_000_000] {
        addQuery(
          "nothing new", changing: 0, size, target: 1_000_000, database)
        addQuery(
          "100 records new", changing: 100, size, target: 10_000_000, database)
        addUpload(size, database)
      }
      addLoad("as one delta", 100_000, limit: .max, database)
      for records in [25_000, 50_000, 100_000] {
        addLoad("in parts of 256 kB", records, limit: 256_000, database)
      }
      for devices in [2, 2_000] { addSync(devices, database) }
      for fields in [1, 10_000] { addVersion(fields, database) }
    }
  }

  /// Requests the changes since a version after a number of records changed.
  private mutating func addQuery(
    _ name: String, changing records: Int, _ size: Int, target: Double,
    _ database: HubDatabase
  ) {
    add(
      "W20", "a hub on \(database.rawValue), \(name)", size: size,
      per: "request", target: target
    ) { scale in
      let hub = try FilledHub(fields: scale(size), database)
      let (count, version) = (scale(100), try hub.version())
      if records > 0 { try hub.save(to: records) }
      try hub.send(since: version)
      return Work(operations: count, expecting: count, setUp: {}) { _ in
        try (0..<count).count { _ in
          try (hub.delta(since: version) == nil) == (records == 0)
        }
      }
    }
  }

  /// Loads a scope into an empty replica.
  private mutating func addLoad(
    _ how: String, _ records: Int, limit: Int, _ database: HubDatabase
  ) {
    add(
      "W22", "a load from a hub on \(database.rawValue), \(how)", size: records,
      per: "record"
    ) { scale in
      let hub = try FilledHub(
        fields: scale(records) * Dataset.fieldsPerRecord, database)
      let count = hub.replica.recordCount(of: "Item")
      return Work(
        operations: count, expecting: count,
        setUp: { Dataset.emptyReplica(2) }
      ) { receiver in
        while let delta = try hub.delta(
          since: receiver.version, byteLimit: limit)
        {
          receiver.apply(delta, reporting: .faults)
        }
        return receiver.recordCount(of: "Item")
      }
    }
  }

  /// Sends a save and asks for missing saves, in a scope with many devices.
  private mutating func addSync(_ devices: Int, _ database: HubDatabase) {
    add(
      "W20", "a sync with a hub on \(database.rawValue), by devices",
      size: devices, per: "sync"
    ) { scale in
      let hub = try FilledHub(fields: 100, database)
      for device in 0..<scale(devices) {
        try hub.meet(Dataset.device(100 + device))
      }
      let count = scale(100)
      return Work(operations: count, expecting: count, setUp: {}) { _ in
        try (0..<count).count { _ in try hub.sync() }
      }
    }
  }

  /// Requests the version of a scope with fields ahead of it.
  private mutating func addVersion(_ fields: Int, _ database: HubDatabase) {
    add(
      "W20", "the version of a hub on \(database.rawValue), by fields ahead",
      size: fields, per: "request"
    ) { scale in
      let hub = try FilledHub(fields: 100, database)
      // The hub lacks the save before the deletions.
      let other = try Dataset(
        fields: scale(fields) * Dataset.fieldsPerRecord
      ).replica(9)
      let before = other.version
      try other.save { transaction in
        for id in other.recordIDs(of: "Item") { transaction.delete(id) }
      }
      if let delta = other.delta(since: before) { _ = try hub.apply(delta) }
      let count = scale(100)
      return Work(operations: count, expecting: count, setUp: {}) { _ in
        try (0..<count).count { _ in
          try hub.version().vectorClock == hub.replica.version.vectorClock
        }
      }
    }
  }

  private mutating func addUpload(_ size: Int, _ database: HubDatabase) {
    add(
      "W20", "three saves sent to a hub on \(database.rawValue)", size: size,
      per: "request", target: 500_000
    ) { scale in
      let hub = try FilledHub(fields: scale(size), database)
      let count = scale(100)
      return Work(
        operations: count, expecting: count,
        setUp: {
          try (0..<count).compactMap { _ in
            let version = hub.replica.version
            for _ in 0..<3 { try hub.save(to: 1) }
            return hub.replica.delta(since: version)
          }
        }
      ) { deltas in
        try deltas.count { try hub.apply($0) }
      }
    }
  }
}

enum HubDatabase: String, CaseIterable {
  case sqlite = "SQLite"
  case postgresql = "PostgreSQL"

  static let server = ProcessInfo.processInfo.environment["REJOIN_POSTGRESQL"]

  static var available: [HubDatabase] {
    server == nil ? [.sqlite] : allCases
  }

  /// - Parameter file: The path of the file of SQLite.
  func connect(_ file: String) throws -> any SQLConnection {
    switch self {
    case .sqlite:
      let connection = try SQLiteConnection(opening: file)
      try connection.run("PRAGMA journal_mode = WAL")
      try connection.run("PRAGMA synchronous = FULL")
      return connection
    case .postgresql: return try PostgreSQLConnection(HubDatabase.server ?? "")
    }
  }
}

/// A hub that has the records of a dataset.
private final class FilledHub {
  let replica: Replica
  private let data: Dataset
  private let session: HubSession
  private let folder: Folder
  private let scope = "benchmark \(UUID())"
  private var saves = 0

  init(fields: Int, _ database: HubDatabase) throws {
    (data, folder) = (Dataset(fields: fields), try Folder())
    replica = try data.replica()
    let file = folder.file("hub.sqlite")
    let hub = try blocking {
      // One request fills the hub.
      var limits = Hub.Limits()
      limits.recordsPerDelta = .max
      return try await Hub(connections: 1, limits: limits) {
        try database.connect(file)
      }
    }
    session = hub.makeSession { _ in }
    try send(since: ReplicaVersion())
  }

  func version() throws -> ReplicaVersion {
    try blocking { [session, scope] in try await session.version(of: scope) }
  }

  func delta(since version: ReplicaVersion) throws -> Delta? {
    try blocking { [session, scope] in
      try await session.delta(since: version, in: scope)
    }
  }

  /// Requests a part of the changes, or all changes without a limit.
  func delta(since version: ReplicaVersion, byteLimit: Int) throws -> Delta? {
    if byteLimit == .max { return try delta(since: version) }
    return try blocking { [session, scope] in
      try await session.delta(
        since: version, byteLimit: byteLimit, in: scope)
    }
  }

  func apply(_ delta: Delta) throws -> Bool {
    try blocking { [session, scope] in
      try await !session.apply(delta, in: scope).hasFaults
    }
  }

  /// Sends a save of a new device.
  func meet(_ device: DeviceID) throws {
    let other = Replica(
      device: device, schema: Dataset.schema,
      wallClock: WallClock { 1_750_000_000_000 }, makeDeviceID: { device })
    try other.save { $0.ensureExists(RecordID("Item", "met")) }
    if let delta = other.delta() { _ = try apply(delta) }
  }

  /// Makes a save and exchanges it.
  func sync() throws -> Bool {
    try save(to: 1)
    try send(since: version())
    if let delta = try delta(since: replica.version) { replica.apply(delta) }
    return try delta(since: replica.version) == nil
  }

  func send(since version: ReplicaVersion) throws {
    if let delta = replica.delta(since: version) { _ = try apply(delta) }
  }

  /// Writes one field in each of some records, in one save.
  func save(to count: Int) throws {
    saves += 1
    try replica.save { transaction in
      for i in 0..<min(count, data.ids.count) {
        let record = (saves * 7919 + i) % data.ids.count
        transaction.apply(
          .write(Dataset.value(record, 0, version: saves)),
          to: Dataset.keys[0], of: RecordID("Item", data.ids[record]))
      }
    }
  }
}
