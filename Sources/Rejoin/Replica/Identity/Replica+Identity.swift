// SPDX-License-Identifier: Apache-2.0

// Detecting that a device ID is in use twice, and replacing our own.
extension Replica {
  /// Makes a device ID, and checks that it has never been used.
  func unusedDevice() throws(SaveError) -> DeviceID {
    let device = makeDeviceID()
    guard stored.isUnused(device) else { throw .identityInUse(device) }
    return device
  }

  /// Replaces the device by one that has never saved.
  ///
  /// - Parameter token: The last token that was stored.
  func takeDevice(_ device: DeviceID, of token: RestoreToken?) {
    recordChange(to: device, of: token)
    stored.identity.replaceDevice(by: device, at: stored.version)
  }

  /// Records a change of the device ID before the change is made.
  func recordChange(to device: DeviceID, of token: RestoreToken?) {
    let old = stored.device
    deviceChange = DeviceChange(
      old: old, new: device,
      lastStored: stored.identity.lastSaveBeforeRollback
        ?? stored.version[old].sequence,
      lastSent: token?.device == old ? token?.sequence : nil)
  }

  /// Records that this replica starts anew because its installation lost
  /// everything that it stored, except the token.
  package func recordLoss(of token: RestoreToken) {
    deviceChange = DeviceChange(
      old: token.device, new: device, lastStored: 0, lastSent: token.sequence)
  }
}

extension ReplicaState {
  /// Compares the last save of an interval that is joined with the one held
  /// here, and marks the device as forked if they belong to different histories.
  ///
  /// They do if one number has two digests. They also do if the interval has a
  /// later save of an own device than the replica holds.
  mutating func detectReusedIdentity(
    _ shown: DeviceSave, of device: DeviceID, _ report: inout MergeReport
  ) {
    let held = version[device]
    let isLaterOwn = shown.sequence > held.sequence && identity.isOurs(device)
    guard isLaterOwn || mayDiffer(device, from: shown) else { return }
    if isLaterOwn {
      report.lastSaveBeforeRollback = identity.recordRollback(at: version)
      return fork(identity.ownDevices, &report)
    }
    // The flag is joined by "or" and never cleared: nothing is left to learn.
    if held.isForked { return }
    // Of other devices only the latest digest is here, of our own also earlier.
    let here =
      device == self.device
      ? identity.digest(ofSave: shown.sequence)
      : held.sequence == shown.sequence ? held.digest : nil
    if let here, shown.excludes(here) {
      // The first number that is seen to have two digests: the fork itself is
      // there or earlier.
      report.equivocations.insert(Dot(device, shown.sequence))
    }
    fork([device], &report)
  }

  /// Flags devices as forked, except those that have never saved: they have no
  /// history that could have forked.
  mutating func fork(_ devices: [DeviceID], _ report: inout MergeReport) {
    for device in devices
    where version[device].sequence > 0
      && !version[device].isForked
    {
      version.fork(device)
      report.forkedDevices.insert(device)
    }
  }

  /// Whether a shown save may belong to another history of a device than the one
  /// held here, by its digest or by a mark that either side has.
  func mayDiffer(_ device: DeviceID, from shown: DeviceSave) -> Bool {
    let held = version[device]
    if held.isForked || shown.isForked || held.contradicts(shown) {
      return true
    }
    return ownSave(contradicting: shown, of: device) != nil
  }

  /// The own save with the number of a shown one, if its digest is known and
  /// another.
  ///
  /// Only the last timestamp is known. It is later than that of the save, which
  /// does no harm.
  func ownSave(
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

  /// Whether no save of a device is known, so that it can become ours.
  ///
  /// The version does not suffice: a field may have seen a save beyond it.
  func isUnused(_ device: DeviceID) -> Bool {
    device != self.device && lastKnownSave(of: device) == 0
  }
}
