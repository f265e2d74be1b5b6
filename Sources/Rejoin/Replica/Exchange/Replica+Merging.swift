// SPDX-License-Identifier: Apache-2.0

extension Replica {
  /// Creates a delta of what this replica has seen and `basis` has not.
  ///
  /// It has every field with a save beyond `basis`, complete with its clock,
  /// and for each device the interval of saves whose effects are in them.
  ///
  /// - Parameter basis: The receiver's ``version``, or any earlier one.
  /// - Returns: The delta; `nil` if `basis` contains everything.
  /// - Complexity: O(*k* log *k*) for *k* changed fields, whatever the size of
  ///   the replica.
  public func delta(since basis: ReplicaVersion) -> Delta? {
    var known = basis.vector
    var ahead = basis.fieldsAhead
    var intervals: [DeviceID: Delta.Interval] = [:]
    stored.version.forEachDifference(from: basis) { device, held, shown in
      var (from, to) = (shown.sequence, held)
      if stored.isForked(device, as: shown) {
        // Under the same numbers the two histories have different saves, so the
        // receiver's number says nothing: send everything of the device.
        (from, known[device], ahead) = (0, 0, [:])
        to.isForked = true
      }
      if from < to.sequence { intervals[device] = .init(from: from, to: to) }
    }
    // A delta may reach other replicas than the one that showed `basis`. If
    // they apply an interval, all fields that its saves touched must be in the
    // delta, also those that this receiver holds ahead of its version.
    ahead = ahead.mapValues { saves in
      VectorClock(
        sorted: saves.entries.filter { intervals[$0.device] == nil })
    }
    let locations = stored.locations(
      since: known, of: intervals.keys, ahead: ahead)
    stored._checkInvariants()
    if locations.isEmpty, intervals.isEmpty { return nil }
    var fragments: [FieldLocation: Fragment] = [:]
    if !stored.large.isEmpty {
      for location in locations {
        fragments[location] = stored.fragment(at: location, since: known)
      }
    }
    return Delta(
      MessageContent(
        stored.records, stored.names, at: locations, fragments: fragments),
      intervals)
  }

  /// Creates a delta of everything that this replica holds.
  ///
  /// - Returns: The delta; `nil` if the replica is empty.
  public func delta() -> Delta? { delta(since: ReplicaVersion()) }

  /// Joins the state of another replica, and acknowledges its version.
  ///
  /// - Complexity: That of the delta that is missing here.
  @discardableResult
  public func merge(
    _ other: Replica, reporting detail: MergeReport.Detail = .full
  ) -> MergeReport {
    // First, because it may flag a device as forked, which widens the delta.
    var report = acknowledge(other.version, by: other.device)
    if let delta = other.delta(since: version) {
      report.add(apply(delta, reporting: detail))
    }
    return report
  }

  /// Joins a delta.
  ///
  /// A delta may arrive late, twice, in parts, through other replicas, or
  /// before its predecessors. Its fields are always joined. ``version``
  /// advances by each interval that continues the saves held here; any other
  /// interval leaves a gap, which is reported. Applying a delta creates no dot
  /// and never changes the device.
  ///
  /// - Parameters:
  ///   - delta: A delta of another replica, or a part of it.
  ///   - detail: How much to report.
  /// - Returns: What changed, and what went wrong.
  /// - Complexity: O(*k*) for *k* fields that are in the delta or ahead of the
  ///   version.
  @discardableResult
  public func apply(
    _ delta: Delta, reporting detail: MergeReport.Detail = .full
  ) -> MergeReport {
    delta.read { reader throws(WireError) in
      try stored.join(&reader, schema, now: wallClock.now, reporting: detail)
    }
  }

  /// Joins an encoded delta, snapshot or record without copying its bytes.
  ///
  ///     try data.withUnsafeBytes { try replica.apply(decoding: $0) }
  ///
  /// - Precondition: The bytes do not change during the call, as those of a
  ///   mapped file might.
  /// - Returns: What changed, and what went wrong.
  /// - Throws: ``WireError``, with the offset and what was expected there. On
  ///   error, the replica is unchanged.
  /// - Complexity: O(*n*) for *n* bytes.
  @discardableResult
  public func apply(
    decoding bytes: UnsafeRawBufferPointer,
    reporting detail: MergeReport.Detail = .full
  ) throws(WireError) -> MergeReport {
    var reader = try MessageReader(bytes, as: [.delta, .snapshot, .record])
    let histories = try reader.validate()
    return try stored.join(
      &reader, and: histories, schema, now: wallClock.now, reporting: detail)
  }
}

extension StoredReplica {
  /// The fields with saves beyond `known`, except those whose saves the
  /// receiver holds ahead of its version.
  ///
  /// - Parameter devices: Those of which the version has later saves.
  fileprivate mutating func locations(
    since known: VectorClock, of devices: some Sequence<DeviceID>,
    ahead held: [UInt64: VectorClock]
  ) -> [FieldLocation] {
    // A field ahead of the version may have seen saves of any device.
    let devices = ahead.isEmpty ? Array(devices) : index.devices
    let locations = index.locations(since: known, of: devices) {
      [records] device, at in
      records.lastSave(of: device, at: at)
    }
    if held.isEmpty { return locations }
    return locations.filter { location in
      guard let held = held[digest(of: location)], let state = self[location]
      else { return true }
      return !state.clock.isContained(in: known.merging(held))
    }
  }
}
