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
  func takeDevice(_ device: DeviceID) {
    deviceChange = DeviceChange(old: stored.device, new: device)
    stored.replaceDevice(by: device)
  }
}

extension StoredReplica {
  /// Compares the save of a device that a peer shows with the one held here,
  /// and flags the device as forked if they belong to different histories.
  ///
  /// They do if one number has two digests. They also do if the peer shows a
  /// later save of a device that is ours; our next save then takes a new
  /// device.
  mutating func detectReusedIdentity(
    _ shown: DeviceSave, of device: DeviceID, _ report: inout MergeReport
  ) {
    let held = version[device]
    guard isForked(device, as: shown) else { return }
    if shown.sequence > held.sequence, isOurs(device) {
      return noteRollback(&report)
    }
    // The flag is joined by "or" and never cleared: nothing is left to learn.
    if held.isForked { return }
    // Of other devices only the latest digest is here, of our own also earlier.
    let here =
      device == self.device
      ? ownDigest(of: shown.sequence)
      : held.sequence == shown.sequence ? held.digest : nil
    if let here, shown.excludes(here) {
      // The first number that is seen to have two digests: the fork itself is
      // there or earlier.
      report.equivocations.insert(Dot(device, shown.sequence))
    }
    fork([device], &report)
  }

  /// Notes that a peer has later saves under our ID: this state is a restored
  /// backup or a clone.
  ///
  /// Only the first time sets ``MergeReport/rollbackDetected``: saves of ours
  /// that are joined after it are another incarnation's.
  mutating func noteRollback(_ report: inout MergeReport) {
    let first = rollbackDetected ?? version[device].sequence
    rollbackDetected = first
    report.rollbackDetected = Dot(device, first)
    fork(ours, &report)
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

  /// Whether the shown save reveals that a device has two histories.
  ///
  /// A later save of a device that is ours does: only another incarnation can
  /// have made it.
  func isForked(_ device: DeviceID, as shown: DeviceSave) -> Bool {
    let held = version[device]
    if held.isForked || shown.isForked || held.contradicts(shown) {
      return true
    }
    if shown.sequence > held.sequence { return isOurs(device) }
    guard device == self.device, shown.digest != 0,
      let own = ownDigest(of: shown.sequence)
    else { return false }
    return own != shown.digest
  }

  /// Whether no save of a device is known, so that it can become ours.
  ///
  /// The version does not suffice: a field may have seen a save beyond it.
  func isUnused(_ device: DeviceID) -> Bool {
    device != self.device && version[device].sequence == 0
      && index.last(of: device) == 0
  }

  /// Replaces the device by a new one, because it is or may be in use
  /// elsewhere.
  mutating func replaceDevice(by device: DeviceID) {
    // Of several replaced devices only the first has saved, and is to be
    // retired: a save under a later one would have retired it.
    if predecessor == nil, version[self.device].sequence > 0 {
      predecessor = self.device
    }
    resetIdentity(to: device)
  }
}
