// SPDX-License-Identifier: Apache-2.0

// Versions of one replica, as a peer shows them in an exchange.
extension ReplicaVersion {
  /// Returns whether this version has all saves and prefixes of an earlier version
  /// of the same replica, except for prefixes that a part replaced.
  ///
  /// It does, unless the replica was restored from a backup. A part of fewer saves
  /// than a prefix has can replace the prefix.
  ///
  /// - Parameter part: The part that the replica received in between, or `nil`.
  /// - Complexity: O(*r*), where *r* is the number of devices.
  package func continues(
    _ earlier: ReplicaVersion, after part: Delta? = nil
  ) -> Bool {
    if !earlier.saves.entries.allSatisfy({ contains($0.save, of: $0.device) }) {
      return false
    }
    let (end, intervals) = (part?.range?.through, part?.intervals ?? [:])
    return earlier.devicePrefixes.allSatisfy { device, prefix in
      if implies(prefix, of: device) { return true }
      guard let end, let held = devicePrefixes[device],
        let to = intervals[device]?.to
      else { return false }
      return held.through == end && held.save.sequence <= to.sequence
    }
  }

  /// Returns whether this version of a replica has saves that an earlier one lacks,
  /// other than those of a device.
  ///
  /// - Complexity: O(*r*), where *r* is the number of devices.
  package func hasReceived(
    since earlier: ReplicaVersion, besides own: DeviceID
  ) -> Bool {
    var hasReceived = devicePrefixes != earlier.devicePrefixes
    forEachDifference(from: earlier) { device, _, _ in
      if device != own { hasReceived = true }
    }
    return hasReceived
  }
}

extension ReplicaState {
  /// The number of devices with saves in the version or in a field.
  package var deviceCount: Int {
    Set(index.devices).union(version.vectorClock.entries.lazy.map(\.device))
      .count
  }
}
