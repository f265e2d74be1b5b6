// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// A change that a request makes to a scope of a hub.
package enum HubChange: Sendable {
  /// Joins a delta if `check` allows the effect of the delta.
  case join(Delta, check: @Sendable (Hub.Write) throws -> Void)
  /// Records the version that a device has shown.
  case recordVersion(ReplicaVersion, of: DeviceID)
}

/// The replicas of a hub, none of which is in memory.
///
/// A request reads the saves of its scope and the records that it is about, makes
/// a replica of them, and does with it what a replica does. Whether a record has
/// missing is read off an index of the saves that records have seen: what it finds
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

  /// Whether the connection can serve another request.
  var isIdle: Bool { connection.isIdle }

  /// Returns the saves of a scope, without the fields ahead of them.
  package func version(of scope: String) throws(StoreError) -> ReplicaVersion {
    try read(scope, choosing: { _ in }) { replica, _ in replica.version }
  }

  /// Returns the saves of a scope that a version lacks.
  ///
  /// Fields ahead of the hub's own version are sent with the saves that
  /// complete them, or with other saves that touch them.
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
      // Nothing is missing of a scope that is not there.
      missing.flatMap {
        replica.delta(of: $0, byteLimit: byteLimit, readThrough: end)
      }
    }
  }

  /// Returns the report of a recorded version that changes nothing, or `nil` if
  /// it changes the scope.
  ///
  /// Nearly every version changes nothing, and then no request has to wait.
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
  /// - Returns: For each change the report, or the error that refused it. A
  ///   refused change has no effect.
  /// - Throws: ``StoreError``, and then no change was performed.
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
      // Record only the effect of this change.
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

  /// Reads from a scope, as of one moment.
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

  /// A replica that never saves, and needs neither a schema nor a clock.
  private func replica(_ stored: ReplicaState) -> Replica {
    Replica(
      resuming: stored, schema: [], wallClock: WallClock { 0 },
      makeDeviceID: makeDeviceID)
  }
}

// What a request reads of a scope.
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

  /// The devices that are enrolled or retired.
  fileprivate mutating func readBuiltIn() throws {
    try read(
      "rejoin_record r WHERE scope = ? AND entity IN (?, ?)",
      .integer(row.scope), .utf8(BuiltIn.roster), .utf8(BuiltIn.retirement))
  }

  /// Reads the records that devices with missing saves touch in these saves.
  fileprivate mutating func readTouched(since missing: MissingChanges) throws {
    if let saves = touchingSaves(missing) {
      try readRows(foundBy: RecordReader.touched(connection.dialect), [saves])
    }
  }

  /// Reads the records of a part of the missing changes.
  ///
  /// - Returns: The last record that was read, or `nil` if it is the last of all.
  fileprivate mutating func readPart(
    of missing: MissingChanges, byteLimit: Int
  ) throws -> RecordID? {
    guard let saves = touchingSaves(missing) else { return nil }
    // A row is larger than its record in a delta.
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

  /// Reads the records after one, up to a limit.
  ///
  /// If many records have changed, this is faster than to find all changes for each
  /// part.
  ///
  /// - Returns: Whether these are the last records.
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

  /// The devices with missing saves, and the last known save of each, as a value for
  /// ``touched(_:)``.
  ///
  /// - Returns: `nil` if all saves are known.
  private func touchingSaves(_ missing: MissingChanges) -> SQLValue? {
    // One statement serves all devices, whose numbers are in a list.
    let list = missing.intervals.keys.compactMap { device in
      devices[device].map { number in
        // A number above the greatest integer of the database counts as that
        // integer.
        let known = min(Int64(clamping: missing.known[device]), .max - 1)
        return "[\(number),\(known)]"
      }
    }
    return list.isEmpty ? nil : .text("[\(list.joined(separator: ","))]")
  }

  /// Returns a query for the records that devices of a list touch in later
  /// saves than the list has, once for each device.
  ///
  /// The query uses the index for each device. It must not read all touches of
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

  /// Returns a query for the results of another one that come after a record, in the
  /// order of their IDs.
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
