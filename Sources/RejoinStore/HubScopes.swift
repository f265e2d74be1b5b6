// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// The replicas of a hub, none of which is in memory.
///
/// A request reads the saves of its scope and the records that it is about, makes
/// a replica of them, and does with it what a replica does. Whether a record has
/// news is read off an index of the saves that records have seen: what it finds
/// too much is left out by the replica.
///
/// Requests that change a scope wait for each other, and what reads is as of one
/// moment. So nothing depends on the order in which transactions are committed.
package final class HubScopes {
  private let connection: any SQLConnection
  private let makeDeviceID: () -> DeviceID

  package init(
    _ connection: any SQLConnection, makeDeviceID: @escaping () -> DeviceID
  ) throws(StoreError) {
    (self.connection, self.makeDeviceID) = (connection, makeDeviceID)
    do {
      if try connection.reading({ try Tables.exist(on: connection) }) { return }
      try connection.changing { try Tables.create(on: connection) }
    } catch { throw StoreError(opening: error) }
  }

  package func version(of scope: String) throws(StoreError) -> ReplicaVersion {
    try read(scope, choosing: { try $0.readAhead() }) { $0.version }
  }

  package func apply(
    _ delta: Delta, in scope: String
  ) throws(StoreError) -> MergeReport {
    try change(scope) { reader in
      try reader.readBuiltIn()
      for id in delta.recordIDs { try reader.read(id) }
    } body: {
      $0.apply(delta, reporting: .faults)
    }
  }

  package func acknowledge(
    _ version: ReplicaVersion, by device: DeviceID, in scope: String
  ) throws(StoreError) -> MergeReport {
    try change(scope) { reader in
      try reader.readBuiltIn()
      try reader.readAhead()
    } body: {
      $0.acknowledge(version, by: device)
    }
  }

  package func delta(
    since basis: ReplicaVersion, in scope: String
  ) throws(StoreError) -> Delta? {
    try read(scope) { reader in
      try reader.readAhead()
      let news = reader.news(since: basis)
      for device in news.intervals.keys.sorted() {
        try reader.readTouched(by: device, after: news.known[device])
      }
    } body: {
      $0.delta(since: basis)
    }
  }

  package func page(
    of cursor: HubPage.Cursor?, since basis: ReplicaVersion, in scope: String,
    limit: Int
  ) throws(StoreError) -> HubPage {
    var (news, numbers) = (cursor?.news, [] as [Int64])
    return try read(scope) { reader in
      try reader.readPage(after: cursor?.record ?? 0, limit: limit)
      news = news ?? reader.news(since: basis)
      numbers = reader.numbers
    } body: { replica in
      // A scope that is not there has no news.
      let news = news ?? replica.state.news(since: basis)
      let isLast = numbers.count < limit
      var stored = replica.state
      return HubPage(
        delta: stored.page(of: news, isLast: isLast),
        next: isLast
          ? nil : .init(news: news, record: numbers.last ?? 0))
    }
  }
}

extension HubScopes {
  /// Changes a scope, which is added if there is none.
  private func change<Value>(
    _ scope: String, choosing choose: (inout RecordReader) throws -> Void,
    body: (Replica) -> Value
  ) throws(StoreError) -> Value {
    do {
      return try connection.changing {
        let row = try locked(Array(scope.utf8))
        let (rows, stored) = try ScopeRows.read(
          row, on: connection, choosing: choose)
        rows.noteTouches(of: stored)
        let replica = replica(stored)
        replica.noteChangedRecords()
        let value = body(replica)
        try rows.write(replica)
        return value
      }
    } catch { throw StoreError(writing: error) }
  }

  /// Reads from a scope, as of one moment.
  private func read<Value>(
    _ scope: String, choosing choose: (inout RecordReader) throws -> Void,
    body: (Replica) -> Value
  ) throws(StoreError) -> Value {
    do {
      return try connection.reading {
        let row = try ScopeRow.findOnHub(
          Array(scope.utf8), locks: false, on: connection)
        guard let row else { return body(empty()) }
        return body(
          replica(
            try ScopeRows.read(row, on: connection, choosing: choose).stored))
      }
    } catch { throw StoreError(opening: error) }
  }

  private func locked(_ name: [UInt8]) throws -> ScopeRow {
    func find() throws -> ScopeRow? {
      try ScopeRow.findOnHub(name, locks: true, on: connection)
    }
    if let row = try find() { return row }
    var row = ScopeRow(name: name, head: empty().state.encodedHead())
    if try row.insert(on: connection) { return row }
    // Somebody else has added it in the meantime.
    guard let row = try find() else {
      throw StoreError.damaged("in the names of the scopes")
    }
    return row
  }

  /// A replica that never saves, and needs neither a schema nor a clock.
  private func replica(_ stored: StoredReplica) -> Replica {
    Replica(
      resuming: stored, schema: [], wallClock: WallClock { 0 },
      makeDeviceID: makeDeviceID)
  }

  private func empty() -> Replica {
    Replica(
      device: makeDeviceID(), schema: [], wallClock: WallClock { 0 },
      makeDeviceID: makeDeviceID)
  }
}

// What a request reads of a scope.
extension RecordReader {
  fileprivate mutating func read(_ id: RecordID) throws {
    try read(
      "rejoin_record r WHERE scope = ? AND entity = ? AND key = ?",
      .integer(row.scope), .text(id.entity), .text(id.key))
  }

  /// The devices that are enrolled or retired.
  fileprivate mutating func readBuiltIn() throws {
    try read(
      "rejoin_record r WHERE scope = ? AND entity IN (?, ?)",
      .integer(row.scope), .text(BuiltIn.roster), .text(BuiltIn.retirement))
  }

  /// The records with saves beyond the version.
  fileprivate mutating func readAhead() throws {
    // Numbers are bit patterns in one table and clamped in the other: of a
    // device with a number that they cannot tell, every record is found.
    // SQLite keeps the order of a cross join.
    try readTouched(
      "rejoin_device d CROSS JOIN rejoin_touch t WHERE t.scope = d.scope "
        + "AND t.device = d.device "
        + "AND t.n > CASE WHEN d.n = 9223372036854775807 "
        + "THEN 9223372036854775806 ELSE d.n END AND d.scope = ?",
      .integer(row.scope))
  }

  /// The records that a device has touched in a later save than that with a
  /// number.
  fileprivate mutating func readTouched(
    by device: DeviceID, after number: UInt64
  ) throws {
    try readTouched(
      "rejoin_touch t WHERE t.scope = ? AND t.n > ? AND t.device = "
        + "(SELECT device FROM rejoin_device WHERE scope = ? AND id = ?)",
      .integer(row.scope), .integer(Int64(clamping: number)),
      .integer(row.scope), .bytes(Array(device.bytes)))
  }

  /// The records of the rows `t` of a source.
  private mutating func readTouched(
    _ source: String, _ values: SQLValue...
  ) throws {
    try readRows(foundBy: "SELECT DISTINCT t.record FROM " + source, values)
  }

  fileprivate mutating func readPage(
    after number: Int64, limit: Int
  ) throws {
    try read(
      "rejoin_record r WHERE scope = ? AND record > ? "
        + "ORDER BY record LIMIT ?", .integer(row.scope), .integer(number),
      .integer(Int64(limit)))
  }
}
