// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// What is in a store, read and checked as a whole.
///
/// A file in use can be read, too: it is as of one moment.
package struct StoreSummary {
  /// A scope of the store.
  package struct Scope {
    /// The scope's name.
    package let name: String
    /// How often it has been opened for writing.
    package let openings: Int64
    /// Its replica.
    package let replica: ReplicaState
    /// How many bytes its records take.
    package let recordBytes: Int64
    /// How many patches of large records there are.
    package let patches: Int64
    /// How many bytes they take.
    package let patchBytes: Int64
    /// How many digests of own saves are kept.
    package let digests: Int64
  }

  /// The scopes, by their numbers.
  package let scopes: [Scope]
  /// What SQLite says of the file's pages and indexes; empty if all is well.
  package let faults: [String]

  /// Reads a store.
  ///
  /// - Parameter checksPages: Whether SQLite checks every page, too.
  package init(
    of connection: any SQLConnection, checksPages: Bool
  ) throws(StoreError) {
    do {
      (scopes, faults) = try connection.reading {
        (
          try StoreSummary.scopes(connection),
          checksPages ? try StoreSummary.faults(connection) : []
        )
      }
    } catch { throw StoreError(opening: error) }
  }

  private static func scopes(
    _ connection: any SQLConnection
  ) throws -> [Scope] {
    guard try Tables.exist(on: connection) else {
      throw StoreError.damaged("or no store: it has none of the tables")
    }
    let hasUndo = try Tables.undoExists(on: connection)
    return try ScopeRow.all(on: connection).map { row in
      if hasUndo { _ = try UndoRows(scope: row.scope, on: connection) }
      let (rows, stored) = try ScopeRows.read(row, on: connection)
      try checkTouches(of: row, rows, stored, connection)
      func sum(_ sql: String) throws -> Int64 {
        try connection.integer(sql, .integer(row.scope)) ?? 0
      }
      return Scope(
        name: String(decoding: row.name, as: UTF8.self), openings: row.writer,
        replica: stored,
        recordBytes: try sum(
          "SELECT sum(length(body)) FROM rejoin_record WHERE scope = ?"),
        patches: row.patches,
        patchBytes: try sum(
          "SELECT sum(length(body)) FROM rejoin_patch WHERE scope = ?"),
        digests: try sum("SELECT count(*) FROM rejoin_digest WHERE scope = ?"))
    }
  }

  /// Checks what a hub finds records by; a device has nothing of it.
  private static func checkTouches(
    of row: ScopeRow, _ rows: ScopeRows, _ stored: ReplicaState,
    _ connection: any SQLConnection
  ) throws {
    var touches: Set<[Int64]> = []
    if row.isOfHub {
      for (position, record) in rows.records.numbers.enumerated() {
        for entry in stored.lastSaves(ofRecordAt: position).entries {
          let device = rows.devices[entry.device] ?? 0
          touches.insert([record, device, Int64(clamping: entry.count)])
        }
      }
    }
    try connection.run(
      "SELECT record, device, n FROM rejoin_touch WHERE scope = ?",
      [.integer(row.scope)]
    ) { row in
      let touch = [row.integer(0), row.integer(1), row.integer(2)]
      if touches.remove(touch) == nil {
        throw StoreError.damaged(
          "in what touched row \(touch[0]) of the records")
      }
    }
    if let touch = touches.first {
      throw StoreError.damaged(
        "without what touched row \(touch[0]) of the records")
    }
  }

  private static func faults(
    _ connection: any SQLConnection
  ) throws -> [String] {
    var lines: [String] = []
    try connection.run("PRAGMA integrity_check", []) { row in
      lines.append(String(decoding: row.bytes(0), as: UTF8.self))
    }
    return lines == ["ok"] ? [] : lines
  }
}
