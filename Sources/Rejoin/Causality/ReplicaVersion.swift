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
  /// If it does, a replica with the other version has no delta for this one,
  /// with one exception: a version lists no ``fieldsAhead`` if there are more
  /// than 4,096. The result is `false` if the versions show different histories
  /// of a device, because the replicas must exchange all of its saves.
  ///
  /// - Complexity: O(*r* + *k*), where *r* is the number of devices and *k* is
  ///   the number of ``fieldsAhead``.
  public func covers(_ other: ReplicaVersion) -> Bool {
    var covers = other.devicePrefixes.allSatisfy { implies($1, of: $0) }
    other.forEachDifference(from: self) { _, shown, held in
      let isSame =
        !shown.isForked && !held.isForked && !held.contradicts(shown)
      if !isSame || held.sequence < shown.sequence { covers = false }
    }
    return covers
      && other.fieldsAhead.allSatisfy { field, saves in
        var held = vectorClock
        if let ahead = fieldsAhead[field] { held.merge(ahead) }
        return saves.isContained(in: held)
      }
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
