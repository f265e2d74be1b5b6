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
    for entry in stored.version.vector.entries {
      let shown = basis[entry.device]
      var held = stored.version[entry.device]
      if stored.isForked(entry.device, as: shown), held != shown {
        // Under the same numbers the two histories have different saves, so the
        // receiver's number says nothing: send everything of the device.
        (known[entry.device], ahead) = (0, [:])
        held.isForked = true
      }
      guard known[entry.device] < held.sequence else { continue }
      intervals[entry.device] = .init(from: known[entry.device], to: held)
    }
    // A delta may reach other replicas than the one that showed `basis`. If
    // they apply an interval, all fields that its saves touched must be in the
    // delta, also those that this receiver holds ahead of its version.
    ahead = ahead.mapValues { saves in
      VectorClock(
        sorted: saves.entries.filter { intervals[$0.device] == nil })
    }
    let changes = stored.changes(since: known, ahead: ahead)
    stored._checkInvariants()
    if changes.isEmpty, intervals.isEmpty { return nil }
    return Delta(changes: changes, intervals: intervals)
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
    join(delta, detail)
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
    join(try BorrowedMessage(checking: bytes), detail)
  }

  private func join(
    _ content: some DeltaContent, _ detail: MergeReport.Detail
  ) -> MergeReport {
    var report = MergeReport()
    var joined: [ChangeIndex.Location] = []
    let latest = content.latest
    // Before anything is joined: afterwards the version may contain saves of
    // another incarnation. Fields count, too, since a part of a delta has no
    // intervals.
    if stored.ours.contains(where: { latest[$0] > stored.version[$0].sequence })
    {
      noteRollback(&report)
    }
    // Read once, so that one bound holds for all intervals.
    let now = wallClock.now
    content.visit { change in
      join(change, detail: detail, into: &report, &joined)
    } interval: { device, interval in
      // Only unseen saves: delivered twice, a delta must change nothing.
      if interval.to.sequence > stored.version[device].sequence {
        stored.hybrid.receive(interval.to.time, now: now)
      }
      advance(device, interval, into: &report)
    }
    stored.noteAhead(joined)
    stored._checkInvariants()
    report._checkInvariants()
    return report
  }

  /// Advances the version by an interval, whose fields have been joined.
  private func advance(
    _ device: DeviceID, _ interval: Delta.Interval,
    into report: inout MergeReport
  ) {
    // Before advancing: an interval of a forked device counts only from zero.
    detectReusedIdentity(interval.to, of: device, &report)
    let held = stored.version[device].sequence
    guard stored.version.advance(by: interval, of: device) else {
      // Some saves between may have touched fields that are not in the delta.
      return report.gaps.append(
        .init(device: device, held: held, assumed: interval.from))
    }
    if let last = retiredNumber(of: device), held <= last,
      interval.to.sequence > last
    {
      report.returned.insert(device)
    }
  }

  /// Joins the fields of one record.
  private func join(
    _ change: Delta.Change, detail: MergeReport.Detail,
    into report: inout MergeReport, _ joined: inout [ChangeIndex.Location]
  ) {
    let position = stored.intern(change.id)
    let definition = schema[change.id.entity]
    func join(_ key: FieldKey, _ state: FieldState) {
      stored.update(key, at: position) { mine in
        // Before merging, which keeps one of two payloads under one dot.
        report.equivocations.formUnion(mine.equivocations(with: state))
        if detail == .faults {
          mine.merge(state)
        } else {
          report.join(
            state, into: &mine, at: .init(record: change.id, field: key),
            under: definition.deletion, keepingValues: detail == .values)
        }
      }
      joined.append(stored.location(of: key, at: position))
      if definition.isMismatch(key) {
        report.kindMismatches.insert(.init(record: change.id, field: key))
      }
    }
    if detail != .faults {
      // Sorted, so that a report has the same order on every device.
      let fields = change.fields.sorted { $0.key < $1.key }
      for (key, state) in fields { join(key, state) }
    } else {
      for (key, state) in change.fields { join(key, state) }
    }
    stored.noteAliases(at: position)
  }
}

extension StoredReplica {
  func location(of key: FieldKey, at position: Int) -> ChangeIndex.Location {
    .init(
      record: UInt32(position), name: names.number(of: key) ?? 0)
  }

  /// The fields with saves beyond `known`, except those whose saves the
  /// receiver holds ahead of its version.
  fileprivate mutating func changes(
    since known: VectorClock, ahead: [UInt64: VectorClock]
  ) -> [Delta.Change] {
    let locations = index.locations(since: known) { [records] device, at in
      records.lastSave(of: device, at: at)
    }
    var changes: [UInt32: Delta.Change] = [:]
    for location in locations {
      guard let state = self[location] else { continue }
      if !ahead.isEmpty, let held = ahead[digest(of: location)],
        state.clock.isContained(in: known.merging(held))
      {
        continue
      }
      let record = records[Int(location.record)]
      changes[
        location.record, default: Delta.Change(id: record.id, fields: [:])
      ].fields[names.keys[Int(location.name)]] = state
    }
    return Array(changes.values)
  }
}
