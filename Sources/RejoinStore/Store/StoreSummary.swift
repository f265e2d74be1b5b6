// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// The content of a store, which is read and checked as a whole.
///
/// The summary can be read from a file in use and shows one state of it.
package struct StoreSummary {
  /// A scope of the store.
  package struct Scope {
    /// The name of the scope.
    package let name: String
    /// The number of times that the scope was opened for writing.
    package let openings: Int64
    /// The replica in the scope.
    package let replica: ReplicaState
    /// The number of bytes in the rows of records.
    package let recordBytes: Int64
    /// The number of patches of large records.
    package let patches: Int64
    /// The number of bytes in the patches.
    package let patchBytes: Int64
    /// The number of stored digests of own saves.
    package let digests: Int64
    /// The notes of the scope that are not damaged, in the order of their names.
    package let notes: [(name: String, value: [UInt8])]
  }

  /// The scopes, in the order of their numbers.
  package let scopes: [Scope]
  /// The names of the erased scopes of a hub, in the order of their numbers.
  package let erasedScopes: [String]
  /// The faults that do not prevent opening the store: damaged rows of an undo
  /// history, and those that SQLite finds in the pages and indexes of the file.
  package let faults: [String]

  /// Reads a store.
  ///
  /// - Parameter checksPages: Whether SQLite checks every page and index.
  package init(
    of connection: any SQLConnection, checksPages: Bool
  ) throws(StoreError) {
    do {
      (scopes, erasedScopes, faults) = try connection.reading {
        (
          try StoreSummary.scopes(connection),
          try StoreSummary.erasedScopes(connection),
          try StoreSummary.undoFaults(connection)
            + (checksPages ? try StoreSummary.pageFaults(connection) : [])
        )
      }
    } catch { throw StoreError(opening: error) }
  }

  private static func scopes(
    _ connection: any SQLConnection
  ) throws -> [Scope] {
    guard try Tables.exist(on: connection) else {
      throw StoreError.damaged("it has no tables of a store")
    }
    return try ScopeRow.all(on: connection).filter { !$0.isErased }.map { row in
      let (rows, state) = try ScopeRows.read(row, on: connection)
      try checkTouches(of: row, rows, state, connection)
      func sum(_ sql: String) throws -> Int64 {
        try connection.integer(sql, .integer(row.scope)) ?? 0
      }
      return Scope(
        name: String(decoding: row.name, as: UTF8.self), openings: row.openings,
        replica: state,
        recordBytes: try sum(
          "SELECT sum(length(body)) FROM rejoin_record WHERE scope = $1"),
        patches: row.patches,
        patchBytes: try sum(
          "SELECT sum(length(body)) FROM rejoin_patch WHERE scope = $1"),
        digests: try sum("SELECT count(*) FROM rejoin_digest WHERE scope = $1"),
        notes: (try? ScopeNotes(of: row.scope, on: connection).all()) ?? [])
    }
  }

  /// Returns the names of the erased scopes, and checks that a scope has no
  /// rows after the end of its erasure.
  private static func erasedScopes(
    _ connection: any SQLConnection
  ) throws -> [String] {
    try ScopeRow.all(on: connection).filter(\.isErased).map { row in
      for table in Tables.erased where !row.hasRows {
        let count = try connection.integer(
          "SELECT count(*) FROM \(table) WHERE scope = $1", .integer(row.scope))
        if count != 0 {
          throw StoreError.damaged(
            "with rows of the erased scope \(row.scope) in \(table)")
        }
      }
      return String(decoding: row.name, as: UTF8.self)
    }
  }

  /// Checks the touches, which a hub finds records by and a device lacks.
  private static func checkTouches(
    of row: ScopeRow, _ rows: ScopeRows, _ state: ReplicaState,
    _ connection: any SQLConnection
  ) throws {
    let scope = row.scope
    var touches: Set<[Int64]> = []
    if row.isOfHub {
      for (position, record) in rows.records.numbers.enumerated() {
        for entry in state.lastSaves(ofRecordAt: position).entries {
          let device = rows.devices[entry.device] ?? 0
          touches.insert([record, device, Int64(clamping: entry.count)])
        }
      }
    }
    let ahead = Set(
      state.aheadCounts.keys.map { rows.records.numbers[$0] })
    try connection.run(
      "SELECT record, device, n FROM rejoin_touch WHERE scope = $1",
      [.integer(scope)]
    ) { row in
      let touch = [row.integer(0), row.integer(1), row.integer(2)]
      let isListed = touch[1] == -scope && ahead.contains(touch[0])
      if !isListed, touches.remove(touch) == nil {
        throw StoreError.damaged(
          "in the touches of row \(touch[0]) of the records")
      }
    }
    if let touch = touches.first {
      throw StoreError.damaged(
        "without a touch of row \(touch[0]) of the records")
    }
  }

  /// Returns the damaged rows of undo histories.
  private static func undoFaults(
    _ connection: any SQLConnection
  ) throws -> [String] {
    guard try Tables.undoExists(on: connection) else { return [] }
    return try ScopeRow.all(on: connection).flatMap { row in
      let name = String(decoding: row.name, as: UTF8.self)
      return try UndoRows.damage(in: row.scope, on: connection).map {
        "step \($0) of the undo history of scope \"\(name)\" is damaged; the "
          + "store opens with an empty history"
      }
    }
  }

  private static func pageFaults(
    _ connection: any SQLConnection
  ) throws -> [String] {
    var lines: [String] = []
    try connection.run("PRAGMA integrity_check", []) { row in
      lines.append(String(decoding: row.bytes(0), as: UTF8.self))
    }
    return lines == ["ok"] ? [] : lines
  }
}
