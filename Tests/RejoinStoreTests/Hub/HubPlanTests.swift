// SPDX-License-Identifier: Apache-2.0

import RejoinTesting
import Testing

@testable import Rejoin
@testable import RejoinSQL
@testable import RejoinStore

/// The plans of all statements that a hub sends to PostgreSQL.
@Suite final class HubPlanTests: HubSuite {
  /// Asks for the plan of each statement before it runs, in its transaction.
  ///
  /// The plan does not know the values. It is made when the statement first
  /// runs, and made again when the server considers it to be outdated.
  private final class Explaining: SQLConnection {
    private let connection: any SQLConnection
    private var names: [String: String] = [:]
    private(set) var plans: [String: [String]] = [:]

    init(_ connection: any SQLConnection) { self.connection = connection }

    var dialect: SQLDialect { connection.dialect }
    var isIdle: Bool { connection.isIdle }

    func run(
      _ sql: String, _ values: [SQLValue], _ body: (any SQLRow) throws -> Void
    ) throws {
      let verbs = ["SELECT ", "INSERT ", "UPDATE ", "DELETE "]
      if verbs.contains(where: sql.hasPrefix), sql.contains(" rejoin_") {
        let name = names[sql] ?? "explained_\(names.count)"
        if names.updateValue(name, forKey: sql) == nil {
          let types = values.map { value in
            switch value {
            case .integer: "bigint"
            case .bytes: "bytea"
            default: "text"
            }
          }
          let list = types.isEmpty ? "" : "(\(types.joined(separator: ", ")))"
          try connection.run("PREPARE \(name)\(list) AS \(sql)")
        }
        let nulls = values.map { _ in "NULL" }.joined(separator: ", ")
        let list = values.isEmpty ? "" : "(\(nulls))"
        var lines: [String] = []
        try connection.run("EXPLAIN EXECUTE \(name)\(list)", []) { row in
          lines.append(row.text(0) ?? "")
        }
        plans[sql] = lines
      }
      try connection.run(sql, values, body)
    }
  }

  /// Every request, so that every statement runs.
  private func makeAllRequests(
    _ hub: HubConnection, _ phone: Replica, in scope: String
  ) throws {
    let before = phone.version
    // A large record has patches.
    let text = String(repeating: "x", count: 10_000)
    try phone.save { $0[Note.self, "large"].title = text }
    try phone.save { transaction in
      transaction[Note.self, "0"].title = "Milk"
      transaction[Note.self, "new \(phone.version.vectorClock)"].title = "Bread"
    }
    let delta = try #require(phone.delta(since: before))
    for _ in 0..<2 {
      _ = try hub.apply(delta, in: scope)
      try phone.save { $0[Note.self, "large"].views.increment() }
      let next = try hub.version(of: scope)
      _ = try hub.apply(#require(phone.delta(since: next)), in: scope)
    }
    _ = try hub.recordVersion(phone.version, of: phone.device, in: scope)
    // The fields of a new device are ahead, until its saves are complete.
    let other = replica(UInt64.random(in: 10...(.max)))
    try write(other, "\(other.device)")
    let news = try #require(other.delta())
    _ = try hub.apply(news.split(into: 2)[1], in: scope)
    _ = try hub.apply(news, in: scope)
    for basis in [before, ReplicaVersion()] {
      _ = try? hub.delta(since: basis, in: scope)
      _ = try hub.delta(since: basis, byteLimit: 50_000, in: scope)
    }
    _ = try hub.scopes(after: nil, limit: 10)
    let erased = "erased \(phone.version)"
    _ = try hub.apply(#require(phone.delta(since: before)), in: erased)
    try phone.save { $0[Note.self, "large"].views.increment() }
    _ = try hub.apply(#require(phone.delta(since: before)), in: erased)
    try hub.eraseScope(erased)
  }

  /// The first column of each index.
  private static let firstColumns = [
    " rejoin_scope_name_key": "name", " rejoin_scope_pkey": "scope",
    " rejoin_device_scope_id_key": "scope", " rejoin_record_pkey": "record",
    " rejoin_record_scope_entity_key_key": "scope",
    " rejoin_patch_pkey": "record", " rejoin_since": "device",
    " rejoin_touch_pkey": "record", " rejoin_device_pkey": "device",
  ]

  private func expectIndexes(
    _ connection: Explaining, _ state: String
  ) {
    // Some statements read: the scope with its devices, records by ID, by
    // number and in order, the roster, touches and patches, a page of scopes,
    // and the rows to erase. The others write.
    #expect(connection.plans.count >= 23, "\(connection.plans.keys)")
    for (sql, plan) in connection.plans {
      #expect(
        !plan.contains { line in
          ["Seq Scan", "Bitmap", "JIT"].contains { line.contains($0) }
        },
        "\(state): \(sql): \(plan)")
      // A condition of another column would read the whole index.
      for (i, line) in plan.enumerated()
      where line.contains("Index Scan") || line.contains("Index Only Scan") {
        let index = HubPlanTests.firstColumns.first { line.contains($0.key) }
        let column = index?.value ?? "an index that is not known"
        #expect(
          i + 1 < plan.count && plan[i + 1].contains("Index Cond")
            && ["(\(column) =", ".\(column) =", "(\(column) >="].contains {
              plan[i + 1].contains($0)
            }, "\(state): \(sql): \(plan)")
      }
    }
  }

  /// Few rows, many rows, old statistics and new ones.
  @Test func everyStatementFindsRowsByIndex() throws {
    guard Database.available.contains(.postgresql) else { return }
    let admin = try connect(.postgresql)
    // The tables are empty, and the server knows it.
    try admin.run("DROP SCHEMA IF EXISTS rejoin_plans CASCADE")
    try admin.run("CREATE SCHEMA rejoin_plans")
    defer { try? admin.run("DROP SCHEMA rejoin_plans CASCADE") }
    try admin.run("SET search_path = rejoin_plans")
    func open() throws -> (HubConnection, Explaining) {
      let connection = try connect(.postgresql)
      try connection.run("SET search_path = rejoin_plans")
      let explaining = Explaining(connection)
      var limits = Hub.Limits()
      limits.recordsPerDelta = 20_000
      return (
        try HubConnection(
          explaining, limits: limits, makeDeviceID: DeviceID.random),
        explaining
      )
    }
    _ = try open()
    try admin.run("VACUUM ANALYZE")
    // This connection serves empty tables first.
    let (hub, connection) = try open()
    let (phone, other) = (replica(1), replica(2))
    try makeAllRequests(hub, phone, in: scope)
    try makeAllRequests(hub, other, in: "other")
    expectIndexes(connection, "empty")
    for part in 0..<10 {
      let before = phone.version
      try phone.save { transaction in
        for i in 0..<10_000 {
          transaction[Note.self, "\(part) \(i)"].title = "\(i)"
        }
      }
      _ = try hub.apply(#require(phone.delta(since: before)), in: scope)
    }
    try makeAllRequests(hub, phone, in: scope)
    expectIndexes(connection, "after a load")
    // A small sample of the touches has only one device.
    for target in [1, 100] {
      try admin.run("SET default_statistics_target = \(target)")
      for statement in ["ANALYZE", "VACUUM"] {
        try admin.run(statement)
        for (hub, connection) in [(hub, connection), try open()] {
          try makeAllRequests(hub, phone, in: scope)
          try makeAllRequests(hub, other, in: "other")
          expectIndexes(connection, "\(statement) of \(target)")
        }
      }
    }
  }
}
