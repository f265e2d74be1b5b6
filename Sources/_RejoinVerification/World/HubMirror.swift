// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL
import RejoinStore

/// A scope of a hub, and a replica in memory that receives the same requests.
///
/// The hub reads only the rows that a request needs. It must answer like the
/// replica, which has everything in memory.
final class HubMirror {
  /// The number of the scope, which changes when the scope is erased.
  private var number = 0
  private var name: String { "hub \(number)" }
  private let connection: SQLiteConnection
  private let hub: HubConnection
  private var replica: Replica
  /// The empty version at first, then the latest versions that were recorded.
  private var bases: [ReplicaVersion] = [ReplicaVersion()]
  private var steps = 0
  /// The first difference between the hub and the replica.
  private var fault: String?

  init() {
    // Simulations do not use this device ID.
    let device = DeviceID(high: .max, low: 0x7562)
    replica = HubMirror.replica(device)
    do {
      connection = try SQLiteConnection(opening: ":memory:")
      hub = try HubConnection(
        connection, patching: .forTesting, makeDeviceID: { device })
    } catch { preconditionFailure("no hub can be made: \(error)") }
  }

  func apply(_ delta: Delta) {
    let report = replica.apply(delta, reporting: .faults)
    compare("the report of a delta") {
      try make(.join(delta) { _ in }).faults == report.faults
    }
  }

  func recordVersion(_ version: ReplicaVersion, of device: DeviceID) {
    let report = replica.recordVersion(version, of: device)
    compare("the report of a version") {
      let known = try hub.recordVersionIfKnown(
        version, of: device, in: name)
      return try (known ?? make(.recordVersion(version, of: device))).faults
        == report.faults
    }
    bases = bases.suffix(3) + [version]
  }

  private func make(_ change: HubChange) throws -> MergeReport {
    try hub.make(change, in: name)
  }

  /// Compares the hub with the replica.
  ///
  /// - Parameter send: A closure that returns the changes of another replica
  ///   since a version. Only every fifth check calls it, so gaps and fields
  ///   ahead can persist.
  func check(
    _ send: (ReplicaVersion) -> Delta?, named name: String
  ) throws(ScriptMismatch) {
    check(send)
    if let fault {
      throw ScriptMismatch(
        "the hub of \(name) differs from a replica in \(fault)")
    }
  }

  private func check(_ send: (ReplicaVersion) -> Delta?) {
    steps += 1
    if steps % 40 == 0 { eraseScope() }
    if steps % 5 == 0, let delta = send(replica.version) { apply(delta) }
    compare("the version") {
      try hub.version(of: name) == replica.version
    }
    compare("what a device learns to be stable") {
      // This device has all saves and receives only the hub's version.
      let device = newcomer()
      if let delta = replica.delta() { device.apply(delta) }
      device.recordVersion(try hub.version(of: name))
      // If every device is retired, the device awaits none.
      let stable =
        device.roster.isEmpty
        ? device.version.vectorClock : replica.stabilityCut
      return device.stabilityCut == stable
    }
    let basis = bases[steps % bases.count]
    compare("the delta since \(basis)") {
      try hub.delta(since: basis, in: name) == delta(since: basis)
    }
    let limit = steps % 3 * 100
    compare("the answer to \(basis)") {
      let state = try hub.state(
        of: name, for: basis, of: nil, byteLimit: limit)
      return state.version == replica.version
        && state.part == replica.delta(since: basis, byteLimit: limit)
    }
    // The rest reads all rows, which takes most of the time.
    guard steps % 4 == 0 else { return }
    compare("the rows") {
      // The hub has no rows before the first delta.
      try StoredScope.read(name, on: connection).map {
        $0.encoded() == replica.state.encoded()
      } ?? (replica.delta() == nil)
    }
    compare("the list of scopes") {
      let scope = try hub.scopes(after: nil, limit: 1_000)
        .first { $0.name == name }
      guard let scope else { return replica.delta() == nil }
      let version = replica.version
      let times = version.vectorClock.entries.map { version[$0.device].time }
      return scope.records == replica.state.recordCount
        && scope.lastSave == times.filter { $0 > .zero }.max()
        && scope.awaitedDevices == replica.awaitedDevices
    }
    compareParts()
  }

  /// Erases the scope.
  ///
  /// The devices continue under another name, which lacks all saves.
  private func eraseScope() {
    let delta = replica.delta()
    compare("an erased scope") {
      try hub.eraseScope(name)
      do {
        if let delta {
          _ = try make(.join(delta) { _ in })
        } else {
          _ = try hub.version(of: name)
        }
        return false
      } catch StoreError.scopeErased {
        return try hub.scopes(after: nil, limit: 1_000).contains {
          $0.name == name && $0.isErased && $0.records == 0 && $0.devices == 0
        }
      }
    }
    number += 1
    (replica, bases) = (HubMirror.replica(replica.device), [ReplicaVersion()])
  }

  /// Compares a transfer in parts with a single delta, each to an empty
  /// replica.
  ///
  /// The hub and the replica send the parts in turn.
  private func compareParts() {
    compare("parts") {
      let (some, all) = (newcomer(), newcomer())
      while let delta = delta(since: all.version) {
        guard all.apply(delta).hasAdvanced else { break }
      }
      let limit = steps % 3 * 100
      for turn in 0... {
        let basis = some.version
        let delta =
          turn % 2 == 0
          ? try hub.delta(since: basis, byteLimit: limit, in: name)
          : replica.delta(since: basis, byteLimit: limit)
        guard let delta, some.apply(delta).hasAdvanced else { break }
      }
      return some.state.encoded() == all.state.encoded()
    }
  }

  /// Returns the missing saves, or without any the next part of the rest.
  private func delta(since basis: ReplicaVersion) -> Delta? {
    let missing = replica.state.missingChanges(since: basis, as: .intervals)
    return missing.intervals.isEmpty
      ? replica.delta(since: basis, byteLimit: .max)
      : replica.delta(of: missing, byteLimit: nil)
  }

  private func newcomer() -> Replica {
    HubMirror.replica(DeviceID(high: .max, low: 0x6e65))
  }

  private static func replica(_ device: DeviceID) -> Replica {
    Replica(
      device: device, schema: [], wallClock: WallClock { 0 },
      makeDeviceID: { device })
  }

  private func compare(_ what: String, _ areEqual: () throws -> Bool) {
    do {
      if try areEqual() { return }
      fault = fault ?? what
    } catch { fault = fault ?? "\(what): \(error)" }
  }
}

extension MergeReport {
  /// The faults in the report, for comparison.
  fileprivate var faults: [AnyHashable] {
    [
      Set(gaps), forkedDevices, equivocations, reactivatedDevices,
      lastSaveBeforeRollback,
    ]
  }
}
