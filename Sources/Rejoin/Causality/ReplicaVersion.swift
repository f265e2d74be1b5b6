// SPDX-License-Identifier: Apache-2.0

/// The saves whose effects a replica contains in full.
///
/// To request missing saves, a replica sends its version to another one:
///
///     let delta = phone.delta(since: tablet.version)
///
/// For each device, a version contains the sequence number, the timestamp and
/// the digest of the latest save. The digests reveal whether a device ID is in
/// use twice: a sequence number then has two digests. Such a device is
/// permanently *forked*.
///
/// A version summarizes the replica and is not part of the join. It advances by
/// the intervals of the deltas that were applied (``Delta/intervals``), and two
/// versions are never merged.
public struct ReplicaVersion: Hashable, Sendable {
  /// The latest save of each device.
  var saves = LatestSaves()

  /// The prefix of each device that has one.
  ///
  /// The version does not contain the saves of a prefix.
  var devicePrefixes: [DeviceID: DevicePrefix] = [:]

  /// Further saves that only the first records contain.
  ///
  /// Each prefix ends where a transfer in parts was interrupted. The prefixes
  /// are sorted by their ends, and a device is in at most one prefix.
  ///
  /// - Complexity: O(*p* log *p*), where *p* is the number of devices in
  ///   prefixes.
  public internal(set) var prefixes: [Prefix] {
    get { [Prefix](devicePrefixes) }
    set { devicePrefixes = [DeviceID: DevicePrefix](newValue) }
  }

  /// The saves that every device on the roster is known to have.
  ///
  /// In a replica's own version, ``vectorClock`` contains them.
  public internal(set) var stabilityCut = VectorClock()

  /// The fields that have seen saves beyond ``vectorClock`` and ``prefixes``,
  /// and these saves.
  ///
  /// The keys are digests of a record ID and a field key. A field gets ahead if
  /// only a part of a delta arrives. If it is listed, a sender does not send it
  /// again in every exchange.
  public package(set) var fieldsAhead: [UInt64: VectorClock] = [:]

  /// The maximum number of fields in ``fieldsAhead``.
  ///
  /// If more fields are ahead, none are listed, which limits the size of a
  /// version.
  static let fieldsAheadLimit = 4_096

  /// Creates the version of an empty replica.
  public init() {}

  /// Creates a version from sequence numbers, without timestamps and digests.
  public init(_ vectorClock: VectorClock) { saves = LatestSaves(vectorClock) }

  /// The sequence numbers, as a vector clock.
  public var vectorClock: VectorClock { saves.vectorClock }

  /// Whether any device is forked.
  var hasForks: Bool { saves.hasForks }

  /// The latest save of a device, or one with the sequence number zero.
  ///
  /// - Complexity: O(log *r*), where *r* is the number of devices.
  public subscript(device: DeviceID) -> DeviceSave { saves[device] }

  /// The devices whose ID is known to have two histories.
  public var forkedDevices: Set<DeviceID> {
    Set(saves.entries.lazy.filter(\.save.isForked).map(\.device))
  }

  /// Returns the forked devices among those of other saves.
  func forkedDevices(of saves: LatestSaves) -> Set<DeviceID> {
    if !hasForks { return [] }
    return Set(
      saves.vectorClock.entries.lazy.map(\.device)
        .filter { self[$0].isForked })
  }

  /// Returns whether this version contains every save in another version.
  ///
  ///     let hub = try await session.version(of: "list")
  ///     let isUpToDate = await store.version.covers(hub)
  ///
  /// Only complete saves count. If a device is lost during a transfer, others
  /// have some of its fields as ``fieldsAhead``, or some of its records as a
  /// prefix, and the result does not depend on these. A replica with the other
  /// version can therefore have a delta with such fields for this one.
  ///
  /// The result is `false` if the versions show different histories of a device,
  /// because the replicas must exchange all of its saves.
  ///
  /// - Complexity: O(*r*), where *r* is the number of devices.
  public func covers(_ other: ReplicaVersion) -> Bool {
    covers(other, except: { _ in false })
  }

  /// Returns whether this version contains every save in another version, except
  /// those of some devices.
  package func covers(
    _ other: ReplicaVersion, except isException: (DeviceID) -> Bool
  ) -> Bool {
    var covers = true
    other.forEachDifference(from: self) { device, shown, held in
      let isSame =
        !shown.isForked && !held.isForked && !held.contradicts(shown)
      if !isSame || held.sequence < shown.sequence, !isException(device) {
        covers = false
      }
    }
    return covers
  }

  /// Calls `body` with each device of this version whose latest save differs in
  /// `other`, and with both saves.
  ///
  /// - Complexity: O(*r*), where *r* is the number of devices in both versions.
  package func forEachDifference(
    from other: ReplicaVersion,
    _ body: (DeviceID, DeviceSave, DeviceSave) throws -> Void
  ) rethrows {
    try saves.forEachDifference(from: other.saves, body)
  }

  /// Adds the latest save of a device by a join.
  package mutating func insert(_ save: DeviceSave, of device: DeviceID) {
    let wasForked = self[device].isForked
    saves.insert(save, of: device)
    tidyPrefix(of: device, isNewlyForked: self[device].isForked != wasForked)
  }

  /// Marks a device as forked if it has saves.
  mutating func fork(_ device: DeviceID) {
    let wasForked = self[device].isForked
    saves.fork(device)
    tidyPrefix(of: device, isNewlyForked: self[device].isForked != wasForked)
  }
}

extension ReplicaVersion: CustomStringConvertible {
  /// The sequence numbers as text.
  public var description: String { vectorClock.description }
}

/// A range of one device's saves whose effects a delta contains in full.
public struct SaveInterval: Hashable, Sendable {
  /// The number of the last save before the interval.
  public let from: UInt64
  /// The last save in the interval.
  ///
  /// If the device is forked, the interval counts only if `from` is zero.
  /// Otherwise, the earlier saves may belong to another history.
  public let to: DeviceSave

  package init(from: UInt64, to: DeviceSave) {
    (self.from, self.to) = (from, to)
  }
}

/// The records that a delta covers: those after `after` and up to `through`.
///
/// An end that is `nil` is open.
package struct RecordRange: Hashable, Sendable {
  package let after: RecordID?
  package let through: RecordID?

  package init(after: RecordID? = nil, through: RecordID? = nil) {
    (self.after, self.through) = (after, through)
  }

  /// Whether both ends are open.
  package var isWhole: Bool { after == nil && through == nil }

  func contains(_ id: RecordID) -> Bool {
    (after.map { $0 < id } ?? true) && (through.map { id <= $0 } ?? true)
  }
}

extension ReplicaVersion {
  /// Saves that only the first records of a replica contain in full.
  ///
  /// Each record up to `through` contains every effect of `saves`, which the
  /// version lacks. A transfer in parts leaves a prefix at the point of
  /// interruption, and any sender can continue there. See
  /// ``Replica/delta(since:byteLimit:)``.
  public struct Prefix: Hashable, Sendable {
    /// The last of these records, in the order of IDs.
    public let through: RecordID
    /// The latest save of each device, for at least one device.
    package internal(set) var saves: LatestSaves

    /// The sequence numbers of the saves, as a vector clock.
    public var vectorClock: VectorClock { saves.vectorClock }
  }

  /// The saves of one device that only the first records contain.
  struct DevicePrefix: Hashable, Sendable {
    /// The last of these records.
    let through: RecordID
    /// The latest of these saves.
    ///
    /// It is flagged if a part showed that the device is forked. The records
    /// then contain a history from its first save on.
    let save: DeviceSave
  }

  /// Sets the prefixes of a new version that was stored or received.
  ///
  /// - Returns: Whether the prefixes are valid: each one ends after the previous
  ///   ones, contains saves that the version lacks, and shares no device with
  ///   another prefix.
  /// - Complexity: O(*d*), where *d* is the number of devices.
  package mutating func setPrefixes(_ new: [Prefix]) -> Bool {
    prefixes = new
    return zip(new, new.dropFirst()).allSatisfy { $0.through < $1.through }
      && new.allSatisfy { !$0.saves.isEmpty }
      && new.reduce(0) { $0 + $1.vectorClock.entries.count }
        == devicePrefixes.count
      && devicePrefixes.allSatisfy { !contains($1.save, of: $0) }
  }

  /// Returns the number of a device's last save in the version or a prefix.
  func lastKnownSave(of device: DeviceID) -> UInt64 {
    max(self[device].sequence, devicePrefixes[device]?.save.sequence ?? 0)
  }

  /// Returns whether the version and, for one record, its prefixes contain all
  /// saves of a clock.
  ///
  /// - Complexity: O(*k* log *r*), where *k* is the number of devices in the
  ///   clock and *r* is the number of all devices.
  func contains(
    _ clock: VectorClock, in record: @autoclosure () -> RecordID
  ) -> Bool {
    clock.entries.allSatisfy {
      contains(Dot($0.device, $0.count), in: record())
    }
  }

  /// Returns whether the version or, for one record, a prefix contains a save.
  func contains(
    _ save: Dot, in record: @autoclosure () -> RecordID
  ) -> Bool {
    if vectorClock.contains(save) { return true }
    guard let prefix = devicePrefixes[save.device] else { return false }
    return save.sequence <= prefix.save.sequence && record() <= prefix.through
  }

  /// Returns whether the version contains a device's save and those before it.
  package func contains(_ save: DeviceSave, of device: DeviceID) -> Bool {
    self[device].joined(save) == self[device]
  }

  /// Returns whether the version and its prefixes contain all saves of another
  /// prefix of a device.
  func implies(_ former: DevicePrefix, of device: DeviceID) -> Bool {
    contains(former.save, of: device)
      || covers(former.save, of: device, through: former.through)
  }

  /// Returns whether a device's prefix contains a save for all records up to
  /// `through`.
  private func covers(
    _ save: DeviceSave, of device: DeviceID, through: RecordID
  ) -> Bool {
    guard let prefix = devicePrefixes[device], through <= prefix.through else {
      return false
    }
    let common = prefix.save.common(
      with: save, isForked: self[device].isForked)
    return common?.sequence == save.sequence
  }

  /// Returns whether a device's prefix is flagged, so the device has two
  /// histories even if the version does not show it yet.
  func hasForkedPrefix(of device: DeviceID) -> Bool {
    devicePrefixes[device]?.save.isForked ?? false
  }

  /// Returns whether a device's prefix is not flagged and shows another history
  /// than a save.
  func hasPrefix(
    of device: DeviceID, contradicting save: DeviceSave
  ) -> Bool {
    guard let held = devicePrefixes[device]?.save else { return false }
    return !held.isForked && held.contradicts(save)
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

  /// Returns whether an interval of a device's saves would advance the version.
  package func lacks(_ interval: SaveInterval, of device: DeviceID) -> Bool {
    isContinued(by: interval, of: device) && !contains(interval.to, of: device)
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
      // Replace even a longer prefix, or one of later saves: a sender that
      // starts again may not continue it, and its next part continues this one.
      let isContinued =
        range.after != nil
        || devicePrefixes[device]?.save.isSame(as: taken) ?? false
      if isContinued, covers(taken, of: device, through: through) { continue }
      devicePrefixes[device] = DevicePrefix(through: through, save: taken)
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
    guard let prefix = devicePrefixes[device], after <= prefix.through else {
      return nil
    }
    return prefix.save.common(with: save, isForked: self[device].isForked)
  }

  /// Removes a device's prefix if the version contains its saves or the device
  /// was just forked.
  ///
  /// A prefix continues the saves of the version. If these belong to two
  /// histories, nothing shows which one the prefix continues. Only a flagged
  /// prefix stays, because it contains a history from its first save on.
  mutating func tidyPrefix(of device: DeviceID, isNewlyForked: Bool) {
    guard let save = devicePrefixes[device]?.save,
      isNewlyForked && !save.isForked || contains(save, of: device)
    else { return }
    devicePrefixes[device] = nil
  }
}

extension [ReplicaVersion.Prefix] {
  /// Groups the prefixes of devices by their ends.
  init(_ prefixes: [DeviceID: ReplicaVersion.DevicePrefix]) {
    self.init()
    let sorted = prefixes.sorted {
      ($0.value.through, $0.key) < ($1.value.through, $1.key)
    }
    for (device, prefix) in sorted {
      if last?.through != prefix.through {
        append(.init(through: prefix.through, saves: LatestSaves()))
      }
      self[count - 1].saves.insert(prefix.save, of: device)
    }
  }
}

extension [DeviceID: ReplicaVersion.DevicePrefix] {
  /// Creates the prefix of each device in a list.
  init(_ prefixes: [ReplicaVersion.Prefix]) {
    self.init()
    for prefix in prefixes {
      for (device, save) in prefix.saves.entries {
        self[device] = .init(through: prefix.through, save: save)
      }
    }
  }
}
