// SPDX-License-Identifier: Apache-2.0

/// The changes that a receiver lacks, found by sequence numbers alone.
package struct MissingChanges: Sendable {
  /// The saves that the receiver is assumed to have, except those of forked
  /// devices.
  package private(set) var known: VectorClock
  /// The records after the prefix that the delta continues, and up to the end of
  /// the prefix that it sends on.
  package private(set) var range = RecordRange()
  /// The saves of each device that the version contains and the receiver lacks.
  package private(set) var intervals: [DeviceID: SaveInterval] = [:]
  /// The fields that the receiver has ahead of its version and does not need
  /// again.
  private var ahead: [UInt64: VectorClock]
  /// The saves that only the receiver's first records contain.
  private var prefixes: [DeviceID: ReplicaVersion.DevicePrefix] = [:]
  /// Whether to send the fields whose missing saves have no interval.
  fileprivate private(set) var hasAhead = false

  /// The missing changes that a delta contains.
  package enum Form {
    /// All missing changes.
    case whole
    /// The fields that a save in an interval touched.
    case intervals
    /// The part to send first.
    case part
  }

  fileprivate init(
    in state: ReplicaState, since basis: ReplicaVersion, as form: Form
  ) {
    (known, ahead) = (basis.vectorClock, basis.fieldsAhead)
    var hasForks = false
    state.version.forEachDifference(from: basis) { device, held, shown in
      var (from, to) = (shown.sequence, held)
      let prefix = basis.devicePrefixes[device]?.save
      // The flag of a prefix outlasts the digest that showed the fork.
      if state.mayDiffer(device, from: shown)
        || prefix?.isForked ?? false
      {
        // Two histories have different saves under the same numbers. The
        // receiver's number proves nothing, so send all saves of the device.
        (from, known[device], hasForks) = (0, 0, true)
      }
      // The receiver detects the fork if the interval ends at a number that it
      // has with another digest. The digests of earlier own saves are known.
      let own =
        state.ownSave(contradicting: shown, of: device)
        ?? prefix.flatMap { state.ownSave(contradicting: $0, of: device) }
      if let own { to = own }
      if from < to.sequence { intervals[device] = .init(from: from, to: to) }
    }
    if hasForks { ahead = [:] }
    if form == .part {
      keepOwn(of: state)
      goOn(since: basis, in: state)
      if intervals.isEmpty { sendOnPrefix(since: basis, in: state) }
    }
    hasAhead = form == .whole || form == .part && intervals.isEmpty
    if range.after == nil, !hasForks { prefixes = basis.devicePrefixes }
    // The delta may also reach replicas that did not show `basis`. If they
    // apply an interval, the delta must contain all fields that its saves
    // touched, including those that this receiver has ahead of its version.
    ahead = ahead.mapValues { [intervals] in $0.without(intervals) }
  }

  /// Returns the changes of the records up to one, which a sender has read, or all
  /// of them for `nil`.
  package func ending(at id: RecordID?) -> MissingChanges {
    var changes = self
    changes.range = RecordRange(
      after: range.after, through: [id, range.through].compactMap { $0 }.min())
    return changes
  }

  /// Limits the changes to the saves of the sender's own devices and of imports,
  /// if the receiver lacks any.
  ///
  /// A receiver that refuses other devices' saves then does not refuse these.
  private mutating func keepOwn(of state: ReplicaState) {
    let own = intervals.filter { device, _ in
      device.isImport || state.identity.contains(device)
    }
    if !own.isEmpty { intervals = own }
  }

  /// Limits the changes to the rest of a prefix, if the receiver has a useful
  /// one.
  ///
  /// The rest consists of the prefix's saves in the records after it. Newer
  /// saves follow in another delta, because they may change records of the
  /// prefix.
  private mutating func goOn(
    since basis: ReplicaVersion, in state: ReplicaState
  ) {
    var (continued, after) = ([:] as [DeviceID: SaveInterval], nil as RecordID?)
    for (device, interval) in intervals {
      guard let prefix = basis.devicePrefixes[device],
        let to = state.end(of: interval, of: device, in: prefix, since: basis),
        to.sequence > interval.from
      else { continue }
      continued[device] = .init(from: interval.from, to: to)
      after = min(after ?? prefix.through, prefix.through)
    }
    if after != nil {
      (intervals, range) = (continued, RecordRange(after: after))
    }
  }

  /// Adds intervals of the first prefix of the sender that the receiver lacks.
  ///
  /// The device that made the saves may be lost, and then no replica ever sends
  /// all of their records. A prefix that ends later counts more than one of
  /// later saves, because a replica can list only a limited number of records
  /// that its prefix no longer covers.
  private mutating func sendOnPrefix(
    since basis: ReplicaVersion, in state: ReplicaState
  ) {
    for prefix in state.version.prefixes {
      for (device, save) in prefix.saves.entries
      where state.canSendOn(save, of: device, since: basis) {
        var start: RecordID?
        if let held = basis.devicePrefixes[device] {
          if prefix.through < held.through { continue }
          if save.sequence <= held.save.sequence { start = held.through }
          if start == prefix.through { continue }
        }
        if intervals.isEmpty {
          range = RecordRange(after: start, through: prefix.through)
        }
        // Devices with another start follow in later parts.
        if start == range.after {
          intervals[device] = .init(from: basis[device].sequence, to: save)
        }
      }
      if !intervals.isEmpty { return }
    }
  }

  /// Returns whether the receiver has a prefix of a device, or the delta has an
  /// interval of this device.
  fileprivate func holds(
    _ prefix: ReplicaVersion.DevicePrefix, of device: DeviceID
  ) -> Bool {
    if intervals[device] != nil { return true }
    guard let held = prefixes[device] else { return false }
    return prefix.save.sequence <= held.save.sequence
      && prefix.through <= held.through
  }

  /// Whether the receiver lacks every field.
  fileprivate var containsAllFields: Bool {
    hasAhead && range.isWhole && known.isEmpty && ahead.isEmpty
      && prefixes.isEmpty
  }

  /// Returns whether the receiver lacks a field.
  ///
  /// - Parameter digest: The field's key in ``ReplicaVersion/fieldsAhead``.
  func lacks(
    _ clock: @autoclosure () -> VectorClock, in record: RecordID,
    _ digest: @autoclosure () -> UInt64
  ) -> Bool {
    if !range.contains(record) { return false }
    if ahead.isEmpty, prefixes.isEmpty { return true }
    let ahead = ahead.isEmpty ? nil : ahead[digest()]
    // A join of the clocks would depend on the number of all devices.
    return clock().entries.contains { entry in
      var held = max(known[entry.device], ahead?[entry.device] ?? 0)
      if let prefix = prefixes[entry.device], record <= prefix.through,
        intervals[entry.device] == nil
      {
        held = max(held, prefix.save.sequence)
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
  /// Returns the end of an interval that continues a prefix, or `nil` if no
  /// interval can.
  fileprivate func end(
    of interval: SaveInterval, of device: DeviceID,
    in prefix: ReplicaVersion.DevicePrefix, since basis: ReplicaVersion
  ) -> DeviceSave? {
    // Later own saves are of another incarnation.
    if isLaterOwnSave(prefix.save, of: device) { return nil }
    // The digests of earlier own saves can also reveal a fork.
    let isForked =
      mayDiffer(device, from: basis[device])
      || mayDiffer(device, from: prefix.save)
    let end = prefix.save.common(with: interval.to, isForked: isForked)
    // The flag of the prefix is only a claim of the receiver.
    return end?.isForked ?? false ? interval.to : end
  }

  /// Returns whether a prefix's save can end an interval for a receiver.
  ///
  /// It cannot if the device is forked, because a prefix has only one of the
  /// histories.
  fileprivate func canSendOn(
    _ save: DeviceSave, of device: DeviceID, since basis: ReplicaVersion
  ) -> Bool {
    let held = basis.devicePrefixes[device]?.save
    let isForked =
      save.isForked || held?.isForked ?? false
      || held?.contradicts(save) ?? false
      || mayDiffer(device, from: basis[device])
    return !isForked && save.sequence > basis[device].sequence
  }

  /// Returns the changes that a receiver at `basis` lacks.
  package func missingChanges(
    since basis: ReplicaVersion, as form: MissingChanges.Form
  ) -> MissingChanges {
    MissingChanges(in: self, since: basis, as: form)
  }

  /// Returns whether a receiver has the same saves, and this replica has nothing
  /// beyond them.
  func hasSameSaves(as basis: ReplicaVersion) -> Bool {
    ahead.isEmpty && version.devicePrefixes.isEmpty
      && version.saves == basis.saves
  }

  /// Returns the delta with the missing changes.
  package mutating func delta(of missing: MissingChanges) -> Delta? {
    _checkInvariants()
    if missing.containsAllFields {
      let content = content
      if content.choices.isEmpty, missing.intervals.isEmpty { return nil }
      return Delta(content, missing.intervals)
    }
    let locations = missingFields(missing, of: devices(with: missing))
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
  /// A field ahead of the version can contain saves of any device.
  func devices(with missing: MissingChanges) -> [DeviceID] {
    let devices = Array(missing.intervals.keys)
    if !missing.hasAhead { return devices }
    if !ahead.isEmpty { return index.devices }
    // The other fields are missing only if a prefix is.
    return devices
      + version.devicePrefixes.filter { !missing.holds($1, of: $0) }.map(\.key)
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
    let range = RecordRange(after: missing.range.after, through: through)
    return Delta(
      MessageContent(records, names, at: locations, fragments: fragments),
      missing.intervals, range: range.isWhole ? nil : range)
  }
}
