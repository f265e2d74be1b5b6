// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The answer of a hub to a device.
package struct HubState: Sendable {
  /// The version of the scope.
  package let version: ReplicaVersion
  /// Saves that the device lacks, or `nil`.
  package let part: Delta?
  /// Whether recording the version of the device would change the scope, which
  /// exists.
  package fileprivate(set) var learnsFromVersion = false
}

// Reading for an exchange.
extension HubConnection {
  /// Returns the saves of a scope, and the fields ahead of them.
  package func version(of scope: String) throws(StoreError) -> ReplicaVersion {
    try read(scope, choosing: { try $0.readAhead() }) { replica, _ in
      replica.version
    }
  }

  /// Returns the saves of a scope that a version lacks, or a part of them.
  ///
  /// See ``Replica/delta(since:byteLimit:)``.
  ///
  /// - Parameter byteLimit: The maximum number of bytes of the records of a
  ///   part, or `nil` for one delta of all saves. Prefixes and fields ahead of
  ///   the version always follow in parts.
  package func delta(
    since basis: ReplicaVersion, byteLimit: Int? = nil, in scope: String
  ) throws(StoreError) -> Delta? {
    var (missing, limit) = (nil as MissingChanges?, byteLimit)
    return try read(scope) { reader in
      if limit == nil {
        let changes = reader.missingChanges(since: basis, as: .intervals)
        if !changes.intervals.isEmpty {
          missing = changes
          return try reader.readTouched(
            since: changes, limit: limits.recordsPerDelta)
        }
      }
      let part = limit ?? .max
      limit = part
      missing = try readPart(since: basis, byteLimit: part, in: &reader)
    } body: { replica, _ in
      // If the scope does not exist, no changes are missing.
      missing.flatMap {
        replica.delta(of: $0, byteLimit: limit)
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
      reportIfKnown(version, of: device, to: replica, rows)
    }
  }

  /// Returns the report for a version that does not change a replica, or `nil`.
  private func reportIfKnown(
    _ version: ReplicaVersion, of device: DeviceID, to replica: Replica,
    _ rows: HubRows
  ) -> MergeReport? {
    let head = StoredHead(replica.state)
    let report = replica.recordVersion(
      version, of: device, counting: rows.devices.keys)
    return head == StoredHead(replica.state) ? report : nil
  }

  /// Reads the records of the next part for a version.
  private func readPart(
    since basis: ReplicaVersion, byteLimit: Int, in reader: inout RowReader
  ) throws -> MissingChanges {
    let changes = reader.missingChanges(since: basis, as: .part)
    let end = try reader.readPart(
      of: changes, byteLimit: byteLimit, recordLimit: limits.recordsPerDelta)
    return changes.ending(at: end)
  }

  /// Reads a scope for a device, in one transaction.
  ///
  /// - Parameters:
  ///   - shown: The version of the device.
  ///   - device: The device, or `nil` if its version is not recorded.
  ///   - byteLimit: The maximum number of bytes of the part.
  package func state(
    of scope: String, for shown: ReplicaVersion, of device: DeviceID?,
    byteLimit: Int
  ) throws(StoreError) -> HubState {
    var missing: MissingChanges?
    return try read(scope) { reader in
      missing = try readPart(since: shown, byteLimit: byteLimit, in: &reader)
      // These records can follow the last one of the part.
      try reader.readAhead()
      try reader.readBuiltIn()
    } body: { replica, rows in
      var state = HubState(
        version: replica.version,
        part: missing.flatMap { replica.delta(of: $0, byteLimit: byteLimit) })
      // If the scope does not exist, nothing was read.
      if let device, missing != nil {
        let report = reportIfKnown(shown, of: device, to: replica, rows)
        state.learnsFromVersion = report == nil
      }
      return state
    }
  }
}
