// SPDX-License-Identifier: Apache-2.0

/// A field that was joined.
struct JoinedField {
  let location: FieldPosition
  /// The save that the joined state has seen, if it is just one.
  let save: Dot?
}

extension ReplicaState {
  /// Joins a validated message.
  ///
  /// - Parameter histories: Its sections, if they have been read.
  mutating func join(
    _ reader: inout MessageReader, and histories: Histories? = nil,
    _ schema: Schema, now: Int64, reporting detail: MergeReport.Detail
  ) throws(WireError) -> MergeReport {
    var (report, refused) = (MergeReport(), [] as [RefusedPart])
    let joined = try join(&reader, schema, detail, &report, &refused)
    let histories =
      if let histories { histories } else { try reader.readSections() }
    // Before the version advances: afterwards it may contain saves of another
    // incarnation. Fields count, too, since a part of a delta has no intervals.
    if hasLaterSavesOfOurs(reader.fields.saves) {
      report.lastSaveBeforeRollback = identity.noteRollback(at: version)
      fork(identity.ours, &report)
    }
    var hasAdvanced = false
    // Last, because they vouch for the fields.
    histories.forEachInterval(of: reader.fields.saves) { device, interval in
      // Only unseen saves: delivered twice, a delta must change nothing.
      if interval.to.sequence > version[device].sequence {
        hybrid.receive(interval.to.time, now: now)
      }
      // What was refused is missing from what the interval vouches for.
      if !waits(interval, of: device, for: refused),
        advance(device, interval, into: &report)
      {
        hasAdvanced = true
      }
    }
    noteAhead(joined, hasAdvanced: hasAdvanced)
    _checkInvariants()
    report._checkInvariants()
    return report
  }

  /// Whether a message has later saves of a device that is ours than the
  /// version.
  ///
  /// - Complexity: O(*d* log *d*), where *d* is the number of devices in the
  ///   message.
  private func hasLaterSavesOfOurs(_ saves: SaveTable) -> Bool {
    func hasLaterSaves(of device: DeviceID) -> Bool {
      saves.latest(of: device) > version[device].sequence
    }
    if hasLaterSaves(of: device) { return true }
    // A message may be of few devices, and an installation pull from many
    // servers.
    return identity.pullDevices.count < saves.lineCount
      ? identity.pullDevices.values.contains(where: hasLaterSaves)
      : (0..<saves.lineCount).lazy.map(saves.device)
        .contains { identity.isOurs($0) && hasLaterSaves(of: $0) }
  }

  /// Advances the version by an interval, whose fields have been joined.
  ///
  /// - Returns: Whether the version grew.
  private mutating func advance(
    _ device: DeviceID, _ interval: SaveInterval,
    into report: inout MergeReport
  ) -> Bool {
    // Before advancing: an interval of a forked device counts only from zero.
    detectReusedIdentity(interval.to, of: device, &report)
    let held = version[device].sequence
    guard version.advance(by: interval, of: device) else {
      // Some saves between may have touched fields that are not in the delta.
      report.gaps.append(
        .init(device: device, held: held, assumed: interval.from))
      return false
    }
    if let last = retiredNumber(of: device), held <= last,
      interval.to.sequence > last
    {
      report.reactivatedDevices.insert(device)
    }
    return interval.to.sequence > held
  }

  /// Joins the records of a validated message.
  ///
  /// - Returns: The fields that were joined.
  mutating func join(
    _ reader: inout MessageReader, _ schema: Schema,
    _ detail: MergeReport.Detail, _ report: inout MergeReport,
    _ refused: inout [RefusedPart]
  ) throws(WireError) -> [JoinedField] {
    var joined: [JoinedField] = []
    // Known if the message has just been validated.
    joined.reserveCapacity(reader.fieldCount)
    if records.isEmpty { records.reserveCapacity(reader.recordCount) }
    reader.begin(isBuilding: true)
    while try reader.nextEntity() {
      let entity = reader.table.name
      let rule = schema.deletion(of: entity)
      let fields = reader.table.columns.map {
        (
          number: names.intern($0.key), kind: $0.key.kind,
          isMismatch: schema.isMismatch($0.key, in: entity),
          isQuiet: detail != .faults && schema.isQuiet($0.key, in: entity)
        )
      }
      while try reader.nextRecord() {
        let id = RecordID(entity, reader.table.text)
        // A record of which all is refused does not come into being.
        var position = reader.table.hasFragments ? nil : intern(id)
        if let position { records[position].reserve(reader.table.fieldCount) }
        var former = FormerExistence()
        if detail != .faults, let position = position ?? positions[id] {
          former = FormerExistence(
            records[position], hasMarks: reader.table.hasExistence)
        }
        while let (place, state) = try reader.nextField() {
          let field =
            place < 0
            ? (number: 0, kind: .existence, isMismatch: false, isQuiet: true)
            : fields[place]
          if let fragment = Fragment(state, from: reader.fields) {
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
          report.noteExistence(
            of: records[position], since: former, under: rule)
        }
      }
    }
    return joined
  }

  /// Joins a field, and reports what that changed.
  private mutating func join(
    _ theirs: FieldState, at location: FieldPosition, _ kind: FieldKind,
    isQuiet: Bool, _ detail: MergeReport.Detail, _ report: inout MergeReport
  ) {
    let position = Int(location.record)
    if detail == .faults, !records[position].has(location.name) {
      return add(theirs, at: location)
    }
    let place =
      detail == .faults
      ? nil
      : FieldLocation(
        record: records[position].id, field: names[location.name])
    join(theirs, at: location, kind: kind) { mine in
      report.noteEquivocations(mine, theirs)
      guard let place else { return mine.merge(theirs) }
      report.join(
        theirs, into: &mine, at: place, isQuiet: isQuiet,
        keepingValues: detail == .changesWithValues)
    }
  }
}

extension MergeReport {
  /// Notes the dots under which two states that are to be joined differ.
  ///
  /// Before the join, which keeps one of two payloads under one dot.
  mutating func noteEquivocations(
    _ mine: FieldState, _ theirs: FieldState
  ) {
    // A later save than those here has none of their dots.
    if let save = theirs.onlyWrite?.dot,
      mine.lastSave(of: save.device) < save.sequence
    {
      return
    }
    let found = mine.equivocations(with: theirs)
    if !found.isEmpty { equivocations.formUnion(found) }
  }
}
