//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

// Finding out that our ID, or another's, is in use twice, and taking a new one.
extension Replica {
  /// An ID that has never been used.
  func unusedDevice() throws(SaveError) -> DeviceID {
    let device = makeDeviceID()
    guard stored.isUnused(device) else { throw .identityInUse(device) }
    return device
  }

  /// Goes on under a new device.
  func takeDevice(_ device: DeviceID) {
    deviceChange = DeviceChange(old: stored.device, new: device)
    stored.replaceDevice(by: device)
  }

  /// Compares what somebody shows of a device with what is here.
  ///
  /// Where one number has two digests, two histories of the device exist, and it
  /// is flagged as forked; so is our own device where somebody has later saves of
  /// it than we. Our next save then takes a new one.
  func see(
    _ shown: DeviceSave, of device: DeviceID, _ report: inout MergeReport
  ) {
    let held = stored.clock[device]
    guard stored.isForked(device, as: shown) else { return }
    if shown.n > held.n, stored.ours.contains(device) {
      return noteRollback(&report)
    }
    if held.isForked { return }
    let own = device == self.device ? stored.ownDigest(of: shown.n) : nil
    // The digest of a device known to be forked is a union, and contradicts those
    // of saves that are there only once.
    if !shown.isForked,
      held.contradicts(shown) || own != nil && own != shown.digest
    {
      report.equivocations.insert(Dot(device, shown.n))
    }
    fork([device], &report)
  }

  /// Notes that somebody has later saves of ours than we: this state was restored
  /// from a backup, or is a clone.
  ///
  /// The first time counts: what is joined since then is another incarnation's.
  func noteRollback(_ report: inout MergeReport) {
    let first = stored.doubtful ?? stored.clock[device].n
    stored.doubtful = first
    report.doubtful = Dot(device, first)
    fork(stored.ours, &report)
  }

  private func fork(_ devices: [DeviceID], _ report: inout MergeReport) {
    for device in devices
    where stored.clock[device].n > 0 && !stored.clock[device].isForked {
      stored.clock.fork(device)
      report.forkedDevices.insert(device)
    }
  }
}

extension StoredReplica {
  /// Whether what is shown of a device says that it has two histories.
  ///
  /// Nobody can have later saves of ours than we, but for another incarnation.
  func isForked(_ device: DeviceID, as shown: DeviceSave) -> Bool {
    let held = clock[device]
    if held.isForked || shown.isForked || held.contradicts(shown) {
      return true
    }
    if shown.n > held.n { return ours.contains(device) }
    guard device == self.device, shown.digest != 0,
      let own = ownDigest(of: shown.n)
    else { return false }
    return own != shown.digest
  }

  /// Whether nothing is known of a device, so that it can be taken.
  func isUnused(_ device: DeviceID) -> Bool {
    device != self.device && clock[device].n == 0
      && index.last(of: device) == 0
  }

  /// Takes a new device in the place of one that is, or may be, in use elsewhere.
  mutating func replaceDevice(by device: DeviceID) {
    if predecessor == nil, clock[self.device].n > 0 {
      predecessor = self.device
    }
    become(device)
  }
}
