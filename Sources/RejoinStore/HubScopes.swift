// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// A change that a request makes to a scope of a hub.
package enum HubChange: Sendable {
  /// Joins a delta if `check` allows the effect of the delta.
  case join(Delta, check: @Sendable (Hub.Write) throws -> Void)
  /// Records the saves that a device holds.
  case recordVersion(ReplicaVersion, of: DeviceID)
}

/// The scopes of a hub, which are not kept in memory.
///
/// A request reads the saves of its scope and the records that it concerns, and
/// creates a temporary replica from them. An index of the saves that each
/// record has seen finds the records with missing changes. It can find too
/// many, and the replica then leaves them out.
///
/// Requests that change the same scope wait for each other, and a request that
/// reads sees one state of the database. The order of commits therefore doesn't
/// matter.
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

  /// Whether the connection can serve another request.
  var isIdle: Bool { connection.isIdle }

  /// Returns the saves of a scope, without the fields ahead of them.
  package func version(of scope: String) throws(StoreError) -> ReplicaVersion {
    try read(scope, choosing: { _ in }) { replica, _ in replica.version }
  }

  /// Returns the saves of a scope that a version lacks.
  ///
  /// The delta contains a field that is ahead of the hub's version only if it
  /// also contains a save that touched this field.
  package func delta(
    since basis: ReplicaVersion, in scope: String
  ) throws(StoreError) -> Delta? {
    try read(scope) { reader in
      try reader.readTouched(since: reader.missingChanges(since: basis))
    } body: { replica, _ in
      replica.deltaOfIntervals(since: basis)
    }
  }

  /// Returns a part of the saves of a scope that a version lacks.
  ///
  /// See ``Replica/delta(since:byteLimit:)``.
  package func delta(
    since basis: ReplicaVersion, byteLimit: Int, in scope: String
  ) throws(StoreError) -> Delta? {
    var (missing, end) = (nil as MissingChanges?, nil as RecordID?)
    return try read(scope) { reader in
      let changes = reader.missingChanges(since: basis, inParts: true)
      missing = changes
      end = try reader.readPart(of: changes, byteLimit: byteLimit)
    } body: { replica, _ in
      // If the scope does not exist, no changes are missing.
      missing.flatMap {
        replica.delta(of: $0, byteLimit: byteLimit, readThrough: end)
      }
    }
  }

  /// Returns the report for a version that would not change the scope, or `nil`
  /// if it would.
  ///
  /// Most versions do not change the scope, so their requests need not wait.
  package func recordVersionIfKnown(
    _ version: ReplicaVersion, of device: DeviceID, in scope: String
  ) throws(StoreError) -> MergeReport? {
    try read(scope, choosing: { try $0.readBuiltIn() }) { replica, rows in
      let head = StoredHead(replica.state)
      let report = replica.recordVersion(
        version, of: device, beside: rows.devices.keys)
      return head == StoredHead(replica.state) ? report : nil
    }
  }

  /// Performs changes of a scope in one transaction.
  ///
  /// The scope is created if it does not exist.
  ///
  /// - Returns: The report of each change, or the error that refused it. A
  ///   refused change has no effect.
  /// - Throws: ``StoreError``. If an error is thrown, the scope is unchanged,
  ///   unless the connection was lost.
  package func make(
    _ changes: [HubChange], in scope: String
  ) throws(StoreError) -> [Result<MergeReport, any Error>] {
    if changes.isEmpty { return [] }
    let name = Array(scope.utf8)
    do {
      return try connection.changing {
        try ScopeRow.lock(name, on: connection)
        let (rows, stored) = try read(name) { reader in
          for change in changes { try reader.read(change) }
        }
        rows.recordTouches(of: stored)
        let replica = replica(stored)
        replica.markRecordsChanged()
        let results = changes.map { make($0, in: replica, of: rows) }
        if rows.differ(from: replica) { try rows.write(replica) }
        return results
      }
    } catch { throw StoreError(writing: error) }
  }

  private func make(
    _ change: HubChange, in replica: Replica, of rows: ScopeRows
  ) -> Result<MergeReport, any Error> {
    switch change {
    case .recordVersion(let version, let device):
      return .success(
        replica.recordVersion(
          version, of: device, beside: rows.devices.keys))
    case .join(let delta, let check):
      let before = replica.state
      // Now record only the effect of this change.
      let changed = replica.takeChangedRecords()
      let report = replica.apply(delta, reporting: .faults)
      let intervals = delta.intervals.keys
      let devices = replica.state.authors(since: before)
        .union(intervals).union(report.forkedDevices)
        .union(report.equivocations.map(\.device))
      let write = Hub.Write(
        devices: devices,
        newDevices: devices.count {
          rows.devices[$0] == nil && before.version[$0].sequence == 0
        }, hasIntervals: !intervals.isEmpty)
      do { try check(write) } catch {
        replica.revert(to: before)
        return .failure(error)
      }
      replica.markChanged(changed)
      return .success(report)
    }
  }

  /// Reads one state of a scope.
  private func read<Value>(
    _ scope: String, choosing choose: (inout RecordReader) throws -> Void,
    body: (Replica, ScopeRows) -> Value
  ) throws(StoreError) -> Value {
    do {
      return try connection.reading {
        let (rows, stored) = try read(Array(scope.utf8), choosing: choose)
        return body(replica(stored), rows)
      }
    } catch { throw StoreError(opening: error) }
  }

  /// Reads a scope, or returns a new one.
  private func read(
    _ name: [UInt8], choosing choose: (inout RecordReader) throws -> Void
  ) throws -> (rows: ScopeRows, stored: ReplicaState) {
    if let row = try ScopeRow.findOnHub(name, on: connection) {
      return try ScopeRows.read(row, on: connection, choosing: choose)
    }
    let empty = Replica(
      device: makeDeviceID(), schema: [], wallClock: WallClock { 0 },
      makeDeviceID: makeDeviceID
    ).state
    return (ScopeRows.new(name, for: empty, on: connection), empty)
  }

  /// Creates a replica that never saves, so it needs neither a schema nor a
  /// clock.
  private func replica(_ stored: ReplicaState) -> Replica {
    Replica(
      resuming: stored, schema: [], wallClock: WallClock { 0 },
      makeDeviceID: makeDeviceID)
  }
}

// The records that a request needs.
extension RecordReader {
  fileprivate mutating func read(_ change: HubChange) throws {
    switch change {
    case .recordVersion: try readBuiltIn()
    case .join(let delta, _):
      for id in delta.recordIDs { try read(id) }
      // The retirement shows whether a device came back.
      for device in delta.intervals.keys {
        try read(RecordID(BuiltIn.retirement, device.hexadecimal))
      }
    }
  }

  private mutating func read(_ id: RecordID) throws {
    try read(
      "rejoin_record r WHERE scope = ? AND entity = ? AND key = ?",
      .integer(row.scope), .utf8(id.entity), .utf8(id.key))
  }

  /// Reads the records of enrolled and retired devices.
  fileprivate mutating func readBuiltIn() throws {
    try read(
      "rejoin_record r WHERE scope = ? AND entity IN (?, ?)",
      .integer(row.scope), .utf8(BuiltIn.roster), .utf8(BuiltIn.retirement))
  }

  /// Reads the records that the missing saves touch.
  fileprivate mutating func readTouched(since missing: MissingChanges) throws {
    if let saves = touchingSaves(missing) {
      try readRows(foundBy: RecordReader.touched(connection.dialect), [saves])
    }
  }

  /// Reads the records of a part of the missing changes.
  ///
  /// - Returns: The last record that was read, or `nil` if no records follow
  ///   it.
  fileprivate mutating func readPart(
    of missing: MissingChanges, byteLimit: Int
  ) throws -> RecordID? {
    guard let saves = touchingSaves(missing) else { return nil }
    // Read more than the limit, because a row is larger than its record in a
    // delta.
    let limit = min(max(byteLimit, 1), .max / 4) / 4 * 5 + 1
    let touched = RecordReader.touched(connection.dialect)
    let count = try connection.integer(
      "SELECT count(*) FROM (\(touched) LIMIT 10001) c", saves)
    let isEnd =
      try count ?? 0 > 10_000
      ? readFollowing(missing.after, byteLimit: limit)
      : readRows(
        foundBy: RecordReader.inOrder(touched, connection.dialect),
        [
          saves, .utf8(missing.after?.entity ?? ""),
          .utf8(missing.after?.key ?? ""),
        ],
        byteLimit: limit)
    return isEnd ? nil : last
  }

  /// Reads the records after another record, up to a limit.
  ///
  /// If many records changed, this is faster than finding all changes again for
  /// each part.
  ///
  /// - Returns: Whether no more records follow.
  private mutating func readFollowing(
    _ id: RecordID?, byteLimit limit: Int
  ) throws -> Bool {
    var count = 16
    last = id
    while byteCount < limit {
      let condition = last == nil ? "" : "AND (entity, key) > (?, ?) "
      let read = numbers.count
      try self.read(
        "rejoin_record r WHERE scope = ? \(condition)"
          + "ORDER BY entity, key LIMIT ?",
        [.integer(row.scope)]
          + (last.map { [.utf8($0.entity), .utf8($0.key)] } ?? [])
          + [.integer(Int64(count))])
      if numbers.count - read < count { return true }
      count = min(2 * count, 1_024)
    }
    return false
  }

  /// Returns the devices with missing saves and the last known save of each, as
  /// a value for ``touched(_:)``.
  ///
  /// - Returns: The value, or `nil` if no saves are missing.
  private func touchingSaves(_ missing: MissingChanges) -> SQLValue? {
    // Pass a list, so that one statement serves any number of devices.
    let list = missing.intervals.keys.compactMap { device in
      devices[device].map { number in
        // Greater numbers are stored as `Int64.max`, so always find this
        // number.
        let known = min(Int64(clamping: missing.known[device]), .max - 1)
        return "[\(number),\(known)]"
      }
    }
    return list.isEmpty ? nil : .text("[\(list.joined(separator: ","))]")
  }

  /// Returns a query for the records that listed devices touch after the listed
  /// saves, once for each device.
  ///
  /// The query must use the index for each device, and not read all touches of
  /// the scope.
  static func touched(_ dialect: SQLDialect) -> String {
    switch dialect {
    // SQLite keeps the order of a cross join.
    case .sqlite:
      "SELECT t.record FROM json_each(?) d CROSS JOIN rejoin_touch t "
        + "WHERE t.device = json_extract(d.value, '$[0]') "
        + "AND t.n > json_extract(d.value, '$[1]')"
    // PostgreSQL plans a subquery with OFFSET separately.
    case .postgresql:
      "SELECT f.record FROM json_array_elements(?::json) d, "
        + "LATERAL (SELECT t.record FROM rejoin_touch t WHERE "
        + "t.device = (d->>0)::bigint AND t.n > (d->>1)::bigint OFFSET 0) f"
    }
  }

  /// Returns a query that sorts the results of another query by ID, and starts
  /// after a given record.
  private static func inOrder(
    _ query: String, _ dialect: SQLDialect
  ) -> String {
    let rows =
      switch dialect {
      case .sqlite: "CROSS JOIN rejoin_record r ON r.record = f.record"
      case .postgresql:
        "CROSS JOIN LATERAL (SELECT record, entity, key FROM rejoin_record "
          + "WHERE record = f.record OFFSET 0) r"
      }
    return "SELECT r.record FROM (\(query)) f \(rows) "
      + "WHERE (r.entity, r.key) > (?, ?) ORDER BY r.entity, r.key"
  }
}
