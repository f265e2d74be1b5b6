// SPDX-License-Identifier: Apache-2.0

/// The devices under which only this replica saves, and the evidence that their
/// saves are its own.
///
/// It is stored with the replica and never sent to another one.
package struct Identity: Equatable, Sendable {
  /// The device under which the replica saves.
  let device: DeviceID
  /// The device that `device` replaced, until a save has retired it.
  var predecessor: DeviceID?
  /// The last local save before a peer revealed later ones under our ID.
  ///
  /// Once set, it stays until the replica takes a new device. Saves joined in
  /// the meantime are another incarnation's and must not move it forward.
  var lastSaveBeforeRollback: UInt64?
  /// The last token of `device` known to be stored outside every backup.
  var durableToken: RestoreToken?
  /// The digests of the latest saves of `device`.
  package internal(set) var ownDigests = OwnDigests()
  /// For each server, the device that stands for it in the pulls of this
  /// installation.
  private(set) var pullDevices: [SchemaName: DeviceID] = [:]
  /// The values of `pullDevices`.
  private var pulling: Set<DeviceID> = []

  /// Creates the identity of a device that has never saved.
  init(_ device: DeviceID) { self.device = device }

  /// The devices under which only this replica saves.
  var ownDevices: [DeviceID] { [device] + pullDevices.values }

  /// Returns whether only this replica saves under a device.
  func isOurs(_ device: DeviceID) -> Bool {
    device == self.device || pulling.contains(device)
  }

  /// Sets the device that stands for a server, or removes it if it is `nil`.
  mutating func setPullDevice(_ device: DeviceID?, for server: SchemaName) {
    if let old = pullDevices[server] { pulling.remove(old) }
    pullDevices[server] = device
    if let device { pulling.insert(device) }
  }

  /// The identity without the digests, which change with every save.
  var withoutDigests: Identity {
    var copy = self
    copy.ownDigests = OwnDigests()
    return copy
  }

  /// Returns the digest of a local save, or `nil` if it is not kept.
  ///
  /// That of the durable token is kept apart, beyond the limit of `ownDigests`:
  /// the token must be recognized however many saves ago it was stored.
  func digest(ofSave n: UInt64) -> UInt64? {
    if let digest = ownDigests[n] { return digest }
    return durableToken?.sequence == n ? durableToken?.digest : nil
  }
}

// What depends on the version of the replica.
extension Identity {
  /// Returns whether another incarnation is known to use an ID of ours.
  @inline(__always)
  func needsNewDeviceID(at version: ReplicaVersion) -> Bool {
    lastSaveBeforeRollback != nil
      || version.hasForks && ownDevices.contains { version[$0].isForked }
  }

  /// Returns the number of saves that the pull devices have made.
  ///
  /// It only grows while the device stays the same, so a smaller one reveals a
  /// backup from before a pull. Pulls have no digests here, unlike local saves.
  func pullCount(at version: ReplicaVersion) -> UInt64 {
    pullDevices.values.reduce(0) { $0 &+ version[$1].sequence }
  }

  /// Records that a peer shows later saves of an own device: this state may be a
  /// restored backup or a clone.
  ///
  /// - Returns: The last local save before the first time.
  mutating func recordRollback(at version: ReplicaVersion) -> Dot {
    let first = lastSaveBeforeRollback ?? version[device].sequence
    lastSaveBeforeRollback = first
    return Dot(device, first)
  }

  /// Returns the device that a save has to retire, because its own device
  /// replaced it.
  ///
  /// Of several replaced devices only the first has saved: a save under a later
  /// one would have retired it.
  @inline(__always)
  func deviceToRetire(
    inSaveBy new: DeviceID, at version: ReplicaVersion
  ) -> DeviceID? {
    if let predecessor { return predecessor }
    return new != device && version[device].sequence > 0 ? device : nil
  }

  /// Replaces the device by one that has never saved, because it is or may be in
  /// use elsewhere.
  ///
  /// The pull devices go, too: whatever gave the old ID to two replicas gave
  /// theirs to both as well.
  mutating func replaceDevice(by new: DeviceID, at version: ReplicaVersion) {
    let old = deviceToRetire(inSaveBy: new, at: version)
    self = Identity(new)
    predecessor = old
  }

  /// Records a save, which has retired the predecessor.
  ///
  /// - Parameter version: The version, with the save.
  mutating func recordSave(
    by new: DeviceID, digest: UInt64, at version: ReplicaVersion
  ) {
    if new != device { self = Identity(new) }
    predecessor = nil
    ownDigests.append(digest)
    // Every device on the roster holds the saves below the cut, so none will show
    // a lower number again. A token that was taken since the last one was stored
    // may still name one. The digests go with the next save. When the cut rises is
    // too early: the version that raises it may be of another history.
    ownDigests.forget(
      through: min(version.stabilityCut[new], durableToken?.sequence ?? 0))
  }

  /// Returns whether the digests end with the last local save, the devices are
  /// distinct, and no field has seen a later save of theirs than the version.
  ///
  /// Once another replica saves as one of them, its saves are here as well.
  func agrees(with version: ReplicaVersion, _ index: ChangeIndex) -> Bool {
    needsNewDeviceID(at: version)
      || ownDigests.end(with: version[device].sequence)
        && Set(ownDevices).count == ownDevices.count
        && ownDevices.allSatisfy { index.last(of: $0) <= version[$0].sequence }
  }
}
