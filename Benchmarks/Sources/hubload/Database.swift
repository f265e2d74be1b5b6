// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinFoundation
import RejoinSQL
import RejoinStore

/// A record of the measurements.
struct Item: Entity {
  let count = counter("count")
  let title = register("title", of: String.self)
  let tags = set("tags", of: String.self)
}

/// A database of a hub.
struct Database: Sendable {
  let address: String

  init(_ address: String) { self.address = address }

  private var isFile: Bool { address.hasPrefix("sqlite:") }

  var kind: String { isFile ? "SQLite" : "PostgreSQL" }

  func openHub() async throws -> Hub {
    try await Hub(connections: isFile ? 1 : 8) {
      guard isFile else { return try PostgreSQLConnection(address) }
      let connection = try SQLiteConnection(
        opening: String(address.dropFirst("sqlite:".count)))
      try connection.run("PRAGMA journal_mode = WAL")
      try connection.run("PRAGMA synchronous = FULL")
      return connection
    }
  }
}

func makeReplica() -> Replica {
  Replica(
    device: .random(), schema: [Item.self], wallClock: .system,
    makeDeviceID: DeviceID.random)
}
