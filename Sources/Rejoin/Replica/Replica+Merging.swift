//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

extension Replica {
  /// What this replica knows that `basis` does not: every field that has a save
  /// beyond it, complete, and which saves that makes.
  ///
  /// - Parameter basis: The receiver's clock, or any earlier one. Saves of ours
  ///   that it knows and we do not are taken as a sign that our name is in use
  ///   elsewhere, as in ``apply(_:reporting:)``.
  /// - Returns: `nil` if there is nothing.
  /// - Complexity: O(*k* log *k*) for *k* changed fields, whatever the replica
  ///   holds.
  public func delta(since basis: ReplicaClock) -> Delta? {
    noticeOwnSaves(basis[device])
    var known = basis.vector
    var intervals: [DeviceID: Delta.Interval] = [:]
    for entry in stored.clock.vector.entries {
      let disputed = dispute(basis[entry.device], of: entry.device)
      if disputed != nil { known[entry.device] = 0 }
      guard known[entry.device] < entry.count else { continue }
      intervals[entry.device] = .init(
        from: known[entry.device], to: stored.clock[entry.device],
        disputed: disputed)
    }
    let changes = stored.changes(since: known)
    if changes.isEmpty, intervals.isEmpty { return nil }
    return Delta(changes: changes, intervals: intervals)
  }

  /// Everything the replica holds, as a delta from nothing.
  ///
  /// - Returns: `nil` if there is nothing.
  public func delta() -> Delta? { delta(since: ReplicaClock()) }

  /// Joins the whole state of another replica.
  ///
  /// - Complexity: That of what the other knows and this one does not.
  @discardableResult
  public func merge(
    _ other: Replica, reporting detail: MergeReport.Detail = .full
  ) -> MergeReport {
    var report = MergeReport()
    for released in acknowledge(other.clock, by: other.device) {
      report.add(released)
    }
    if let delta = other.delta(since: clock) {
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
  /// - Complexity: O(*k*) for the *k* fields in the delta.
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
  /// - Throws: ``WireError``, with the place and what should have been there;
  ///   nothing has changed then.
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
    if let retired = retiredDevice(beyondFinal: content) {
      let delta = content.delta.packed
      let isNew = stored.aside.allSatisfy { $0.encoded() != delta.encoded() }
      if isNew { stored.aside.append(delta) }
      (report.retired, report.keptAside) = (retired, delta)
      return report
    }
    lookForOwnSaves(in: content, into: &report)
    let now = wallClock.now
    content.visit { change in
      join(change, detail: detail, into: &report)
    } interval: { device, interval in
      if interval.to.n > stored.clock[device].n {
        stored.hybrid.receive(interval.to.time, now: now)
      }
      advance(device, interval, into: &report)
    }
    return report
  }

  private func advance(
    _ device: DeviceID, _ interval: Delta.Interval,
    into report: inout MergeReport
  ) {
    let held = stored.clock[device]
    if interval.from > held.n {
      stored.missing[device] = max(
        stored.missing[device] ?? 0, interval.to.n)
      report.gaps.append(
        .init(device: device, held: held.n, assumed: interval.from))
      return
    }
    var latest = interval.to
    let isDisputed = interval.disputed.map(held.contradicts) ?? false
    if isDisputed || held.contradicts(latest) {
      report.equivocations.insert(Dot(device, held.n))
      if device == self.device { stored.mustRenew = true }
      // So that whoever has met only one of the histories is sent the other.
      latest = latest.marked(by: held)
    }
    stored.clock.insert(latest, of: device)
  }

  private func join(
    _ change: Delta.Change, detail: MergeReport.Detail,
    into report: inout MergeReport
  ) {
    let position = stored.intern(change.id)
    let definition = schema[change.id.entity]
    func join(_ key: FieldKey, _ state: FieldState) {
      stored.update(key, at: position) { mine in
        report.equivocations.formUnion(mine.clashes(with: state))
        if detail == .faults {
          mine.merge(state)
        } else {
          report.join(
            state, into: &mine, at: .init(record: change.id, field: key),
            under: definition.deletion, keepingValues: detail == .values)
        }
      }
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
  }

  /// Notes what the message knows of our own saves.
  private func lookForOwnSaves(
    in content: some DeltaContent, into report: inout MergeReport
  ) {
    let shown = content.latest[device]
    let own = stored.clock[device]
    if shown > own.n {
      stored.mustRenew = true
      report.doubtful = Dot(device, own.n)
    }
  }

  /// Notes what another replica's clock knows of our own saves.
  func noticeOwnSaves(_ shown: ReplicaClock.Save) {
    if shown.n > stored.clock[device].n || dispute(shown, of: device) != nil {
      stored.mustRenew = true
    }
  }

  /// Our version of a save, where `shown` has its number and another history.
  ///
  /// Of our own device we remember every save, of others the last.
  private func dispute(
    _ shown: ReplicaClock.Save, of device: DeviceID
  ) -> ReplicaClock.Save? {
    var ours = stored.clock[device]
    if device == self.device, shown.n > 0, shown.n < ours.n,
      let digest = ownDigest(of: shown.n)
    {
      ours = ReplicaClock.Save(n: shown.n, time: .zero, digest: digest)
    }
    return ours.contradicts(shown) ? ours : nil
  }

  private func ownDigest(of n: UInt64) -> UInt64? {
    let place = Int(clamping: n) - 1
    return stored.ownDigests.indices.contains(place)
      ? stored.ownDigests[place] : nil
  }
}

extension StoredReplica {
  fileprivate mutating func changes(
    since known: VectorClock
  ) -> [Delta.Change] {
    let locations = index.locations(since: known) { [records] at, device in
      records[Int(at.record)][at.name]?.lastSave(of: device) ?? 0
    }
    var changes: [UInt32: Delta.Change] = [:]
    for location in locations {
      let record = records[Int(location.record)]
      guard let state = record[location.name] else { continue }
      let key = names.keys[Int(location.name)]
      changes[
        location.record, default: Delta.Change(id: record.id, fields: [:])
      ].fields[key] = state
    }
    return Array(changes.values)
  }
}
