// SPDX-License-Identifier: Apache-2.0

/// The changes that a receiver lacks, found by sequence numbers alone.
package struct MissingChanges: Sendable {
  /// The saves that the receiver is assumed to have, except those of forked
  /// devices.
  package private(set) var known: VectorClock
  /// The end of the prefix that this delta continues, or `nil` without a
  /// prefix.
  package private(set) var after: RecordID?
  /// The saves of each device that the version contains and the receiver lacks.
  package private(set) var intervals: [DeviceID: SaveInterval] = [:]
  /// The fields that the receiver has ahead of its version and does not need
  /// again.
  private var ahead: [UInt64: VectorClock]
  /// The saves that only the receiver's first records contain.
  private var prefixes: [DeviceID: ReplicaVersion.DevicePrefix] = [:]

  fileprivate init(
    in stored: ReplicaState, since basis: ReplicaVersion, inParts: Bool
  ) {
    (known, ahead) = (basis.vectorClock, basis.fieldsAhead)
    var hasForks = false
    stored.version.forEachDifference(from: basis) { device, held, shown in
      var (from, to) = (shown.sequence, held)
      let prefix = basis.devicePrefixes[device]?.save
      // The flag of a prefix outlasts the digest that showed the fork.
      if stored.mayDiffer(device, from: shown)
        || prefix?.isForked ?? false
      {
        // Two histories have different saves under the same numbers. The
        // receiver's number proves nothing, so send all saves of the device.
        (from, known[device], hasForks) = (0, 0, true)
      }
      // The receiver detects the fork if the interval ends at a number that it
      // has with another digest. The digests of earlier own saves are known.
      let own =
        stored.ownSave(contradicting: shown, of: device)
        ?? prefix.flatMap { stored.ownSave(contradicting: $0, of: device) }
      if let own { to = own }
      if from < to.sequence { intervals[device] = .init(from: from, to: to) }
    }
    if hasForks { ahead = [:] }
    if inParts { goOn(since: basis, in: stored) }
    if after == nil, !hasForks { prefixes = basis.devicePrefixes }
    // The delta may also reach replicas that did not show `basis`. If they
    // apply an interval, the delta must contain all fields that its saves
    // touched, including those that this receiver has ahead of its version.
    ahead = ahead.mapValues { [intervals] in $0.without(intervals) }
  }

  /// Limits the changes to the rest of a prefix, if the receiver has a useful
  /// one.
  ///
  /// The rest consists of the prefix's saves in the records after it. Newer
  /// saves follow in another delta, because they may change records of the
  /// prefix.
  private mutating func goOn(
    since basis: ReplicaVersion, in stored: ReplicaState
  ) {
    var continued: [DeviceID: SaveInterval] = [:]
    for (device, interval) in intervals {
      guard let prefix = basis.devicePrefixes[device],
        let to = stored.end(of: interval, of: device, in: prefix, since: basis),
        to.sequence > interval.from
      else { continue }
      continued[device] = .init(from: interval.from, to: to)
      after = min(after ?? prefix.through, prefix.through)
    }
    if after != nil { intervals = continued }
  }

  /// Returns whether the receiver has a prefix of a device, or the delta has an
  /// interval of this device.
  fileprivate func holds(
    _ prefix: ReplicaVersion.DevicePrefix, of device: DeviceID
  ) -> Bool {
    if intervals[device] != nil { return true }
    guard let held = prefixes[device] else { return false }
    return prefix.save.sequence <= held.save.sequence
      && prefix.through <= held.through
  }

  /// Returns whether the receiver lacks a field.
  ///
  /// - Parameter digest: The field's key in ``ReplicaVersion/fieldsAhead``.
  func lacks(
    _ clock: @autoclosure () -> VectorClock, in record: RecordID,
    _ digest: @autoclosure () -> UInt64
  ) -> Bool {
    if let after, record <= after { return false }
    if ahead.isEmpty, prefixes.isEmpty { return true }
    let ahead = ahead.isEmpty ? nil : ahead[digest()]
    // A join of the clocks would depend on the number of all devices.
    return clock().entries.contains { entry in
      var held = max(known[entry.device], ahead?[entry.device] ?? 0)
      if let prefix = prefixes[entry.device], record <= prefix.through,
        intervals[entry.device] == nil
      {
        held = max(held, prefix.save.sequence)
      }
      return entry.count > held
    }
  }
}

extension VectorClock {
  /// Returns the entries of devices without an interval.
  fileprivate func without(
    _ intervals: [DeviceID: SaveInterval]
  ) -> VectorClock {
    VectorClock(sorted: entries.filter { intervals[$0.device] == nil })
  }
}

extension ReplicaState {
  /// Returns the end of an interval that continues a prefix, or `nil` if no
  /// interval can.
  fileprivate func end(
    of interval: SaveInterval, of device: DeviceID,
    in prefix: ReplicaVersion.DevicePrefix, since basis: ReplicaVersion
  ) -> DeviceSave? {
    // Later own saves are of another incarnation.
    if isLaterOwnSave(prefix.save, of: device) { return nil }
    // The digests of earlier own saves can also reveal a fork.
    let isForked =
      mayDiffer(device, from: basis[device])
      || mayDiffer(device, from: prefix.save)
    let end = prefix.save.common(with: interval.to, isForked: isForked)
    // The flag of the prefix is only a claim of the receiver.
    return end?.isForked ?? false ? interval.to : end
  }

  /// Returns the changes that a receiver at `basis` lacks.
  ///
  /// - Parameter inParts: Whether to continue from a prefix of `basis`.
  package func missingChanges(
    since basis: ReplicaVersion, inParts: Bool = false
  ) -> MissingChanges {
    MissingChanges(in: self, since: basis, inParts: inParts)
  }

  /// Returns the delta with the missing changes.
  ///
  /// - Parameter withAhead: Whether to include the fields whose missing saves
  ///   are all ahead of the version.
  package mutating func delta(
    of missing: MissingChanges, withAhead: Bool = true
  ) -> Delta? {
    _checkInvariants()
    let locations = missingFields(
      missing, of: devices(with: missing, withAhead: withAhead))
    if locations.isEmpty, missing.intervals.isEmpty { return nil }
    return delta(at: locations, of: missing, through: nil)
  }

  /// Returns the missing fields that have seen saves of some devices, each
  /// once.
  mutating func missingFields(
    _ missing: MissingChanges, of devices: [DeviceID]
  ) -> [FieldPosition] {
    index.locations(since: missing.known, of: devices).filter { location in
      missing.lacks(
        self[location]?.clock ?? VectorClock(),
        in: records[Int(location.record)].id, digest(of: location))
    }
  }

  /// Returns the devices whose saves may be missing.
  ///
  /// A field ahead of the version can contain saves of any device. A part that
  /// continues a prefix contains only the devices of the prefix.
  func devices(with missing: MissingChanges, withAhead: Bool) -> [DeviceID] {
    let devices = Array(missing.intervals.keys)
    if !withAhead || missing.after != nil { return devices }
    if !ahead.isEmpty { return index.devices }
    // The other fields are missing only if a prefix is.
    return devices
      + version.devicePrefixes.filter { !missing.holds($1, of: $0) }.map(\.key)
  }

  /// Creates a delta of fields.
  mutating func delta(
    at locations: [FieldPosition], of missing: MissingChanges,
    through: RecordID?
  ) -> Delta {
    var fragments: [FieldPosition: Fragment] = [:]
    if !largeFields.isEmpty {
      for location in locations {
        fragments[location] = fragment(at: location, since: missing.known)
      }
    }
    let range = RecordRange(after: missing.after, through: through)
    return Delta(
      MessageContent(records, names, at: locations, fragments: fragments),
      missing.intervals, range: range.isWhole ? nil : range)
  }
}
