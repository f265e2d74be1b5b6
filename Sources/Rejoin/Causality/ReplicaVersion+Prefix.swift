// SPDX-License-Identifier: Apache-2.0

extension ReplicaVersion {
  /// Saves that only the first records of a replica contain in full.
  ///
  /// Each record up to `through` contains every effect of `saves`, which the
  /// version lacks. A transfer in parts leaves a prefix at the point of
  /// interruption, from which any sender can continue. See
  /// ``Replica/delta(since:byteLimit:)``.
  public struct Prefix: Hashable, Sendable {
    /// The last of these records, in the order of IDs.
    public let through: RecordID
    /// The latest save of each device, for at least one device.
    package internal(set) var saves: LatestSaves

    /// The sequence numbers of the saves, as a vector clock.
    public var vectorClock: VectorClock { saves.vectorClock }
  }

  /// Sets the prefixes of a new version that was stored or received.
  ///
  /// - Returns: Whether the prefixes are valid: each one ends after the previous
  ///   ones, contains saves that the version lacks, and shares no device with
  ///   another prefix.
  /// - Complexity: O(*d*), where *d* is the number of devices.
  package mutating func setPrefixes(_ new: [Prefix]) -> Bool {
    prefixes = new
    var devices: Set<DeviceID> = []
    return zip(new, new.dropFirst()).allSatisfy { $0.through < $1.through }
      && new.allSatisfy { prefix in
        !prefix.saves.isEmpty
          && prefix.saves.entries.allSatisfy { device, save in
            !contains(save, of: device) && devices.insert(device).inserted
          }
      }
  }

  /// Returns the prefix that contains saves of a device.
  func prefix(of device: DeviceID) -> Prefix? {
    prefixes.first { $0.saves[device].sequence > 0 }
  }

  /// Returns the number of a device's last save in the version or a prefix.
  func lastKnownSave(of device: DeviceID) -> UInt64 {
    max(self[device].sequence, prefix(of: device)?.saves[device].sequence ?? 0)
  }

  /// Returns, for each prefix, the saves that the records up to its end
  /// contain.
  ///
  /// They include the saves of the version.
  func savesOfFirstRecords() -> [(through: RecordID, saves: VectorClock)] {
    var saves = vectorClock
    let fromTheLast = prefixes.reversed().map { prefix in
      saves.merge(prefix.vectorClock)
      return (prefix.through, saves)
    }
    return fromTheLast.reversed()
  }

  /// Returns whether the version contains a device's save and those before it.
  func contains(_ save: DeviceSave, of device: DeviceID) -> Bool {
    self[device].joined(save) == self[device]
  }

  /// Returns whether the version and its prefixes contain all saves of former
  /// prefixes.
  func implies(_ former: [Prefix]) -> Bool {
    former.allSatisfy { prefix in
      prefix.saves.entries.allSatisfy { device, save in
        contains(save, of: device)
          || covers(save, of: device, through: prefix.through)
      }
    }
  }

  /// Returns whether a device's prefix contains a save for all records up to
  /// `through`.
  private func covers(
    _ save: DeviceSave, of device: DeviceID, through: RecordID
  ) -> Bool {
    guard let prefix = prefix(of: device), through <= prefix.through else {
      return false
    }
    let common = prefix.saves[device].common(
      with: save, isForked: self[device].isForked)
    return common?.sequence == save.sequence
  }

  /// Returns whether an interval starts at or before the last save in the
  /// version.
  ///
  /// An interval of a forked device must start at its first save, because a
  /// number can stand for either of two histories.
  func isContinued(by interval: SaveInterval, of device: DeviceID) -> Bool {
    let held = self[device]
    let isForked = held.isForked || interval.to.isForked
    return interval.from <= (isForked ? 0 : held.sequence)
  }

  /// Adds saves whose effects on a range of records are applied.
  ///
  /// - Parameters:
  ///   - saves: The latest save of each device. The range or the version
  ///     contains the saves before it.
  ///   - range: The records. The version can only add saves of all records, and
  ///     a prefix only saves of all records up to its end.
  /// - Returns: Whether the version or a prefix grew, and the saves that were
  ///   refused because the records before the range lack them.
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
      // Replace even a longer prefix: the sender may have started again, and
      // its next part continues this one.
      if covers(taken, of: device, through: through) { continue }
      removePrefix(of: device)
      setPrefix(through: through, taken, of: device)
      hasGrown = true
    }
    return (hasGrown, refused)
  }

  /// Returns the part of a device's saves that the records before a range
  /// contain, or `nil`.
  private func held(
    _ save: DeviceSave, of device: DeviceID, before range: RecordRange
  ) -> DeviceSave? {
    guard let after = range.after else { return save }
    guard let prefix = prefix(of: device), after <= prefix.through else {
      return nil
    }
    return prefix.saves[device].common(
      with: save, isForked: self[device].isForked)
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

  /// Removes a device from its prefix if the version contains its saves or the
  /// device was just forked.
  ///
  /// A prefix continues the saves of the version. If these belong to two
  /// histories, nothing shows which one the prefix continues.
  mutating func tidyPrefix(of device: DeviceID, isNewlyForked: Bool) {
    guard let prefix = prefix(of: device),
      isNewlyForked || contains(prefix.saves[device], of: device)
    else { return }
    removePrefix(of: device)
  }
}
