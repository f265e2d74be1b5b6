// SPDX-License-Identifier: Apache-2.0

/// A refused fragment, or the refused part of one.
struct RefusedPart {
  let location: FieldPosition?
  /// The last new save of each device in the part.
  let news: VectorClock
}

// Tracking large fields.
extension ReplicaState {
  /// The minimum number of elements, devices or entries of a field that is sent
  /// as fragments.
  ///
  /// At this size, the whole field takes about twice the time and bytes of one
  /// insertion (W17 of the benchmarks).
  package static let defaultFragmentSize = 32

  /// Creates a fragment of a large field.
  ///
  /// - Returns: The fragment, or `nil` if the whole field must be sent.
  mutating func fragment(
    at location: FieldPosition, since known: VectorClock
  ) -> Fragment? {
    guard let state = self[location] else { return nil }
    // If the receiver knows no save of the field, a fragment would be the whole
    // field. If a device is forked, sequence numbers do not show which saves
    // its histories share.
    let clock = state.clock
    let isKnown = clock.entries.contains { known[$0.device] > 0 }
    let isForked =
      version.hasForks
      && clock.entries.contains { version[$0.device].isForked }
    guard isKnown, !isForked else { return nil }
    return largeFields[location]?.fragment(of: state, since: known)
  }

  /// Updates the data about a large field after a change.
  ///
  /// - Parameters:
  ///   - isNew: Whether the change is the first one of the field.
  ///   - note: A closure that records the change.
  mutating func trackLargeField(
    at location: FieldPosition, isNew: Bool,
    _ record: (inout LargeField) -> Void
  ) {
    if largeFields[location] != nil {
      record(
        &largeFields[location, default: LargeField(horizon: VectorClock())])
    } else if let slot = records[Int(location.record)].slot(location.name),
      slot.size >= fragmentSize
    {
      var field = LargeField(
        horizon: isNew ? VectorClock() : slot.state.clock)
      record(&field)
      largeFields[location] = field
    }
  }
}

// Joining fragments.
extension ReplicaState {
  /// Joins a fragment, except for the parts that must be refused.
  ///
  /// - Returns: The position of the field, or `nil` if the whole fragment was
  ///   refused.
  mutating func join(
    _ fragment: Fragment, of id: RecordID, _ name: UInt32,
    _ detail: MergeReport.Detail, _ report: inout MergeReport,
    _ refused: inout [RefusedPart]
  ) -> FieldPosition? {
    let index = FieldLocation(record: id, field: names[name])
    let held = positions[id].map {
      FieldPosition(record: UInt32($0), name: name)
    }
    let clock = held.flatMap { self[$0]?.clock } ?? VectorClock()
    var gaps: [MergeReport.Gap] = []
    for entry in fragment.state.clock.entries {
      let (device, assumed) = (entry.device, fragment.basis[entry.device])
      let last = max(clock[device], version[device].sequence)
      let isHeld = last >= assumed
      if isHeld, follows(fragment, of: device, at: held) { continue }
      // The earlier entries are missing, although the number suggests
      // otherwise: they belong to another history of the device.
      if isHeld { fork([device], &report) }
      gaps.append(
        .init(
          device: device, lastHeldSave: last, lastAssumedSave: assumed,
          field: index))
    }
    report.gaps += gaps
    var taken = fragment
    if !gaps.isEmpty {
      let missing = Set(gaps.map(\.device))
      let news = fragment.news
      let isRefused = fragment.isWhole
      refused.append(
        RefusedPart(
          location: held,
          news: isRefused
            ? news
            : VectorClock(
              sorted: news.entries.filter { missing.contains($0.device) })))
      let rest = Set(news.entries.map(\.device)).subtracting(missing)
      if isRefused || rest.isEmpty { return nil }
      taken = fragment.part(of: rest)
    }
    let location =
      held ?? FieldPosition(record: UInt32(intern(id)), name: name)
    join(taken, at: location, index, detail, &report)
    return location
  }

  /// Returns whether the ledger has as many entries of a device as a fragment
  /// assumes.
  private func follows(
    _ fragment: Fragment, of device: DeviceID, at location: FieldPosition?
  ) -> Bool {
    guard fragment.continued.contains(device),
      let theirs = fragment.state.store(of: Ledger.self)?.lines[device]
    else { return true }
    let mine = location.flatMap { self[$0]?.store(of: Ledger.self) }
    return mine?.lines[device].map { $0.count >= theirs.folded } ?? false
  }

  /// Joins a fragment and reports the changes.
  private mutating func join(
    _ fragment: Fragment, at location: FieldPosition,
    _ index: FieldLocation, _ detail: MergeReport.Detail,
    _ report: inout MergeReport
  ) {
    join(
      fragment.state, at: location, kind: index.field.kind,
      record: { $0.recordJoin(fragment, over: $1) }
    ) { mine in
      report.recordEquivocations(mine, fragment.state)
      if detail == .faults {
        mine.merge(fragment)
      } else {
        report.join(
          fragment, into: &mine, at: index,
          keepingValues: detail == .changesWithValues)
      }
    }
  }

  /// Returns whether an interval depends on a refused part of the message.
  func isBlocked(
    _ interval: SaveInterval, of device: DeviceID, for refused: [RefusedPart]
  ) -> Bool {
    // An interval that does not continue the version is a gap anyway.
    guard interval.from <= version[device].sequence else { return false }
    return refused.contains { part in
      let seen = part.location.map {
        records.lastSave(of: device, at: $0)
      }
      return min(interval.to.sequence, part.news[device])
        > max(seen ?? 0, version[device].sequence)
    }
  }
}
