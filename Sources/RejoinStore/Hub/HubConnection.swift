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

  /// The number of records that the change concerns.
  var recordCount: Int {
    switch self {
    case .join(let delta, _): delta.recordCount
    case .recordVersion: 0
    case .erase: ErasureBatch.rowLimit
    }
  }

  /// The part to erase, or `nil` for another change.
  fileprivate var erasure: ErasureBatch? {
    if case .erase(let batch) = self { batch } else { nil }
  }
}

/// A connection of a hub, which keeps no scope in memory.
///
/// A request reads the saves of its scope and the records that it concerns, and
/// creates a temporary replica from them. An index of the saves that each
/// record has seen finds the records with missing changes. It can find too
/// many, and the replica then leaves them out.
///
/// Requests that change the same scope wait for each other, and a request that
/// reads sees one state of the database. The order of commits therefore doesn't
/// matter.
package final class HubConnection {
  let connection: any SQLConnection
  let transactions: HubTransactions
  let limits: Hub.Limits
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

  /// Performs a change of a scope.
  ///
  /// - Throws: The error that refused the change, or ``StoreError``.
  @discardableResult
  package func make(
    _ change: HubChange, in scope: String
  ) throws -> MergeReport {
    var reports = [MergeReport()]
    return try make([(scope, change)], adding: &reports)[0].get()
  }

  /// Performs changes in one transaction.
  ///
  /// Scopes that do not exist are created.
  ///
  /// - Parameters:
  ///   - changes: The changes with the names of their scopes. If
  ///     ``hasOneWriter`` is `false`, all are in one scope, because two
  ///     transactions could lock two scopes in different orders.
  ///   - reports: The reports of earlier attempts, one for each change. If the
  ///     answer to `COMMIT` is lost, this attempt adds its own: the changes may
  ///     be saved, and a repeated attempt then changes nothing.
  /// - Returns: The report of each change, which includes those of earlier
  ///   attempts, or the error that refused it. A refused change has no effect.
  /// - Throws: ``StoreError``. If an error is thrown, the scopes are unchanged,
  ///   unless the connection was lost.
  package func make(
    _ changes: [(scope: String, change: HubChange)],
    adding reports: inout [MergeReport]
  ) throws(StoreError) -> [Result<MergeReport, any Error>] {
    var results: [Result<MergeReport, any Error>?] = changes.map { _ in nil }
    let scopes = Dictionary(grouping: changes.indices) {
      Array(changes[$0].scope.utf8)
    }
    var isCommitting = false
    do {
      try transactions.changing {
        for name in scopes.keys.sorted(by: { $0.lexicographicallyPrecedes($1) })
        {
          let places = scopes[name] ?? []
          let made = try make(places.map { changes[$0].change }, in: name)
          for (place, result) in zip(places, made) { results[place] = result }
        }
        isCommitting = true
      }
    } catch {
      let error = StoreError(writing: error)
      // Any other failure undid the changes.
      if isCommitting, case .disconnected = error {
        HubConnection.add(results, to: &reports)
      }
      throw error
    }
    HubConnection.add(results, to: &reports)
    return zip(results, reports).compactMap { result, report in
      result?.map { _ in report }
    }
  }

  private static func add(
    _ results: [Result<MergeReport, any Error>?],
    to reports: inout [MergeReport]
  ) {
    for (i, result) in results.enumerated() {
      if case .success(let report) = result { reports[i].add(report) }
    }
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
    var uncovered: [ReplicaState.UncoveredSaves] = []
    while true {
      var (rows, state) = try read(name) { reader in
        for change in changes { try reader.read(change) }
        try reader.readAhead()
        try reader.read(uncovered, limit: AheadList.fieldLimit)
      }
      let replica = replica(state)
      replica.markRecordsChanged()
      var added: Set<DeviceID> = []
      let results = changes.map { make($0, in: replica, of: rows, &added) }
      // If a prefix shrank, fields that it covered are ahead. Read them first.
      let found = replica.state.uncoveredSaves(since: state)
      if uncovered.isEmpty, !found.isEmpty {
        uncovered = found
        continue
      }
      if rows.differ(from: replica) {
        try rows.write(replica, on: connection)
      }
      return results
    }
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
          version, of: device, counting: rows.devices.keys))
    case .join(let delta, let check):
      if delta.intervals.isEmpty {
        return .success(joinAhead(delta, check, in: replica, of: rows, &added))
      }
      return Result {
        try join(delta, check, in: replica, of: rows, &added)
      }
    }
  }

  /// Joins fields ahead of their sender's version.
  ///
  /// The device that has the rest of their saves may be lost, so the hub keeps
  /// the fields that it can list. It ignores the others, and those that are
  /// refused.
  private func joinAhead(
    _ delta: Delta, _ check: (Hub.Write) throws -> Void, in replica: Replica,
    of rows: HubRows, _ added: inout Set<DeviceID>
  ) -> MergeReport {
    let before = replica.state
    let unlisted = rows.aheadList(of: replica).unlistedCount
    func fits(_ delta: Delta) -> Bool {
      replica.apply(delta, reporting: .faults)
      return rows.aheadList(of: replica).unlistedCount <= unlisted
    }
    var fitting = delta
    if !fits(delta) {
      replica.revert(to: before)
      var changes: [Delta.Change] = []
      for change in delta.changes.prefix(AheadList.fieldLimit) {
        let last = replica.state
        if fits(Delta([change])) {
          changes.append(change)
        } else {
          replica.revert(to: last)
        }
      }
      fitting = Delta(changes)
    }
    replica.revert(to: before)
    let report = try? join(fitting, check, in: replica, of: rows, &added)
    return report ?? MergeReport()
  }

  /// Joins a delta.
  ///
  /// - Throws: The error that refuses the delta, which then has no effect.
  private func join(
    _ delta: Delta, _ check: (Hub.Write) throws -> Void, in replica: Replica,
    of rows: HubRows, _ added: inout Set<DeviceID>
  ) throws -> MergeReport {
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
      throw error
    }
    added.formUnion(newDevices)
    replica.markChanged(changed)
    return report
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
      let byteCount = replica.current.encodedRecord(at: position).count
      if byteCount <= limit { continue }
      let former =
        position < before.recordCount
        ? before.encodedRecord(at: position).count : 0
      if byteCount > former + Hub.Limits.smallGrowth {
        throw .recordTooLarge(
          replica.current.recordID(at: position), byteCount: byteCount,
          limit: limit)
      }
    }
  }

  /// Reads one state of a scope.
  func read<Value>(
    _ scope: String, choosing choose: (inout RowReader) throws -> Void,
    body: (Replica, HubRows) -> Value
  ) throws(StoreError) -> Value {
    do {
      return try transactions.reading {
        let (rows, state) = try read(Array(scope.utf8), choosing: choose)
        return body(replica(state), rows)
      }
    } catch { throw StoreError(opening: error) }
  }

  /// Reads a scope, or returns a new one.
  func read(
    _ name: [UInt8], choosing choose: (inout RowReader) throws -> Void
  ) throws -> (rows: HubRows, state: ReplicaState) {
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
  func replica(_ state: ReplicaState) -> Replica {
    Replica(
      resuming: state, schema: [], wallClock: WallClock { 0 },
      makeDeviceID: makeDeviceID)
  }
}
