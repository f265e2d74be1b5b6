// SPDX-License-Identifier: Apache-2.0

struct JoinedField {
  let location: FieldPosition
  /// The save of the received state, or `nil` unless the state is a single
  /// write.
  let save: Dot?
}

extension ReplicaState {
  /// Joins a delta or a snapshot.
  mutating func apply(
    _ records: inout RecordReader, _ schema: Schema, now: Int64,
    reporting detail: MergeReport.Detail
  ) -> MergeReport {
    var (report, refused) = (MergeReport(), [] as [RefusedPart])
    let (head, recordedCount) = (records.head, index.recordedCount)
    let former = prefixes(of: head.saves)
    detectRollback(head.saves, &report)
    let joined = join(&records, schema, detail, &report, &refused)
    // Advance the version last: an interval guarantees that the fields contain
    // its saves.
    let hasGrown = advance(head, without: refused, now: now, &report)
    let shrunk = former.filter { !version.implies($1, of: $0) }.map(\.key)
    recordAhead(joined, hasAdvanced: hasGrown, shrunk: shrunk)
    report.hasAdvanced =
      hasGrown || !shrunk.isEmpty || index.recordedCount > recordedCount
      || !report.forkedDevices.isEmpty
    _checkInvariants()
    report._checkInvariants()
    return report
  }

  /// Returns the prefixes that a message can change.
  ///
  /// A rollback changes those of the own devices.
  private func prefixes(
    of saves: SaveTable
  ) -> [DeviceID: ReplicaVersion.DevicePrefix] {
    if version.devicePrefixes.isEmpty { return [:] }
    let devices = identity.savingDevices + saves.intervals.map { $0.0 }
    return devices.reduce(into: [:]) {
      $0[$1] = version.devicePrefixes[$1]
    }
  }

  /// Detects a rollback: the message has later saves of this device than the
  /// replica.
  ///
  /// Call this before the version advances, because the message may add saves
  /// of another incarnation.
  private mutating func detectRollback(
    _ saves: SaveTable, _ report: inout MergeReport
  ) {
    guard hasLaterSavesOfOurs(saves) else { return }
    report.lastSaveBeforeRollback = identity.recordRollback(at: version)
    fork(identity.savingDevices, &report)
  }

  /// Advances the version by the intervals of a message.
  ///
  /// - Returns: Whether the version or a prefix grew.
  private mutating func advance(
    _ head: MessageHead, without refused: [RefusedPart], now: Int64,
    _ report: inout MergeReport
  ) -> Bool {
    // Ignore an interval if a part that it covers was refused.
    let intervals = head.saves.intervals.filter { device, interval in
      // Receive only unseen times: a delta that arrives twice must not change
      // anything.
      if interval.to.sequence > version.lastKnownSave(of: device) {
        hybrid.receive(interval.to.time, now: now)
      }
      return !isBlocked(interval, of: device, for: refused)
    }
    let range = head.range ?? RecordRange()
    // Detect all forks first: an interval of a forked device must start at
    // zero.
    for (device, interval) in intervals {
      detectReusedIdentity(
        interval.to, of: device, isLastPart: range.through == nil, &report)
    }
    var saves = LatestSaves()
    for (device, shown) in intervals {
      var save = shown.to
      save.isForked = isForked(shown, of: device, in: range)
      let interval = SaveInterval(from: shown.from, to: save)
      if continues(interval, of: device, &report) {
        saves.insert(save, of: device)
      }
    }
    let returning = saves.entries.filter { device, save in
      retiredNumber(of: device).map {
        version[device].sequence <= $0 && $0 < save.sequence
      } ?? false
    }
    let forked = version.forkedDevices(of: saves)
    let result = version.advance(by: saves, in: range)
    // The last part flags a device whose fork an earlier one showed.
    report.forkedDevices.formUnion(
      version.forkedDevices(of: saves).subtracting(forked))
    for (device, save) in result.refused.entries {
      report.gaps.append(
        .init(
          device: device, lastHeldSave: version[device].sequence,
          lastAssumedSave: save.sequence, through: range.after))
    }
    for (device, save) in returning where version.contains(save, of: device) {
      report.reactivatedDevices.insert(device)
    }
    return result.hasGrown
  }

  /// Returns whether a message has later saves of an own device than the
  /// version.
  ///
  /// - Complexity: O(*d* log *d*), where *d* is the number of devices in the
  ///   message.
  private func hasLaterSavesOfOurs(_ saves: SaveTable) -> Bool {
    func hasLaterSaves(of device: DeviceID) -> Bool {
      saves.latest(of: device) > version[device].sequence
    }
    if hasLaterSaves(of: device) { return true }
    // Search the shorter list: a message may have few devices, and an
    // installation may pull from many servers.
    return identity.pullDevices.count < saves.lines.count
      ? identity.pullDevices.values.contains(where: hasLaterSaves)
      : saves.lines.contains {
        identity.isOurs($0.device) && hasLaterSaves(of: $0.device)
      }
  }

  /// Returns whether an interval may belong to either of two histories of a
  /// device.
  ///
  /// An earlier part may have flagged only the prefix. A whole delta from the
  /// first save on then also joins two histories. If it starts later, it
  /// continues the version, which has only one history.
  private func isForked(
    _ interval: SaveInterval, of device: DeviceID, in range: RecordRange
  ) -> Bool {
    mayDiffer(device, from: interval.to)
      || version.hasPrefix(of: device, contradicting: interval.to)
      || version.hasForkedPrefix(of: device)
        && (!range.isWhole || interval.from == 0)
  }

  /// Returns whether an interval continues the saves in the version.
  ///
  /// Otherwise, it reports a gap, unless the device is forked and the interval
  /// ends at or before the version's last save.
  private func continues(
    _ interval: SaveInterval, of device: DeviceID, _ report: inout MergeReport
  ) -> Bool {
    if version.isContinued(by: interval, of: device) { return true }
    let held = version[device]
    let isForked = held.isForked || interval.to.isForked
    if !isForked || interval.to.sequence > held.sequence {
      // The saves in between may touch fields that the delta lacks.
      report.gaps.append(
        .init(
          device: device, lastHeldSave: held.sequence,
          lastAssumedSave: interval.from))
    }
    return false
  }

  /// Joins the records of a message.
  ///
  /// - Returns: The joined fields.
  mutating func join(
    _ message: inout RecordReader, _ schema: Schema,
    _ detail: MergeReport.Detail, _ report: inout MergeReport,
    _ refused: inout [RefusedPart]
  ) -> [JoinedField] {
    var joined: [JoinedField] = []
    joined.reserveCapacity(message.head.fieldCount)
    if records.isEmpty { records.reserveCapacity(message.head.recordCount) }
    while message.nextEntity() {
      let entity = message.table.name
      let rule = schema.deletion(of: entity)
      let fields = message.table.columns.map { column in
        let key = column.key
        return (
          number: names.intern(key), kind: key.kind,
          isMismatch: schema.isMismatch(key, in: entity),
          isQuiet: detail != .faults && schema.isQuiet(key, in: entity)
        )
      }
      while message.nextRecord() {
        let id = message.table.record
        var next = message.nextField()
        // Do not create a record for a fragment yet, because it may be refused.
        var position =
          message.isAtFragment ? positions[id] : intern(id)
        if let position {
          records[position].reserve(message.table.fields.count)
        }
        var former = FormerExistence()
        if detail != .faults, let position {
          former = FormerExistence(
            records[position], hasMarks: message.table.hasExistence)
        }
        while let (index, state) = next {
          defer { next = message.nextField() }
          let field = fields[index]
          if let fragment = message.fragment(state) {
            let location = join(
              fragment, of: id, field.number, detail, &report, &refused)
            guard let location else { continue }
            joined.append(JoinedField(location: location, save: nil))
            position = Int(location.record)
          } else {
            let record = position ?? intern(id)
            position = record
            let location = FieldPosition(
              record: UInt32(record), name: field.number)
            join(
              state, at: location, field.kind, isQuiet: field.isQuiet, detail,
              &report)
            joined.append(
              JoinedField(location: location, save: state.onlyWrite?.dot))
          }
          if field.isMismatch {
            report.kindMismatches.insert(
              .init(record: id, field: names[field.number]))
          }
        }
        if detail != .faults, let position {
          report.recordExistence(
            of: records[position], since: former, under: rule)
        }
      }
    }
    return joined
  }

  /// Joins a field and reports the changes.
  private mutating func join(
    _ theirs: FieldState, at location: FieldPosition, _ kind: FieldKind,
    isQuiet: Bool, _ detail: MergeReport.Detail, _ report: inout MergeReport
  ) {
    let position = Int(location.record)
    if detail == .faults, !records[position].has(location.name) {
      return add(theirs, at: location)
    }
    let index =
      detail == .faults
      ? nil
      : FieldLocation(
        record: records[position].id, field: names[location.name])
    join(theirs, at: location, kind: kind) { mine in
      report.recordEquivocations(mine, theirs)
      guard let index else { return mine.merge(theirs) }
      report.join(
        theirs, into: &mine, at: index, isQuiet: isQuiet,
        keepingValues: detail == .changesWithValues)
    }
  }
}

extension MergeReport {
  /// Records the dots that have different payloads in two states.
  ///
  /// Call this before the join, which keeps only one payload for each dot.
  mutating func recordEquivocations(
    _ mine: FieldState, _ theirs: FieldState
  ) {
    // If the save is unseen, the states cannot share its dot.
    if let save = theirs.onlyWrite?.dot,
      mine.lastSave(of: save.device) < save.sequence
    {
      return
    }
    let found = mine.equivocations(with: theirs)
    if !found.isEmpty { equivocations.formUnion(found) }
  }
}
