// SPDX-License-Identifier: Apache-2.0

// Fields ahead of the clock: a part of a delta arrived, and the rest did not.
extension StoredReplica {
  /// The clock with the fields that are ahead of it.
  var shownVersion: ReplicaVersion {
    var shown = version
    if ahead.isEmpty || ahead.count > ReplicaVersion.fieldsAheadLimit {
      return shown
    }
    for location in ahead {
      // Two fields of one digest, which chance makes once in millions of years,
      // would both be sent once more.
      let digest = digest(of: location)
      shown.fieldsAhead[digest] = beyondClock(location)
    }
    return shown
  }

  /// For each device, the last of the saves that a field has seen and that are not
  /// all here.
  var missingSaves: VectorClock {
    ahead.reduce(into: VectorClock()) { $0.merge(beyondClock($1)) }
  }

  /// The saves of a field beyond the clock.
  private func beyondClock(_ location: ChangeIndex.Location) -> VectorClock {
    let entries = self[location]?.clock.entries ?? []
    return VectorClock(
      sorted: entries.filter { $0.count > version.vector[$0.device] })
  }

  /// The digest by which a clock names a field.
  func digest(of location: ChangeIndex.Location) -> UInt64 {
    let id = records[Int(location.record)].id
    let key = names.keys[Int(location.name)]
    var digest = Digest()
    digest.add(id.entity)
    digest.add(id.key)
    digest.add(key.name)
    digest.add(key.kind.rawValue)
    digest.add(key.variant ?? "")
    return digest.value
  }

  /// Notes which fields are ahead of the clock, of those that were before and
  /// those that have changed.
  mutating func noteAhead(_ changed: some Sequence<ChangeIndex.Location>) {
    for location in changed { ahead.insert(location) }
    ahead = ahead.filter { location in
      self[location]?.clock.isContained(in: version.vector) == false
    }
  }
}
