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
  /// The last save of a device that the receiver's first records contain, and
  /// the last of these records.
  private var prefixes: [DeviceID: (save: UInt64, through: RecordID)] = [:]

  fileprivate init(
    in stored: ReplicaState, since basis: ReplicaVersion, inParts: Bool
  ) {
    (known, ahead) = (basis.vectorClock, basis.fieldsAhead)
    var hasForks = false
    stored.version.forEachDifference(from: basis) { device, held, shown in
      var (from, to) = (shown.sequence, held)
      if stored.mayDiffer(device, from: shown) {
        // Two histories have different saves under the same numbers. The
        // receiver's number proves nothing, so send all saves of the device.
        (from, known[device], hasForks) = (0, 0, true)
        // The receiver detects the fork if the interval ends at a number that
        // it has with another digest. The digests of earlier own saves are
        // known.
        if let own = stored.ownSave(contradicting: shown, of: device) {
          to = own
        }
      }
      if from < to.sequence { intervals[device] = .init(from: from, to: to) }
    }
    if hasForks { ahead = [:] }
    if inParts { goOn(since: basis, in: stored) }
    if after == nil, !hasForks {
      for prefix in basis.prefixes {
        for entry in prefix.vectorClock.without(intervals).entries {
          prefixes[entry.device] = (entry.count, prefix.through)
        }
      }
    }
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
    for prefix in basis.prefixes {
      for (device, save) in prefix.saves.entries {
        // The digests of earlier own saves can also reveal a fork.
        let isForked =
          stored.mayDiffer(device, from: basis[device])
          || stored.mayDiffer(device, from: save)
        guard let interval = intervals[device],
          let to = interval.to.common(with: save, isForked: isForked),
          to.sequence > interval.from
        else { continue }
        continued[device] = .init(from: interval.from, to: to)
        // The prefixes are sorted, so the first one ends before all others.
        after = after ?? prefix.through
      }
    }
    if after != nil { intervals = continued }
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
      if let prefix = prefixes[entry.device], record <= prefix.through {
        held = max(held, prefix.save)
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
    !withAhead || missing.after != nil
      || ahead.isEmpty && version.prefixes.isEmpty
      ? Array(missing.intervals.keys) : index.devices
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
