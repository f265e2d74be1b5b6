// SPDX-License-Identifier: Apache-2.0

// The saves of one device, for readers whose versions are not known.
extension Replica {
  /// Returns a delta of one device's saves.
  ///
  /// It has one interval, so a reader that has the saves before it can apply it. Each
  /// field is complete, so the delta needs no other one. Fields with saves beyond the
  /// vector clock of this replica come along, because no replica may ever have all
  /// saves of their devices.
  ///
  /// - Parameters:
  ///   - device: The device.
  ///   - sequence: The last save that the delta omits. Pass zero for a forked device,
  ///     whose numbers stand for two histories.
  /// - Returns: The delta, or `nil` if the replica has no later saves of the device.
  /// - Complexity: O(*k* log *k* + *d*), where *k* is the number of fields in the
  ///   delta and *d* is the number of devices.
  package func delta(
    ofSavesBy device: DeviceID, after sequence: UInt64
  ) -> Delta? {
    hasExported = true
    return current.delta(ofSavesBy: device, after: sequence)
  }
}

extension ReplicaState {
  fileprivate mutating func delta(
    ofSavesBy device: DeviceID, after sequence: UInt64
  ) -> Delta? {
    _checkInvariants()
    let last = version[device]
    if last.sequence <= sequence { return nil }
    var known = version.vectorClock
    known[device] = sequence
    let locations = index.locations(since: known, of: index.devices)
    return Delta(
      MessageContent(records, names, at: locations),
      [device: SaveInterval(from: sequence, to: last)])
  }
}
