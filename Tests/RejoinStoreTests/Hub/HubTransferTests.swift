// SPDX-License-Identifier: Apache-2.0

import RejoinSQL
import RejoinTesting
import Testing

@testable import RejoinStore

/// Transfers in parts during which the database is replaced with an older one.
@Suite final class HubTransferTests: HubSuite {
  enum Course: CaseIterable { case alone, withOthers, laggingReplica }

  /// A copy of the rows of a scope, as in a dump of the database.
  private struct Backup {
    let connection: any SQLConnection
    let scope: Int64
    let number: Int

    private static let tables = [
      "rejoin_scope", "rejoin_device", "rejoin_record", "rejoin_patch",
      "rejoin_touch",
    ]

    init(
      _ number: Int, of name: String, on connection: any SQLConnection
    ) throws {
      (self.connection, self.number) = (connection, number)
      scope = try #require(
        try connection.integer(
          "SELECT scope FROM rejoin_scope WHERE name = $1", .utf8(name)))
      for table in Backup.tables {
        try connection.run(
          "CREATE TEMP TABLE \(table)_\(number) AS "
            + "SELECT * FROM \(table) WHERE scope = \(scope)")
      }
    }

    func restore() throws {
      let numbers =
        connection.dialect == .sqlite ? "" : "OVERRIDING SYSTEM VALUE "
      try connection.changing {
        for table in Backup.tables {
          try connection.run("DELETE FROM \(table) WHERE scope = \(scope)")
          try connection.run(
            "INSERT INTO \(table) \(numbers)SELECT * FROM \(table)_\(number)")
        }
      }
    }
  }

  private static let (saves, recordsPerSave) = (20, 520)

  /// Returns the key of a record.
  ///
  /// The order of keys differs from that of the saves.
  private func key(_ i: Int) -> String {
    "\(i * 7_919 % (Self.saves * Self.recordsPerSave))"
  }

  private func save(_ number: Int, _ phone: Replica) throws {
    try phone.save { transaction in
      let first = number * Self.recordsPerSave
      for i in first..<(first + Self.recordsPerSave) {
        transaction[Note.self, key(i)].title = "A note of save \(number)"
      }
      // Also change a record of an earlier save.
      transaction[Note.self, key(number * 37)].views.increment(by: 1)
    }
  }

  private func send(_ replica: Replica, _ hub: HubConnection) throws {
    if let delta = replica.delta(since: try hub.version(of: scope)) {
      _ = try hub.apply(delta, in: scope)
    }
  }

  /// A part can contain records of later saves, but the version must not.
  private func expectComplete(_ newcomer: Replica) {
    let count = Int(newcomer.version[DeviceID(1)].sequence)
    for i in 0..<(min(count, Self.saves) * Self.recordsPerSave) {
      if newcomer[Note.self, key(i)]?.title == nil {
        Issue.record("record \(i) is missing after save \(count)")
        return
      }
    }
  }

  @Test(arguments: Database.available, Course.allCases)
  func transferOverRestoresEndsComplete(
    _ database: Database, _ course: Course
  ) throws {
    let hub = try hub(database)
    let connection = try connect(database)
    let (phone, tablet, newcomer) = (replica(1), replica(2), replica(3))
    let lagging = "\(scope), lagging"
    var backups: [Backup] = []
    for number in 0..<Self.saves {
      try save(number, phone)
      try send(phone, hub)
      if [6, 13, 19].contains(number) {
        backups.append(try Backup(number, of: scope, on: connection))
      }
      if number == 13 {
        _ = try hub.apply(#require(phone.delta()), in: lagging)
      }
    }
    var (parts, restores) = (0, 0)
    func readParts(restoring: Bool) throws {
      while true {
        let isLagging = course == .laggingReplica && parts % 2 == 1
        let delta = try hub.delta(
          since: newcomer.version, byteLimit: 3_000,
          in: isLagging ? lagging : scope)
        parts += 1
        try #require(parts < 2_000)
        let hasAdvanced = delta.map { newcomer.apply($0).hasAdvanced } ?? false
        if !hasAdvanced, !isLagging { return }
        expectComplete(newcomer)
        if !restoring || course == .laggingReplica || parts % 10 != 0 {
          continue
        }
        try backups[[1, 0, 2, 0, 1][restores % 5]].restore()
        restores += 1
        guard course == .withOthers, restores < 8 else { continue }
        try save(restores, phone)
        try write(tablet, "tablet \(restores)")
        for replica in [phone, tablet] { try send(replica, hub) }
      }
    }
    try readParts(restoring: true)
    #expect(parts > 50)
    #expect(course == .laggingReplica || restores > 4)
    // The devices send what the last restore lost.
    for replica in [phone, tablet] { try send(replica, hub) }
    try readParts(restoring: false)
    try exchange(phone, hub)
    expectComplete(newcomer)
    #expect(newcomer.delta() == phone.delta())
  }
}
