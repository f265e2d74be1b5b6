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
  package let learnsFromVersion: Bool
}

extension HubConnection {
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
      let changes = reader.missingChanges(since: shown, as: .part)
      let end = try reader.readPart(
        of: changes, byteLimit: byteLimit, recordLimit: limits.recordsPerDelta)
      missing = changes.ending(at: end)
      // These records can follow the last one of the part.
      try reader.readAhead()
      try reader.readBuiltIn()
    } body: { replica, rows in
      let version = replica.version
      let part = missing.flatMap {
        replica.delta(of: $0, byteLimit: byteLimit)
      }
      guard let device, missing != nil else {
        return HubState(version: version, part: part, learnsFromVersion: false)
      }
      let head = StoredHead(replica.state)
      _ = replica.recordVersion(
        shown, of: device, counting: rows.devices.keys)
      return HubState(
        version: version, part: part,
        learnsFromVersion: head != StoredHead(replica.state))
    }
  }
}
