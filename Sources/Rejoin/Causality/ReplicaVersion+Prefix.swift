// SPDX-License-Identifier: Apache-2.0

extension ReplicaVersion {
  /// A statement about the first records of a replica: each record up to `through`
  /// holds every effect of some saves that the version lacks.
  ///
  /// A transfer in parts leaves one where it was cut, see
  /// ``Replica/delta(since:byteLimit:)``. Any sender can go on from there.
  public struct Prefix: Hashable, Sendable {
    /// The last of these records, in the order of their IDs.
    public let through: RecordID
    /// The latest save of each device; never empty.
    package internal(set) var saves: LatestSaves

    /// The sequence numbers of the saves as a vector clock.
    public var vectorClock: VectorClock { saves.vectorClock }
  }

  /// Sets the prefix, which was stored or sent with the version.
  ///
  /// - Returns: Whether it says something of each device that the version does not.
  package mutating func setPrefix(_ prefix: Prefix) -> Bool {
    self.prefix = prefix
    return !prefix.saves.isEmpty
      && prefix.saves.entries.allSatisfy { !contains($1, of: $0) }
  }

  /// The number of a device's last save that the version or its prefix has.
  func lastKnownSave(of device: DeviceID) -> UInt64 {
    max(self[device].sequence, prefix?.saves[device].sequence ?? 0)
  }

  /// Whether each save that a field has seen is in the version, or in the prefix if
  /// that is about the record.
  ///
  /// - Parameters:
  ///   - clock: What the field has seen.
  ///   - record: The record of the field.
  func contains(_ clock: VectorClock, ofFieldIn record: RecordID) -> Bool {
    if clock.isContained(in: vectorClock) { return true }
    guard let prefix, record <= prefix.through else { return false }
    return clock.entries.allSatisfy { entry in
      entry.count <= lastKnownSave(of: entry.device)
    }
  }

  /// Whether the latest save of a device, and those before it, are contained.
  func contains(_ save: DeviceSave, of device: DeviceID) -> Bool {
    self[device].joined(save) == self[device]
  }

  /// What a statement about one save says of another: the lesser of the two.
  ///
  /// Of a forked device, a number does not say which history it is of, so that only
  /// the same save will do.
  private func common(
    _ one: DeviceSave, _ other: DeviceSave, of device: DeviceID
  ) -> DeviceSave? {
    let isForked = self[device].isForked || one.isForked || other.isForked
    if isForked || one.contradicts(other) { return one == other ? one : nil }
    let lesser = one.sequence < other.sequence ? one : other
    return lesser.sequence > 0 ? lesser : nil
  }

  /// Whether the version or its prefix says all that a prefix said.
  func implies(_ former: Prefix?) -> Bool {
    guard let former else { return true }
    return former.saves.entries.allSatisfy { device, save in
      contains(save, of: device)
        || covers(save, of: device, through: former.through)
    }
  }

  /// Whether the prefix says that the records up to `through` hold a save.
  private func covers(
    _ save: DeviceSave, of device: DeviceID, through: RecordID
  ) -> Bool {
    guard let prefix, through <= prefix.through else { return false }
    return common(prefix.saves[device], save, of: device)?.sequence
      == save.sequence
  }

  /// Whether the saves of an interval follow those that the version has.
  ///
  /// Those of a forked device must be all of its saves: their numbers do not say
  /// which history the former ones are of.
  func isContinued(by interval: SaveInterval, of device: DeviceID) -> Bool {
    let held = self[device]
    let isForked = held.isForked || interval.to.isForked
    return interval.from <= (isForked ? 0 : held.sequence)
  }

  /// Advances past saves, all of whose effects in a range of records have been
  /// applied.
  ///
  /// - Parameter saves: The latest save of each device. Those before it are in the
  ///   range, too, or in the version.
  /// - Returns: What the version says more than before, and which saves count for
  ///   nothing because the records before the range lack them.
  mutating func advance(
    by saves: LatestSaves, in range: RecordRange
  ) -> (hasGrown: Bool, refused: LatestSaves) {
    var refused = LatestSaves()
    var taken = saves.compactMap { contains($1, of: $0) ? nil : $1 }
    if let after = range.after {
      let held = prefix.flatMap { after <= $0.through ? $0.saves : nil }
      taken = taken.compactMap { device, save in
        let common = common(held?[device] ?? .none, save, of: device)
        if common == nil { refused.insert(save, of: device) }
        return common.flatMap { contains($0, of: device) ? nil : $0 }
      }
    }
    if taken.isEmpty { return (false, refused) }
    guard let through = range.through else {
      for (device, save) in taken.entries { insert(save, of: device) }
      return (true, refused)
    }
    // Not the further one of two: the sender has started again, and would wait for
    // a prefix that goes on where this part ends.
    let isKnown = taken.entries.allSatisfy {
      covers($1, of: $0, through: through)
    }
    if !isKnown { prefix = Prefix(through: through, saves: taken) }
    return (!isKnown, refused)
  }
}
