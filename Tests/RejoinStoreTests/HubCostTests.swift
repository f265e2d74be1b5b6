// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinFoundation
import RejoinTesting
import Testing

@testable import Rejoin
@testable import RejoinSQL
@testable import RejoinStore

/// The statements that a hub's request runs.
@Suite final class HubCostTests: HubSuite {
  private func counting(
    _ database: Database
  ) throws -> (HubScopes, CountingConnection) {
    let connection = CountingConnection(try connect(database))
    let hub = try HubScopes(connection, makeDeviceID: DeviceID.random)
    connection.reset()
    return (hub, connection)
  }

  @Test(arguments: Database.available)
  func deltaOfManyDevicesNeedsOneStatement(_ database: Database) throws {
    let (hub, connection) = try counting(database)
    var counts: [Int] = []
    for device in 1...64 {
      let phone = replica(UInt64(device))
      try write(phone, "\(device % 20)")
      _ = try hub.apply(#require(phone.delta()), in: scope)
      connection.reset()
      let delta = try hub.delta(since: ReplicaVersion(), in: scope)
      #expect(delta?.intervals.count == device)
      counts.append(connection.statements.count)
    }
    #expect(Set(counts).count == 1, "\(counts)")
  }

  @Test(arguments: Database.available)
  func requestWithoutChangesWritesNothing(_ database: Database) throws {
    let (hub, connection) = try counting(database)
    let (phone, tablet) = (replica(1), replica(2))
    try write(phone, "1", "2")
    try write(tablet, "2")
    for replica in [phone, tablet, phone, tablet, phone] {
      try exchange(replica, hub)
    }
    let all = try #require(phone.delta())
    connection.reset()
    _ = try hub.apply(all, in: scope)
    _ = try hub.recordVersion(phone.version, of: phone.device, in: scope)
    #expect(connection.writes == [])
    // Acknowledging a known version does not wait for writers.
    connection.reset()
    _ = try hub.recordVersion(phone.version, of: phone.device, in: scope)
    #expect(!connection.statements.contains { $0.contains("advisory") })
    // A partly new delta writes only its new part.
    try write(phone, "2")
    connection.reset()
    _ = try hub.apply(#require(phone.delta()), in: scope)
    #expect(
      connection.writes.count { $0.hasPrefix("INSERT INTO rejoin_record") }
        == 1)
  }

  /// Incomplete deltas wait in the scope at no cost to other devices.
  @Test(arguments: Database.available)
  func fieldsAheadCostOnlyDevicesThatTheyConcern(_ database: Database) throws {
    let (hub, connection) = try counting(database)
    let (phone, stranger) = (replica(1), replica(2))
    try stranger.save { transaction in
      for i in 0..<500 { transaction[Note.self, "\(i)"].title = "\(i)" }
    }
    let all = try #require(stranger.delta())
    for part in all.split(into: 2) { _ = try hub.apply(part, in: scope) }
    try write(phone, "mine")
    connection.reset()
    try exchange(phone, hub)
    #expect(connection.rows < 20)
    #expect(phone.recordIDs(of: "Note").count == 1)
    // The hub still waits for the saves, which become visible when complete.
    _ = try hub.apply(all, in: scope)
    try exchange(phone, hub)
    #expect(phone.recordIDs(of: "Note").count == 501)
  }
}
