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

  /// Adds a prefix that was stored or sent with the version, after those that end
  /// earlier.
  ///
  /// - Returns: Whether it says something of each of its devices, of which nothing
  ///   else in the version does.
  package mutating func append(_ prefix: Prefix) -> Bool {
    let isNew =
      prefixes.last.map { $0.through < prefix.through } ?? true
      && !prefix.saves.isEmpty
      && prefix.saves.entries.allSatisfy { device, save in
        !contains(save, of: device) && self.prefix(of: device) == nil
      }
    prefixes.append(prefix)
    return isNew
  }

  /// The prefix that has saves of a device.
  func prefix(of device: DeviceID) -> Prefix? {
    prefixes.first { $0.saves[device].sequence > 0 }
  }

  /// The number of a device's last save that the version or a prefix has.
  func lastKnownSave(of device: DeviceID) -> UInt64 {
    max(self[device].sequence, prefix(of: device)?.saves[device].sequence ?? 0)
  }

  /// What the version and its prefixes say of records, one after the other.
  ///
  /// - Returns: For each prefix, the saves that the records up to its end hold.
  func savesOfFirstRecords() -> [(through: RecordID, saves: VectorClock)] {
    var saves = vectorClock
    let fromTheLast = prefixes.reversed().map { prefix in
      saves.merge(prefix.vectorClock)
      return (prefix.through, saves)
    }
    return fromTheLast.reversed()
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

  /// Whether the version and its prefixes say all that some prefixes said.
  func implies(_ former: [Prefix]) -> Bool {
    former.allSatisfy { prefix in
      prefix.saves.entries.allSatisfy { device, save in
        contains(save, of: device)
          || covers(save, of: device, through: prefix.through)
      }
    }
  }

  /// Whether a prefix says that the records up to `through` hold a save.
  private func covers(
    _ save: DeviceSave, of device: DeviceID, through: RecordID
  ) -> Bool {
    guard let prefix = prefix(of: device), through <= prefix.through else {
      return false
    }
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
  /// - Returns: Whether the version or a prefix says more than before, and which
  ///   saves count for nothing because the records before the range lack them.
  mutating func advance(
    by saves: LatestSaves, in range: RecordRange
  ) -> (hasGrown: Bool, refused: LatestSaves) {
    var (hasGrown, refused) = (false, LatestSaves())
    for (device, save) in saves.entries where !contains(save, of: device) {
      guard let taken = held(save, of: device, before: range) else {
        refused.insert(save, of: device)
        continue
      }
      guard let through = range.through else {
        insert(taken, of: device)
        hasGrown = true
        continue
      }
      // Not the further one of two: the sender may have started again, and would
      // wait for a prefix that goes on where this part ends.
      if covers(taken, of: device, through: through) { continue }
      removePrefix(of: device)
      setPrefix(through: through, taken, of: device)
      hasGrown = true
    }
    return (hasGrown, refused)
  }

  /// The part of some saves that the records before a range hold, too.
  private func held(
    _ save: DeviceSave, of device: DeviceID, before range: RecordRange
  ) -> DeviceSave? {
    guard let after = range.after else { return save }
    guard let prefix = prefix(of: device), after <= prefix.through else {
      return nil
    }
    return common(prefix.saves[device], save, of: device)
  }

  private mutating func setPrefix(
    through: RecordID, _ save: DeviceSave, of device: DeviceID
  ) {
    let place = prefixes.partitioningIndex { through <= $0.through }
    if place == prefixes.count || prefixes[place].through != through {
      prefixes.insert(.init(through: through, saves: LatestSaves()), at: place)
    }
    prefixes[place].saves.insert(save, of: device)
  }

  private mutating func removePrefix(of device: DeviceID) {
    for place in prefixes.indices { prefixes[place].saves.remove(device) }
    prefixes.removeAll(where: \.saves.isEmpty)
  }

  /// Removes a device from its prefix if the version says as much, or if the device
  /// turned out to be forked.
  ///
  /// The saves of a part continue those that the version had. Once it has two
  /// histories, it is unknown which of them they continued.
  mutating func tidyPrefix(of device: DeviceID, isNewlyForked: Bool) {
    guard let prefix = prefix(of: device),
      isNewlyForked || contains(prefix.saves[device], of: device)
    else { return }
    removePrefix(of: device)
  }
}
