// SPDX-License-Identifier: Apache-2.0

/// A fragment, or what of it was refused, and where.
struct RefusedPart {
  let location: FieldPosition?
  /// The last save of each device that has new ones in it.
  let news: VectorClock
}

// What is kept beside large fields.
extension ReplicaState {
  /// From how many elements, devices or entries on a field travels as fragments.
  ///
  /// From there on, all of it takes about twice as long and twice the bytes as one
  /// insertion (W17 of the benchmarks).
  package static let defaultFragmentSize = 32

  /// Makes a fragment of a large field.
  ///
  /// - Returns: `nil` if the field has to be sent as a whole.
  mutating func fragment(
    at location: FieldPosition, since known: VectorClock
  ) -> Fragment? {
    guard let state = self[location] else { return nil }
    // Of nothing that is known, a fragment would be the field; and what two
    // histories of one device have in common, no number says.
    let clock = state.clock
    let isKnown = clock.entries.contains { known[$0.device] > 0 }
    let isForked =
      version.hasForks
      && clock.entries.contains { version[$0.device].isForked }
    guard isKnown, !isForked else { return nil }
    return largeFields[location]?.fragment(of: state, since: known)
  }

  /// Keeps up what is kept beside a large field, after it has changed.
  ///
  /// - Parameters:
  ///   - isNew: Whether no save had touched it before.
  ///   - note: Takes the change into account.
  mutating func trackLargeField(
    at location: FieldPosition, isNew: Bool, _ note: (inout LargeField) -> Void
  ) {
    if largeFields[location] != nil {
      note(&largeFields[location, default: LargeField(horizon: VectorClock())])
    } else if let slot = records[Int(location.record)].slot(location.name),
      slot.size >= fragmentSize
    {
      var field = LargeField(
        horizon: isNew ? VectorClock() : slot.state.clock)
      note(&field)
      largeFields[location] = field
    }
  }
}

// Joining fragments.
extension ReplicaState {
  /// Joins what of a fragment need not be refused.
  ///
  /// - Returns: Where it was joined, if anything was.
  mutating func join(
    _ fragment: Fragment, of id: RecordID, _ name: UInt32,
    _ detail: MergeReport.Detail, _ report: inout MergeReport,
    _ refused: inout [RefusedPart]
  ) -> FieldPosition? {
    let place = FieldLocation(record: id, field: names[name])
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
      // The entries before it are not here, though the number says so: another
      // history of the device has them.
      if isHeld { fork([device], &report) }
      gaps.append(
        .init(
          device: device, lastHeldSave: last, lastAssumedSave: assumed,
          field: place))
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
    join(taken, at: location, place, detail, &report)
    return location
  }

  /// Whether a device's line of a ledger is as long here as a fragment assumes.
  private func follows(
    _ fragment: Fragment, of device: DeviceID, at location: FieldPosition?
  ) -> Bool {
    guard fragment.continued.contains(device),
      let theirs = fragment.state.store(of: Ledger.self)?.lines[device]
    else { return true }
    let mine = location.flatMap { self[$0]?.store(of: Ledger.self) }
    return mine?.lines[device].map { $0.count >= theirs.folded } ?? false
  }

  /// Joins a fragment, and reports what that changed.
  private mutating func join(
    _ fragment: Fragment, at location: FieldPosition,
    _ place: FieldLocation, _ detail: MergeReport.Detail,
    _ report: inout MergeReport
  ) {
    join(
      fragment.state, at: location, kind: place.field.kind,
      note: { $0.recordJoin(fragment, over: $1) }
    ) { mine in
      report.recordEquivocations(mine, fragment.state)
      if detail == .faults {
        mine.merge(fragment)
      } else {
        report.join(
          fragment, into: &mine, at: place,
          keepingValues: detail == .changesWithValues)
      }
    }
  }

  /// Whether an interval of saves waits for a part of a message that was refused.
  func isBlocked(
    _ interval: SaveInterval, of device: DeviceID, for refused: [RefusedPart]
  ) -> Bool {
    // One that does not continue what is here is a gap, in any case.
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
