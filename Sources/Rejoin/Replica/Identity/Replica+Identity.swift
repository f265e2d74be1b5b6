// SPDX-License-Identifier: Apache-2.0

// Detection of device IDs that are in use twice, and replacement of the own ID.
extension Replica {
  /// Returns a new device ID, or throws if it was used before.
  func unusedDevice() throws(SaveError) -> DeviceID {
    let device = makeDeviceID()
    guard current.isUnused(device) else { throw .identityInUse(device) }
    return device
  }

  /// Replaces the device by one without saves.
  ///
  /// - Parameters:
  ///   - token: The last stored token.
  ///   - others: More devices of this installation, whose saves are not here.
  func takeDevice(
    _ device: DeviceID, of token: RestoreToken?, besides others: [DeviceID] = []
  ) {
    recordChange(to: device, of: token)
    let lost = (token?.devices ?? []).filter { !others.contains($0) }
    current.identity.replaceDevice(
      by: device, at: current.version, besides: lost + others)
  }

  /// Records a change of the device ID before it happens.
  func recordChange(to device: DeviceID, of token: RestoreToken?) {
    let old = current.device
    deviceChange = DeviceChange(
      old: old, new: device,
      lastStored: current.identity.lastSaveBeforeRollback
        ?? current.version[old].sequence,
      lastSent: token?.device == old ? token?.sequence : nil)
  }

  /// Records that this replica starts anew because its installation lost all
  /// stored data except the token.
  package func recordLoss(of token: RestoreToken) {
    deviceChange = DeviceChange(
      old: token.device, new: device, lastStored: 0, lastSent: token.sequence)
    current.identity.addFormerDevices(token.devices)
  }

  /// The devices that this installation saved under.
  ///
  /// The set contains the current ``device``, up to 16 earlier ones, and the
  /// devices that stand for servers in
  /// ``importRows(from:modifiedAt:_:)``. A server that checks who may send
  /// which saves allows these devices for the user:
  ///
  ///     phone.ownDevices  // [phone.device]
  ///
  /// Send the set to the server at the first contact and after each
  /// ``deviceChange``. After the first import of a server's rows, send it again.
  /// Imports with ``importRows(_:)`` belong to no installation
  /// (``DeviceID/isImport``).
  public var ownDevices: Set<DeviceID> {
    Set(current.identity.savingDevices + current.identity.formerDevices)
  }
}

// Saves that were sent and then undone.
extension Replica {
  /// Own saves that a store undoes after they were perhaps sent.
  package struct LostSaves {
    /// The token of the last of them.
    package let token: RestoreToken
    fileprivate let devices: [DeviceID]
  }

  /// Returns the own saves since `former`, or `nil` without one.
  package func ownSaves(since former: FormerReplica) -> LostSaves? {
    let devices = current.identity.savingDevices.filter {
      current.version[$0].sequence > former.version[$0].sequence
    }
    return devices.isEmpty
      ? nil : LostSaves(token: restoreToken, devices: devices.sorted())
  }

  /// Takes a new device, because saves of the current one were sent and then
  /// undone.
  ///
  /// The numbers of these saves must not be used again.
  package func takeDevice(after lost: LostSaves) throws(SaveError) {
    takeDevice(try unusedDevice(), of: lost.token, besides: lost.devices)
  }

  /// Takes a new device at the next save.
  package func requireNewDevice() {
    _ = current.identity.recordRollback(at: current.version)
  }
}

extension RestoreToken {
  /// The devices of the installation, without a device that has no saves.
  fileprivate var devices: [DeviceID] {
    otherDevices + (sequence > 0 ? [device] : [])
  }
}

extension ReplicaState {
  /// Compares the last save of a joined interval with the stored one, and marks
  /// the device as forked if they belong to different histories.
  ///
  /// The histories differ if one number has two digests, or if the interval has
  /// a later save of an own device than the replica.
  ///
  /// - Parameter isLastPart: Whether no later part of a transfer follows.
  ///   Otherwise, only the prefix is flagged: if both versions were equal, the
  ///   sender would omit the rest.
  mutating func detectReusedIdentity(
    _ shown: DeviceSave, of device: DeviceID, isLastPart: Bool,
    _ report: inout MergeReport
  ) {
    let held = version[device]
    if isLaterOwnSave(shown, of: device) {
      report.lastSaveBeforeRollback = identity.recordRollback(at: version)
      return fork(identity.savingDevices, &report)
    }
    // The flag is never cleared, so another comparison cannot change it.
    if held.isForked { return }
    if version.hasPrefix(of: device, contradicting: shown) {
      // The prefix may lack the device's first saves, so flag the version. The
      // prefix has later saves, so the versions still differ.
      let digest = version.devicePrefixes[device]?.save.digest
      if let digest, shown.excludes(digest) {
        report.equivocations.insert(Dot(device, shown.sequence))
      }
      return fork([device], &report)
    }
    guard mayDiffer(device, from: shown) else { return }
    if !isLastPart, version.hasForkedPrefix(of: device) { return }
    // The replica keeps earlier digests of its own device, and only the latest
    // digest of each other device.
    let here =
      device == self.device
      ? identity.digest(ofSave: shown.sequence)
      : held.sequence == shown.sequence ? held.digest : nil
    if let here, shown.excludes(here) {
      // This is the first number that is seen with two digests. The fork is
      // there or earlier.
      report.equivocations.insert(Dot(device, shown.sequence))
    }
    if isLastPart { fork([device], &report) }
  }

  /// Returns whether a save is a later one of an own device than the replica
  /// has.
  func isLaterOwnSave(_ shown: DeviceSave, of device: DeviceID) -> Bool {
    shown.sequence > version[device].sequence && identity.isOurs(device)
  }

  /// Returns whether a version shows a later save of an own device than the
  /// replica has.
  ///
  /// - Complexity: O(*k* + *s* log *r*), where *k* is the number of fields
  ///   ahead of the shown version, *s* is the number of servers pulled from,
  ///   and *r* is the number of devices in the version.
  func isBehind(_ shown: ReplicaVersion) -> Bool {
    identity.savingDevices.contains {
      shown.lastKnownSave(of: $0) > version[$0].sequence
    }
      || shown.fieldsAhead.values.contains { saves in
        saves.entries.contains {
          $0.count > version[$0.device].sequence && identity.isOurs($0.device)
        }
      }
  }

  /// Marks devices as forked, except those without saves, which have no
  /// history.
  mutating func fork(_ devices: [DeviceID], _ report: inout MergeReport) {
    for device in devices
    where version[device].sequence > 0
      && !version[device].isForked
    {
      version.fork(device)
      report.forkedDevices.insert(device)
    }
  }

  /// Returns whether a shown save may belong to another history of a device
  /// than the stored one.
  ///
  /// It may if the digests differ or either side has a mark of a fork.
  func mayDiffer(_ device: DeviceID, from shown: DeviceSave) -> Bool {
    let held = version[device]
    if held.isForked || shown.isForked || held.contradicts(shown) {
      return true
    }
    return ownSave(contradicting: shown, of: device) != nil
  }

  /// Returns the own save with the number of a shown one, if its digest is
  /// known and different.
  ///
  /// The result has the timestamp of the last save, because no other is known.
  /// It is later than the save's own, which does no harm.
  package func ownSave(
    contradicting shown: DeviceSave, of device: DeviceID
  ) -> DeviceSave? {
    let held = version[device]
    guard device == self.device, !held.isForked, !shown.isForked,
      let digest = identity.digest(ofSave: shown.sequence)
    else { return nil }
    let own = DeviceSave(
      sequence: shown.sequence, time: held.time, digest: digest)
    return own.contradicts(shown) ? own : nil
  }

  /// Returns whether no save of a device is known, so the replica can take its
  /// ID.
  ///
  /// The version is not sufficient: a field may have seen a save beyond it.
  func isUnused(_ device: DeviceID) -> Bool {
    device != self.device && lastKnownSave(of: device) == 0
  }
}
