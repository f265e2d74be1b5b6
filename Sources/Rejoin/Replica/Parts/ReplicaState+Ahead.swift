// SPDX-License-Identifier: Apache-2.0

// Fields get ahead of the version when only a part of a delta arrives.
extension ReplicaState {
  /// The version, including the fields ahead of it.
  var shownVersion: ReplicaVersion {
    var shown = version
    // Above the limit, the list costs more than sending these fields again.
    if ahead.isEmpty || ahead.count > ReplicaVersion.fieldsAheadLimit {
      return shown
    }
    for location in ahead {
      // If two fields have the same digest, the entry of one is lost. This
      // field is sent again, which is harmless because the join is idempotent.
      let digest = digest(of: location)
      shown.fieldsAhead[digest] = savesBeyondVersion(location)
    }
    return shown
  }

  /// The saves of a device that a shrunk prefix no longer contains.
  package struct UncoveredSaves {
    package let device: DeviceID
    /// The last save before them.
    package let known: UInt64
    /// The last record before those that they touched.
    package let after: RecordID?
  }

  /// Returns the saves that the prefixes contained in an earlier state and may
  /// not contain now.
  package func uncoveredSaves(since before: ReplicaState) -> [UncoveredSaves] {
    before.version.devicePrefixes.flatMap { device, former in
      if version.implies(former, of: device) { return [UncoveredSaves]() }
      let known = version[device].sequence
      guard let prefix = version.devicePrefixes[device] else {
        return [.init(device: device, known: known, after: nil)]
      }
      return [
        .init(device: device, known: prefix.save.sequence, after: nil),
        .init(device: device, known: known, after: prefix.through),
      ]
    }
  }

  /// The number of fields ahead of the version in each record that has any, by
  /// position.
  package var aheadCounts: [Int: Int] {
    ahead.reduce(into: [:]) { $0[Int($1.record), default: 0] += 1 }
  }

  /// The last save of each device that a field has seen beyond the version.
  var latestMissingSaves: VectorClock {
    let prefixes = VectorClock(
      greatest: version.devicePrefixes.mapValues(\.save.sequence))
    return ahead.reduce(into: prefixes) { $0.merge(savesBeyondVersion($1)) }
  }

  /// Returns the saves that a field has seen beyond the version.
  private func savesBeyondVersion(
    _ location: FieldPosition
  ) -> VectorClock {
    self[location]?.clock.saves(beyond: version.vectorClock) ?? VectorClock()
  }

  /// Returns the digest that identifies a field in
  /// ``ReplicaVersion/fieldsAhead``.
  ///
  /// Positions differ between replicas, so they cannot be exchanged.
  func digest(of location: FieldPosition) -> UInt64 {
    let id = records[Int(location.record)].id
    let key = names[location.name]
    var digest = Digest()
    digest.add(id.entity)
    digest.add(id.key)
    digest.add(key.name)
    digest.add(key.kind.rawValue)
    digest.add(key.variant ?? "")
    return digest.value
  }

  /// Updates `ahead` after a change of fields, of the version, or of both.
  ///
  /// - Parameters:
  ///   - changed: The fields whose clocks grew. Unless a prefix shrank, no
  ///     other field can get ahead.
  ///   - hasAdvanced: Whether the version or a prefix grew. Otherwise, every
  ///     field that is ahead stays ahead.
  ///   - shrunk: The devices whose prefix contains less than before.
  /// - Complexity: O(*k*), where *k* is the number of changed fields, of fields
  ///   that a shrunk prefix covered and, if the version grew, of fields ahead.
  mutating func recordAhead(
    _ changed: [JoinedField], hasAdvanced: Bool, shrunk: [DeviceID] = []
  ) {
    for field in changed {
      // A field gets ahead only if the received state is ahead.
      if let save = field.save,
        version.contains(save, in: records[Int(field.location.record)].id)
      {
        continue
      }
      if isAhead(field.location) { ahead.insert(field.location) }
    }
    if !shrunk.isEmpty {
      let beyond = index.locations(since: version.vectorClock, of: shrunk)
      ahead.formUnion(beyond.filter { isAhead($0) })
    }
    if hasAdvanced, !ahead.isEmpty { ahead = ahead.filter { isAhead($0) } }
  }

  /// Lists the fields of a new record that are ahead of the version.
  mutating func recordAhead(_ slots: [FieldSlot], of record: UInt32) {
    for slot in slots where !slot.isContained(in: version.vectorClock) {
      let location = FieldPosition(record: record, name: slot.name)
      if isAhead(location) { ahead.insert(location) }
    }
  }

  /// Returns whether a field has seen a save that neither the version nor a
  /// prefix contains.
  private func isAhead(_ location: FieldPosition) -> Bool {
    let record = records[Int(location.record)]
    guard let slot = record.position(of: location.name) else { return false }
    return !record.slots[slot].isContained(in: version.vectorClock)
      && !version.contains(record.slots[slot].clock, in: record.id)
  }
}
