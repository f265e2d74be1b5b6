// SPDX-License-Identifier: Apache-2.0

/// What a replica has beyond a version that was shown to it, by numbers alone.
package struct MissingChanges: Hashable, Sendable {
  /// The saves that the receiver is taken to know: of a forked device none.
  package private(set) var known: VectorClock
  /// The fields that the receiver holds ahead of its version, and need not get.
  fileprivate var ahead: [UInt64: VectorClock]
  /// For each device, the saves that are in the version here and are new.
  package private(set) var intervals: [DeviceID: SaveInterval] = [:]

  fileprivate init(in stored: ReplicaState, since basis: ReplicaVersion) {
    (known, ahead) = (basis.vectorClock, basis.fieldsAhead)
    stored.version.forEachDifference(from: basis) { device, held, shown in
      var (from, to) = (shown.sequence, held)
      if stored.mayDiffer(device, from: shown) {
        // Two histories have different saves under the same numbers. The
        // receiver's number proves nothing, so send everything of the device.
        (from, known[device], ahead) = (0, 0, [:])
        // The receiver finds the fork if the interval ends at a number that it
        // holds with another digest. The digests of earlier own saves are known.
        if let own = stored.ownSave(contradicting: shown, of: device) {
          to = own
        }
      }
      if from < to.sequence { intervals[device] = .init(from: from, to: to) }
    }
    // A delta may reach other replicas than the one that showed `basis`. If
    // they apply an interval, all fields that its saves touched must be in the
    // delta, also those that this receiver holds ahead of its version.
    ahead = ahead.mapValues { [intervals] saves in
      VectorClock(
        sorted: saves.entries.filter { intervals[$0.device] == nil })
    }
  }
}

extension ReplicaState {
  /// What is here and not in `basis`.
  package func missingChanges(since basis: ReplicaVersion) -> MissingChanges {
    MissingChanges(in: self, since: basis)
  }

  /// Returns the delta with the missing changes.
  ///
  /// - Parameter withAhead: Whether to include the fields whose unseen saves
  ///   are all ahead of the version.
  package mutating func delta(
    of missing: MissingChanges, withAhead: Bool = true
  ) -> Delta? {
    // A field ahead of the version may have seen saves of any device.
    let locations = locations(
      since: missing.known,
      of: !withAhead || ahead.isEmpty
        ? Array(missing.intervals.keys) : index.devices)
    if missing.ahead.isEmpty {
      return delta(at: locations, since: missing.known, missing.intervals)
    }
    let lacking = locations.filter { location in
      guard let held = missing.ahead[digest(of: location)],
        let state = self[location]
      else { return true }
      return !state.clock.isContained(in: missing.known.merging(held))
    }
    return delta(at: lacking, since: missing.known, missing.intervals)
  }

  /// Makes the delta of the records here, which are some of those with missing changes.
  ///
  /// - Parameter isLast: Whether all others have been sent, so that the intervals
  ///   can be vouched for.
  package mutating func page(of missing: MissingChanges, isLast: Bool) -> Delta?
  {
    // They may have seen saves since the missing changes were asked for.
    let locations = locations(since: missing.known, of: index.devices)
    return delta(
      at: locations, since: missing.known, isLast ? missing.intervals : [:])
  }

  private mutating func delta(
    at locations: [FieldPosition], since known: VectorClock,
    _ intervals: [DeviceID: SaveInterval]
  ) -> Delta? {
    _checkInvariants()
    if locations.isEmpty, intervals.isEmpty { return nil }
    var fragments: [FieldPosition: Fragment] = [:]
    if !large.isEmpty {
      for location in locations {
        fragments[location] = fragment(at: location, since: known)
      }
    }
    return Delta(
      MessageContent(records, names, at: locations, fragments: fragments),
      intervals)
  }

  /// The fields with saves of some devices beyond `known`.
  private mutating func locations(
    since known: VectorClock, of devices: [DeviceID]
  ) -> [FieldPosition] {
    index.locations(since: known, of: devices) { [records] device, at in
      records.lastSave(of: device, at: at)
    }
  }
}
