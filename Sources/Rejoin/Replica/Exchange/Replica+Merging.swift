// SPDX-License-Identifier: Apache-2.0

extension Replica {
  /// What this replica holds that `basis` does not: every field that has a save
  /// beyond it, complete, and which saves that makes.
  ///
  /// - Parameter basis: The receiver's clock, or any earlier one.
  /// - Returns: `nil` if there is nothing.
  /// - Complexity: O(*k* log *k*) for *k* changed fields, whatever the replica
  ///   holds.
  public func delta(since basis: ReplicaVersion) -> Delta? {
    var known = basis.vector
    var ahead = basis.fieldsAhead
    var intervals: [DeviceID: Delta.Interval] = [:]
    for entry in stored.version.vector.entries {
      let shown = basis[entry.device]
      var held = stored.version[entry.device]
      if stored.isForked(entry.device, as: shown), held != shown {
        // One history may lack what the other has under the same numbers.
        (known[entry.device], ahead) = (0, [:])
        held.isForked = true
      }
      guard known[entry.device] < held.sequence else { continue }
      intervals[entry.device] = .init(from: known[entry.device], to: held)
    }
    // An interval vouches for every field that its saves touched, also to others
    // than those for whom the delta is.
    ahead = ahead.mapValues { saves in
      VectorClock(
        sorted: saves.entries.filter { intervals[$0.device] == nil })
    }
    let changes = stored.changes(since: known, ahead: ahead)
    if changes.isEmpty, intervals.isEmpty { return nil }
    return Delta(changes: changes, intervals: intervals)
  }

  /// Everything the replica holds, as a delta from nothing.
  ///
  /// - Returns: `nil` if there is nothing.
  public func delta() -> Delta? { delta(since: ReplicaVersion()) }

  /// Joins the whole state of another replica.
  ///
  /// - Complexity: That of what the other holds and this one does not.
  @discardableResult
  public func merge(
    _ other: Replica, reporting detail: MergeReport.Detail = .full
  ) -> MergeReport {
    var report = acknowledge(other.version, by: other.device)
    if let delta = other.delta(since: version) {
      report.add(apply(delta, reporting: detail))
    }
    return report
  }

  /// Joins a delta.
  ///
  /// A delta may come late, twice, split, by way of others, or without those before
  /// it. Its fields are joined in any case. The clock advances by each interval
  /// that begins at what is already here; another leaves a gap, which is reported.
  /// Receiving creates no save and never changes the device.
  ///
  /// - Parameters:
  ///   - delta: What another replica's ``delta(since:)`` gave, or a part of it.
  ///   - detail: How much the report is to tell.
  /// - Returns: What changed, and what went wrong.
  /// - Complexity: O(*k*) for the *k* fields in the delta, and those that are ahead
  ///   of the clock.
  @discardableResult
  public func apply(
    _ delta: Delta, reporting detail: MergeReport.Detail = .full
  ) -> MergeReport {
    join(delta, detail)
  }

  /// Joins a delta, a snapshot or a single record where its bytes are, without a
  /// copy of them.
  ///
  ///     try data.withUnsafeBytes { try replica.apply(decoding: $0) }
  ///
  /// - Precondition: Nobody changes the bytes meanwhile: beware of mapped files.
  /// - Returns: What ``apply(_:reporting:)`` returns.
  /// - Throws: ``WireError``, with the place and what should have been there; the
  ///   replica is then unchanged.
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
    if stored.ours.contains(where: { latest[$0] > stored.version[$0].sequence })
    {
      noteRollback(&report)
    }
    let now = wallClock.now
    content.visit { change in
      join(change, detail: detail, into: &report, &joined)
    } interval: { device, interval in
      if interval.to.sequence > stored.version[device].sequence {
        stored.hybrid.receive(interval.to.time, now: now)
      }
      advance(device, interval, into: &report)
    }
    stored.noteAhead(joined)
    return report
  }

  private func advance(
    _ device: DeviceID, _ interval: Delta.Interval,
    into report: inout MergeReport
  ) {
    see(interval.to, of: device, &report)
    let held = stored.version[device].sequence
    guard stored.version.advance(by: interval, of: device) else {
      return report.gaps.append(
        .init(device: device, held: held, assumed: interval.from))
    }
    if let last = retiredNumber(of: device), held <= last,
      interval.to.sequence > last
    {
      report.returned.insert(device)
    }
  }

  private func join(
    _ change: Delta.Change, detail: MergeReport.Detail,
    into report: inout MergeReport, _ joined: inout [ChangeIndex.Location]
  ) {
    let position = stored.intern(change.id)
    let definition = schema[change.id.entity]
    func join(_ key: FieldKey, _ state: FieldState) {
      stored.update(key, at: position) { mine in
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
      // A report tells the same things in the same order, wherever it is made.
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

  /// The fields with saves beyond `known`, but for those that the receiver holds
  /// ahead of its clock.
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
