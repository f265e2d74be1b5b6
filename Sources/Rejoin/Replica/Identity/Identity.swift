// SPDX-License-Identifier: Apache-2.0

/// The devices that only this replica saves under, and the evidence that their
/// saves are its own.
///
/// The identity is stored with the replica and never sent to another one.
package struct Identity: Equatable, Sendable {
  /// The device ID of the replica's saves.
  let device: DeviceID
  /// The device that `device` replaced, or `nil` after a save retired it.
  var predecessor: DeviceID?
  /// The last local save before a peer revealed later saves under the own ID.
  ///
  /// Once set, it stays until the replica takes a new device. Saves that are
  /// joined in the meantime are another incarnation's and must not move it
  /// forward.
  var lastSaveBeforeRollback: UInt64?
  /// The last token of `device` that is known to be stored outside all backups.
  var durableToken: RestoreToken?
  /// The digests of the latest saves of `device`.
  package internal(set) var ownDigests = OwnDigests()
  /// The device that stands for each server in the pulls of this installation.
  private(set) var pullDevices: [SchemaName: DeviceID] = [:]
  /// The values of `pullDevices`.
  private var pulling: Set<DeviceID> = []
  /// The earlier devices of this installation, the last one at the end.
  private(set) var formerDevices: [DeviceID] = []

  /// The maximum number of former devices.
  static let formerLimit = 16

  /// Creates the identity of a device without saves.
  ///
  /// - Parameter formerDevices: The earlier devices of the installation, at
  ///   most ``formerLimit``.
  init(_ device: DeviceID, after formerDevices: [DeviceID] = []) {
    (self.device, self.formerDevices) = (device, formerDevices)
  }

  /// The devices that only this replica saves under now.
  var savingDevices: [DeviceID] { [device] + pullDevices.values }

  /// The earlier devices and those that stand for servers.
  var otherDevices: [DeviceID] {
    formerDevices + pullDevices.values.sorted()
  }

  /// Returns whether only this replica saves under a device.
  func isOurs(_ device: DeviceID) -> Bool {
    device == self.device || pulling.contains(device)
  }

  /// Returns whether this installation saves under a device, or did so earlier.
  func contains(_ device: DeviceID) -> Bool {
    isOurs(device) || formerDevices.contains(device)
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
  /// The digest of the durable token is kept separately, beyond the limit of
  /// `ownDigests`. The token is therefore recognized regardless of its age.
  func digest(ofSave n: UInt64) -> UInt64? {
    if let digest = ownDigests[n] { return digest }
    return durableToken?.sequence == n ? durableToken?.digest : nil
  }
}

// Functions that depend on the version of the replica.
extension Identity {
  /// Returns whether another incarnation is known to use an own ID.
  @inline(__always)
  func needsNewDeviceID(at version: ReplicaVersion) -> Bool {
    lastSaveBeforeRollback != nil
      || version.hasForks && savingDevices.contains { version[$0].isForked }
  }

  /// Returns the number of saves of the pull devices.
  ///
  /// The number only grows while the device stays the same, so a smaller one
  /// reveals a backup from before a pull. Unlike local saves, pulls have no
  /// digests here.
  func pullCount(at version: ReplicaVersion) -> UInt64 {
    pullDevices.values.reduce(0) { $0 &+ version[$1].sequence }
  }

  /// Records that a peer shows later saves of an own device.
  ///
  /// This state may then be a restored backup or a clone.
  ///
  /// - Returns: The last local save before the first such record.
  mutating func recordRollback(at version: ReplicaVersion) -> Dot {
    let first = lastSaveBeforeRollback ?? version[device].sequence
    lastSaveBeforeRollback = first
    return Dot(device, first)
  }

  /// Returns the device that a save must retire because its own device replaced
  /// it.
  ///
  /// If the device was replaced several times, only the first one has saves:
  /// the first save under a later one retires it.
  @inline(__always)
  func deviceToRetire(
    inSaveBy new: DeviceID, at version: ReplicaVersion
  ) -> DeviceID? {
    if let predecessor { return predecessor }
    return new != device && version[device].sequence > 0 ? device : nil
  }

  /// Replaces a device that is or may be in use elsewhere by one without saves.
  ///
  /// The pull devices are removed as well: two replicas that share a device ID
  /// also share its pull devices.
  ///
  /// - Parameter others: More devices of this installation, whose saves the
  ///   version lacks.
  mutating func replaceDevice(
    by new: DeviceID, at version: ReplicaVersion, besides others: [DeviceID]
  ) {
    let old = deviceToRetire(inSaveBy: new, at: version)
    self = Identity(new, after: former(at: version, besides: others))
    predecessor = old
  }

  /// Adds devices whose saves this installation has lost.
  mutating func addFormerDevices(_ devices: [DeviceID]) {
    formerDevices = devices.suffix(Identity.formerLimit)
  }

  /// Returns the former devices after a change of the device.
  private func former(
    at version: ReplicaVersion, besides others: [DeviceID] = []
  ) -> [DeviceID] {
    let saved = savingDevices.filter { version[$0].sequence > 0 }
    let new = saved.sorted() + others.filter { !saved.contains($0) }
    return (formerDevices + new.filter { !formerDevices.contains($0) })
      .suffix(Identity.formerLimit)
  }

  /// Records a save, which retired the predecessor.
  ///
  /// - Parameter version: The version that includes the save.
  mutating func recordSave(
    by new: DeviceID, digest: UInt64, at version: ReplicaVersion
  ) {
    if new != device { self = Identity(new, after: former(at: version)) }
    predecessor = nil
    ownDigests.append(digest)
    // Every device on the roster holds the saves below the cut, so none will
    // show a lower number again. A token that was created after the last stored
    // one may still name such a save. Drop the digests at the next save, not
    // when the cut rises: the version that raises it may belong to another
    // history.
    ownDigests.forget(
      through: min(version.stabilityCut[new], durableToken?.sequence ?? 0))
  }

  /// Returns whether the digests end with the last local save, the devices are
  /// distinct, and no field has seen saves of theirs beyond the version.
  ///
  /// After another replica saves as one of them, its saves are here as well,
  /// and the identity needs a new device ID.
  func agrees(with version: ReplicaVersion, _ index: ChangeIndex) -> Bool {
    needsNewDeviceID(at: version)
      || ownDigests.end(with: version[device].sequence)
        && Set(savingDevices).count == savingDevices.count
        && savingDevices.allSatisfy {
          index.last(of: $0) <= version[$0].sequence
        }
  }
}

/// The digests of a device's latest saves.
///
/// They show whether a peer's version belongs to this history of the device or
/// to another one.
package struct OwnDigests: Equatable, Sendable {
  /// The maximum number of digests, regardless of the stability cut.
  ///
  /// They take 32 KiB. The digests cannot reveal a fork that started earlier.
  static let limit: UInt64 = 4_096

  /// The number of the last save whose digest was dropped.
  package private(set) var floor: UInt64

  /// The digests of the saves after `floor`, in order, at most `limit`.
  ///
  /// Not empty after the device's first save, because a token is compared with
  /// the digest of the last save.
  package private(set) var digests: [UInt64]

  init(above floor: UInt64 = 0, _ digests: [UInt64] = []) {
    (self.floor, self.digests) = (floor, digests)
  }

  /// The digest of the save with number `n`, or `nil` if it is not kept.
  subscript(n: UInt64) -> UInt64? {
    guard n > floor, n - floor <= UInt64(digests.count) else { return nil }
    return digests[Int(n - floor) - 1]
  }

  /// Returns whether the last digest is that of the save with number `last`.
  func end(with last: UInt64) -> Bool {
    let (end, overflow) = floor.addingReportingOverflow(UInt64(digests.count))
    return !overflow && end == last && (last == 0) == digests.isEmpty
  }

  /// Adds the digest of the next save, and drops the oldest above the limit.
  ///
  /// - Complexity: Amortized O(1), because half of the digests are dropped
  ///   together.
  mutating func append(_ digest: UInt64) {
    digests.append(digest)
    if digests.count > OwnDigests.limit {
      forget(through: floor + OwnDigests.limit / 2)
    }
  }

  /// Drops the digests of the saves up to `n`, except that of the last save.
  mutating func forget(through n: UInt64) {
    let count = min(Int(clamping: n - min(n, floor)), digests.count - 1)
    guard count > 0 else { return }
    digests.removeFirst(count)
    floor += UInt64(count)
  }
}

extension OwnDigests {
  #if REJOIN_CHECK_INVARIANTS
    /// Checks that at most `limit` digests are kept, and at least one if some
    /// were dropped.
    func _checkInvariants() {
      precondition(
        digests.count <= Int(OwnDigests.limit),
        "\(digests.count) own digests are kept, more than the limit")
      precondition(
        floor == 0 || !digests.isEmpty,
        "the digest of the last own save, \(floor), was dropped")
    }
  #else
    func _checkInvariants() {}
  #endif
}
