// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// A change that a request makes to a scope of a hub.
package enum HubChange: Sendable {
  /// Joins a delta if `check` allows the effect of the delta.
  case join(Delta, check: @Sendable (Hub.Write) throws -> Void)
  /// Records the saves that a device holds.
  case recordVersion(ReplicaVersion, of: DeviceID)
  /// Erases a part of the scope.
  case erase(ErasureBatch)

  /// The part to erase, or `nil` for another change.
  fileprivate var erasure: ErasureBatch? {
    if case .erase(let batch) = self { batch } else { nil }
  }
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
  let connection: any SQLConnection
  let transactions: HubTransactions
  private let limits: Hub.Limits
  private let patching: Patching
  private let makeDeviceID: () -> DeviceID

  package init(
    _ connection: any SQLConnection, limits: Hub.Limits = Hub.Limits(),
    patching: Patching = Patching(),
    makeDeviceID: @escaping () -> DeviceID
  ) throws(StoreError) {
    (self.connection, self.makeDeviceID) = (connection, makeDeviceID)
    (self.limits, self.patching) = (limits, patching)
    do {
      transactions = try HubTransactions(connection)
      if try connection.reading({ try Tables.exist(on: connection) }) { return }
      try connection.changing { try Tables.create(on: connection) }
    } catch { throw StoreError(opening: error) }
  }

  /// Whether one transaction at a time can write to the database.
  var hasOneWriter: Bool { connection.dialect == .sqlite }

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
      try reader.readTouched(
        since: reader.missingChanges(since: basis),
        limit: limits.recordsPerDelta)
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
      end = try reader.readPart(
        of: changes, byteLimit: byteLimit, recordLimit: limits.recordsPerDelta)
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

  /// Performs a change of a scope.
  ///
  /// - Throws: The error that refused the change, or ``StoreError``.
  @discardableResult
  package func make(
    _ change: HubChange, in scope: String
  ) throws -> MergeReport {
    try make([(scope, change)])[0].get()
  }

  /// Performs changes in one transaction.
  ///
  /// Scopes that do not exist are created.
  ///
  /// - Parameter changes: The changes with the names of their scopes. If
  ///   ``hasOneWriter`` is `false`, all are in one scope, because two
  ///   transactions could lock two scopes in different orders.
  /// - Returns: The report of each change, or the error that refused it. A
  ///   refused change has no effect.
  /// - Throws: ``StoreError``. If an error is thrown, the scopes are unchanged,
  ///   unless the connection was lost.
  package func make(
    _ changes: [(scope: String, change: HubChange)]
  ) throws(StoreError) -> [Result<MergeReport, any Error>] {
    var results: [Result<MergeReport, any Error>?] = changes.map { _ in nil }
    let scopes = Dictionary(grouping: changes.indices) {
      Array(changes[$0].scope.utf8)
    }
    do {
      try transactions.changing {
        for name in scopes.keys.sorted(by: { $0.lexicographicallyPrecedes($1) })
        {
          let places = scopes[name] ?? []
          let made = try make(places.map { changes[$0].change }, in: name)
          for (place, result) in zip(places, made) { results[place] = result }
        }
      }
    } catch { throw StoreError(writing: error) }
    return results.compactMap { $0 }
  }

  /// Performs changes of a scope.
  private func make(
    _ changes: [HubChange], in name: [UInt8]
  ) throws -> [Result<MergeReport, any Error>] {
    try transactions.lock(name)
    let batches = changes.compactMap(\.erasure)
    do {
      if batches.isEmpty { return try change(name, by: changes) }
      for batch in batches { try batch.erase(name, on: connection) }
    } catch StoreError.scopeErased {}
    // Refuse only the changes of this scope. Others share the transaction.
    return changes.map {
      $0.erasure == nil
        ? .failure(StoreError.scopeErased) : .success(MergeReport())
    }
  }

  /// Changes a scope, which is not erased.
  private func change(
    _ name: [UInt8], by changes: [HubChange]
  ) throws -> [Result<MergeReport, any Error>] {
    var (rows, stored) = try read(name) { reader in
      for change in changes { try reader.read(change) }
    }
    let replica = replica(stored)
    replica.markRecordsChanged()
    var added: Set<DeviceID> = []
    let results = changes.map { make($0, in: replica, of: rows, &added) }
    if rows.differ(from: replica) {
      try rows.write(replica, on: connection)
    }
    return results
  }

  /// Performs a change, unless it is refused.
  ///
  /// - Parameter added: The devices that earlier changes of the transaction
  ///   added.
  private func make(
    _ change: HubChange, in replica: Replica, of rows: HubRows,
    _ added: inout Set<DeviceID>
  ) -> Result<MergeReport, any Error> {
    switch change {
    case .erase:
      return .success(MergeReport())
    case .recordVersion(let version, let device):
      return .success(
        replica.recordVersion(
          version, of: device, beside: rows.devices.keys))
    case .join(let delta, let check):
      let before = replica.state
      // Now record only the effect of this change.
      let changed = replica.takeChangedRecords()
      let report = replica.apply(delta, reporting: .faults)
      let devices = replica.state.authors(since: before)
        .union(delta.intervals.keys).union(report.forkedDevices)
        .union(report.equivocations.map(\.device))
      let newDevices = devices.filter {
        rows.devices[$0] == nil && before.version[$0].sequence == 0
          && !added.contains($0)
      }
      do {
        try check(Hub.Write(devices: devices, newDevices: newDevices.count))
        let count = rows.devices.count + added.count + newDevices.count
        if !newDevices.isEmpty, count > limits.devicesPerScope {
          throw StoreError.tooManyDevices(limit: limits.devicesPerScope)
        }
        try checkSizes(in: replica, since: before)
      } catch {
        replica.revert(to: before)
        return .failure(error)
      }
      added.formUnion(newDevices)
      replica.markChanged(changed)
      return .success(report)
    }
  }

  /// Checks the sizes of the records that a delta changed.
  ///
  /// - Throws: ``StoreError/recordTooLarge(_:byteCount:limit:)``
  private func checkSizes(
    in replica: Replica, since before: ReplicaState
  ) throws(StoreError) {
    let limit = limits.bytesPerRecord
    for position in replica.changedRecords
    where replica.mayExceed(limit, at: position) {
      let byteCount = replica.stored.encodedRecord(at: position).count
      if byteCount <= limit { continue }
      let former =
        position < before.recordCount
        ? before.encodedRecord(at: position).count : 0
      if byteCount > former + Hub.Limits.smallGrowth {
        throw .recordTooLarge(
          replica.stored.recordID(at: position), byteCount: byteCount,
          limit: limit)
      }
    }
  }

  /// Reads one state of a scope.
  private func read<Value>(
    _ scope: String, choosing choose: (inout RecordReader) throws -> Void,
    body: (Replica, HubRows) -> Value
  ) throws(StoreError) -> Value {
    do {
      return try transactions.reading {
        let (rows, stored) = try read(Array(scope.utf8), choosing: choose)
        return body(replica(stored), rows)
      }
    } catch { throw StoreError(opening: error) }
  }

  /// Reads a scope, or returns a new one.
  func read(
    _ name: [UInt8], choosing choose: (inout RecordReader) throws -> Void
  ) throws -> (rows: HubRows, stored: ReplicaState) {
    let found = try HubRows.read(
      name, patching: patching, on: connection, choosing: choose)
    if let found { return found }
    let empty = Replica(
      device: makeDeviceID(), schema: [], wallClock: WallClock { 0 },
      makeDeviceID: makeDeviceID
    ).state
    return (HubRows(new: name, for: empty, patching: patching), empty)
  }

  /// Creates a replica that never saves, so it needs neither a schema nor a
  /// clock.
  func replica(_ stored: ReplicaState) -> Replica {
    Replica(
      resuming: stored, schema: [], wallClock: WallClock { 0 },
      makeDeviceID: makeDeviceID)
  }
}
