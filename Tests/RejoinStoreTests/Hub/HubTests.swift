// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing

@testable import Rejoin
@testable import RejoinStore

extension HubConnection {
  func make(
    _ changes: [(scope: String, change: HubChange)]
  ) throws -> [Result<MergeReport, any Error>] {
    var reports = changes.map { _ in MergeReport() }
    return try make(changes, adding: &reports)
  }

  func apply(_ delta: Delta, in scope: String) throws -> MergeReport {
    try make(.join(delta) { _ in }, in: scope)
  }

  func recordVersion(
    _ version: ReplicaVersion, of device: DeviceID, in scope: String
  ) throws -> MergeReport {
    let known = try recordVersionIfKnown(version, of: device, in: scope)
    return try known ?? make(.recordVersion(version, of: device), in: scope)
  }
}

/// A hub on SQLite or, if `REJOIN_POSTGRESQL` contains a connection string, on
/// PostgreSQL.
///
/// `Tests/Checks/Hub/run` starts a server and sets this variable. The tests on SQLite
/// ran before.
class HubSuite: StoreSuite {
  enum Database: CaseIterable {
    case sqlite, postgresql

    static let server = ProcessInfo.processInfo
      .environment["REJOIN_POSTGRESQL"]

    static var available: [Database] {
      [server == nil ? .sqlite : .postgresql]
    }

    /// - Parameter path: The path of the file of SQLite.
    func connect(_ path: String) throws -> any SQLConnection {
      switch self {
      case .sqlite:
        let connection = try SQLiteConnection(opening: path, timeout: .zero)
        try connection.run("PRAGMA journal_mode = WAL")
        return connection
      case .postgresql: return try PostgreSQLConnection(Database.server ?? "")
      }
    }
  }

  /// Each test has its own scopes, because the tests share a server.
  let scope = "notes \(UUID())"

  func connect(_ database: Database) throws -> any SQLConnection {
    try database.connect(path)
  }

  func hub(_ database: Database) throws -> HubConnection {
    try HubConnection(connect(database), makeDeviceID: DeviceID.random)
  }

  func replica(_ device: UInt64) -> Replica {
    Replica(
      device: DeviceID(device), schema: [Note.self],
      wallClock: ManualClock().wallClock, makeDeviceID: DeviceID.random)
  }

  func write(_ replica: Replica, _ keys: String...) throws {
    try replica.save { transaction in
      for key in keys { transaction[Note.self, key].views.increment(by: 1) }
    }
  }

  /// Sends the missing changes in both directions.
  func exchange(_ replica: Replica, _ hub: HubConnection) throws {
    if let delta = replica.delta(since: try hub.version(of: scope)) {
      _ = try hub.apply(delta, in: scope)
    }
    _ = try hub.recordVersion(replica.version, of: replica.device, in: scope)
    if let delta = try hub.delta(since: replica.version, in: scope) {
      replica.apply(delta)
    }
  }

}

@Suite final class HubTests: HubSuite {
  @Test(arguments: Database.available)
  func devicesSyncThroughHub(_ database: Database) throws {
    let (phone, tablet) = (replica(1), replica(2))
    try write(phone, "1", "2")
    try write(tablet, "2", "3")
    // Two processes serve the same database.
    try exchange(phone, hub(database))
    try exchange(tablet, hub(database))
    try exchange(phone, hub(database))
    #expect(phone[Note.self, "2"]?.views == 2)
    #expect(phone.delta() == tablet.delta())
    let rows = try StoredScope.read(scope, on: connect(database))
    #expect(rows?.version.vectorClock == phone.version.vectorClock)
    let connection = try connect(database)
    let summary = try StoreSummary(of: connection, checksPages: false)
    #expect(summary.scopes.contains { $0.name == scope && $0.openings == 0 })
  }

  /// The hub reads so many records in several steps.
  @Test(arguments: Database.available)
  func deltaContainsManyRecords(_ database: Database) throws {
    let (hub, phone) = (try hub(database), replica(1))
    for count in [1, 99, 100, 101, 250] {
      let before = phone.version
      try phone.save { transaction in
        for i in 0..<count {
          transaction[Note.self, "\(i)"].views.increment(by: 1)
        }
      }
      _ = try hub.apply(
        #require(phone.delta(since: hub.version(of: scope))), in: scope)
      #expect(
        try hub.delta(since: before, in: scope) == phone.delta(since: before))
    }
  }

  @Test(arguments: Database.available)
  func emptyScopeHasNoDelta(_ database: Database) throws {
    let hub = try hub(database)
    #expect(try hub.version(of: scope) == ReplicaVersion())
    #expect(try hub.delta(since: ReplicaVersion(), in: scope) == nil)
    #expect(
      try hub.delta(since: ReplicaVersion(), byteLimit: 1, in: scope) == nil)
    // Reading does not create the scope.
    #expect(try StoredScope.read(scope, on: connect(database)) == nil)
  }

  @Test(arguments: Database.available)
  func scopesAreSeparate(_ database: Database) throws {
    let hub = try hub(database)
    let (phone, tablet) = (replica(1), replica(2))
    try write(phone, "1")
    try write(tablet, "1")
    for (replica, scope) in [(phone, scope), (tablet, scope + "\0b")] {
      let delta = try #require(replica.delta())
      _ = try hub.apply(delta, in: scope)
      #expect(try hub.delta(since: ReplicaVersion(), in: scope) == delta)
    }
  }

  /// Applies all parts, and returns their number.
  private func takeParts(
    _ hub: HubConnection, _ newcomer: Replica, byteLimit: Int = 1,
    after part: (Int) throws -> Void = { _ in }
  ) throws -> Int {
    var count = 0
    while let delta = try hub.delta(
      since: newcomer.version, byteLimit: byteLimit, in: scope)
    {
      count += 1
      guard newcomer.apply(delta).hasAdvanced else { break }
      try part(count)
    }
    return count
  }

  @Test(arguments: Database.available)
  func partsCoverVersionOfFirstPart(_ database: Database) throws {
    let hub = try hub(database)
    let (phone, newcomer) = (replica(1), replica(2))
    try write(phone, "1", "2", "3", "4", "5")
    try exchange(phone, hub)
    let held = try hub.version(of: scope)
    var versions: [ReplicaVersion] = []
    let parts = try takeParts(hub, newcomer) { part in
      versions.append(newcomer.version)
      if part > 5 { return }
      // Between two parts, the phone edits records before and after the prefix,
      // and adds one.
      try write(phone, "1", "5", "new \(part)")
      try exchange(phone, hub)
    }
    // The parts are the five records, the new records after them, and the last
    // parts of both.
    #expect(parts > 10)
    let clocks = versions.map(\.vectorClock)
    #expect(clocks.prefix(5).allSatisfy { $0 == VectorClock() })
    #expect(clocks.contains(held.vectorClock))
    #expect(versions.last?.prefixes == [])
    try exchange(newcomer, hub)
    try exchange(phone, hub)
    #expect(newcomer.delta() == phone.delta())
  }

  @Test(arguments: Database.available)
  func deltasOfFewAndManyRecordsHaveParts(_ database: Database) throws {
    let (hub, phone) = (try hub(database), replica(1))
    // The hub finds few records one by one, and reads many records in several
    // steps.
    for (count, limit) in [(250, 500), (10_500, 20_000)] {
      let newcomer = replica(2)
      try phone.save { transaction in
        for i in 0..<count {
          transaction[Note.self, "\(i)"].views.increment(by: 1)
        }
      }
      try exchange(phone, hub)
      #expect(try takeParts(hub, newcomer, byteLimit: limit) > 3)
      #expect(newcomer.delta() == phone.delta())
      #expect(newcomer.version.vectorClock == phone.version.vectorClock)
    }
    // Some of many records changed.
    let before = phone.version
    try write(phone, "1", "99", "9999")
    try exchange(phone, hub)
    for limit in [1, 1_000] {
      let parts = try #require(
        try hub.delta(since: before, byteLimit: limit, in: scope))
      #expect(
        parts.recordIDs.map(\.key)
          == (limit == 1 ? ["1"] : ["1", "99", "9999"]))
    }
  }

  /// The list of devices alone has more bytes than the limit.
  @Test(arguments: Database.available)
  func byteLimitBoundsRecordsOfManyDevices(_ database: Database) throws {
    let (hub, phone, newcomer) = (try hub(database), replica(1), replica(2))
    for number in 100..<300 as Range<UInt64> {
      let other = replica(number)
      try write(other, "\(number)a", "\(number)b")
      phone.merge(other)
    }
    try exchange(phone, hub)
    #expect((2...20).contains(try takeParts(hub, newcomer, byteLimit: 2_000)))
    #expect(newcomer.delta() == phone.delta())
  }

  @Test(arguments: Database.available)
  func hubAcceptsParts(_ database: Database) throws {
    let (hub, phone, newcomer) = (try hub(database), replica(1), replica(2))
    try write(phone, "1", "2", "3")
    for part in 1...4 {
      let delta = try #require(
        phone.delta(since: hub.version(of: scope), byteLimit: 1))
      #expect(try hub.apply(delta, in: scope).hasAdvanced)
      let version = try hub.version(of: scope)
      #expect(
        version.prefixes.first?.through
          == (part < 3 ? RecordID("Note", "\(part)") : nil))
      if part == 3 { break }
      // The hub sends the records that it has.
      let sent = try #require(
        try hub.delta(since: newcomer.version, in: scope))
      #expect(sent.range == RecordRange(through: RecordID("Note", "\(part)")))
    }
    #expect(try hub.version(of: scope).vectorClock == phone.version.vectorClock)
    #expect(
      try hub.delta(since: ReplicaVersion(), in: scope) == phone.delta())
  }

  @Test(arguments: Database.available)
  func forkBetweenPartsSendsDeviceAgain(_ database: Database) throws {
    let hub = try hub(database)
    let (phone, clone, newcomer) = (replica(1), replica(1), replica(2))
    try write(phone, "1", "2", "3")
    try write(clone, "4")
    try exchange(phone, hub)
    let first = try hub.delta(
      since: newcomer.version, byteLimit: 1, in: scope)
    newcomer.apply(try #require(first))
    _ = try hub.apply(try #require(clone.delta()), in: scope)
    #expect(try hub.version(of: scope).forkedDevices == [DeviceID(1)])
    _ = try takeParts(hub, newcomer)
    try exchange(newcomer, hub)
    for key in ["1", "2", "3", "4"] {
      #expect(newcomer[Note.self, key]?.views == 1)
    }
    #expect(newcomer.version.forkedDevices == [DeviceID(1)])
  }

  @Test(arguments: Database.available)
  func numbersBeyondSignedRangeAreFound(_ database: Database) throws {
    let hub = try hub(database)
    let (phone, tablet) = (replica(1), replica(2))
    // The numbers of these saves need the sign bit of the database's integers.
    let numbers: [UInt64] = [
      UInt64(Int64.max) - 2, UInt64(Int64.max), 1 << 63 + 1, .max - 1,
    ]
    for (i, n) in numbers.enumerated() {
      let saver = try numbered(n)
      let before = ReplicaVersion(VectorClock(Dot(DeviceID(9), n - 1)))
      // The save has a gap before it, so the record is ahead of the version.
      let known = try hub.version(of: scope)
      _ = try hub.apply(#require(saver.delta(since: before)), in: scope)
      #expect(try hub.version(of: scope).vectorClock == known.vectorClock)
      _ = try hub.apply(#require(saver.delta()), in: scope)
      let held = try hub.version(of: scope)
      #expect(held[DeviceID(9)].sequence == n)
      #expect(
        try hub.delta(since: before, in: scope)?.recordIDs.map(\.key) == [
          "\(n)"
        ])
      #expect(try hub.delta(since: held, in: scope) == nil)
      #expect(
        try hub.delta(since: ReplicaVersion(), in: scope)?.recordIDs.count
          == i + 1)
    }
    try exchange(phone, hub)
    try exchange(tablet, hub)
    #expect(phone.delta() == tablet.delta())
  }

  /// Returns a replica of device 9 with one record, whose last save has a
  /// number.
  private func numbered(_ n: UInt64) throws -> Replica {
    var stored = replica(9).state
    stored.version.insert(
      DeviceSave(sequence: n - 1, time: .zero, digest: 1), of: DeviceID(9))
    stored.identity.ownDigests = OwnDigests(above: n - 2, [1])
    let replica = Replica(
      resuming: stored, schema: [Note.self], wallClock: ManualClock().wallClock,
      makeDeviceID: DeviceID.random)
    try write(replica, "\(n)")
    return replica
  }

  @Test(arguments: Database.available)
  func hubsAndStoresRefuseScopesOfEachOther(_ database: Database) throws {
    guard database == .sqlite else { return }
    let phone = replica(1)
    try write(phone, "1")
    try exchange(phone, hub(database))
    #expect(throws: StoreError.scopeBelongsToHub) {
      try open(self.path, scope: self.scope)
    }
    try open(path).write("Milk")
    #expect(throws: StoreError.scopeBelongsToDevice) {
      try self.hub(database).version(of: "main")
    }
    #expect(throws: StoreError.scopeBelongsToDevice) {
      try self.hub(database).apply(#require(phone.delta()), in: "main")
    }
  }

  @Test(arguments: [
    "UPDATE rejoin_record SET key = x'32'",
    "UPDATE rejoin_device SET n = 7", "DELETE FROM rejoin_device",
    "UPDATE rejoin_scope SET records = 4",
  ])
  func damagedRowIsReported(_ statement: String) throws {
    let phone = replica(1)
    try write(phone, "1")
    let hub = try hub(.sqlite)
    // No device reported a version that would have to agree with the saves.
    _ = try hub.apply(#require(phone.delta()), in: scope)
    try connect(.sqlite).run(statement)
    #expect {
      _ = try hub.delta(since: ReplicaVersion(), in: self.scope)
    } throws: { error in
      if case StoreError.damaged = error { true } else { false }
    }
  }

  @Test(arguments: [
    "UPDATE rejoin_touch SET n = n - 1",
    "DELETE FROM rejoin_touch WHERE record = 1",
    "INSERT INTO rejoin_touch SELECT scope, 7, device, n FROM rejoin_touch",
  ])
  func damagedTouchIsReported(_ statement: String) throws {
    let phone = replica(1)
    try write(phone, "1")
    try exchange(phone, hub(.sqlite))
    let connection = try connect(.sqlite)
    _ = try StoreSummary(of: connection, checksPages: true)
    try connection.run(statement)
    #expect {
      _ = try StoreSummary(of: connection, checksPages: true)
    } throws: { error in
      if case StoreError.damaged = error { true } else { false }
    }
  }

  @Test func busyDatabaseChangesNothing() throws {
    let phone = replica(1)
    try write(phone, "1")
    let hub = try hub(.sqlite)
    let other = try connect(.sqlite)
    try other.run("BEGIN IMMEDIATE")
    let delta = try #require(phone.delta())
    #expect { _ = try hub.apply(delta, in: self.scope) } throws: { error in
      if case StoreError.busy = error { true } else { false }
    }
    try other.run("COMMIT")
    _ = try hub.apply(delta, in: scope)
    #expect(try hub.delta(since: ReplicaVersion(), in: scope) == delta)
  }
}
