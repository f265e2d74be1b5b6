// SPDX-License-Identifier: Apache-2.0

/// The saves whose effects are fully applied at a replica, which it sends to a
/// peer to ask for the ones it lacks.
///
///     let delta = phone.delta(since: tablet.version)
///
/// For each device, it holds the sequence number, the timestamp and the digest
/// of the latest save. The digests reveal a device ID that is in use twice: two
/// digests for one sequence number. Such a device is *forked*, and remains so.
///
/// A version is a summary beside the join and not part of it: it advances by
/// the intervals that were applied (``Delta/intervals``), and two versions are
/// never merged.
public struct ReplicaVersion: Hashable, Sendable {
  /// The latest save of each device.
  var saves = LatestSaves()

  /// Further saves that only the first records contain, one prefix for each point where
  /// a transfer in parts was cut.
  ///
  /// The prefixes are sorted by their ends, and each device is in one prefix at most.
  public internal(set) var prefixes: [Prefix] = []

  /// The saves that every device on the roster is known to hold.
  ///
  /// In a replica's own version, contained in ``vectorClock``.
  public internal(set) var stabilityCut = VectorClock()

  /// The fields that have seen saves beyond ``vectorClock`` and
  /// ``prefixes``: for the digest of a record ID and field key, these saves.
  ///
  /// A field gets ahead when only a part of a delta arrives. Listing it keeps a
  /// sender from sending it again in every exchange.
  public package(set) var fieldsAhead: [UInt64: VectorClock] = [:]

  /// The greatest number of fields in ``fieldsAhead``.
  ///
  /// With more, none are listed, which bounds the size of a version.
  static let fieldsAheadLimit = 4_096

  /// Creates the version of an empty replica.
  public init() {}

  /// Creates a version from sequence numbers alone, without timestamps and
  /// digests.
  public init(_ vectorClock: VectorClock) { saves = LatestSaves(vectorClock) }

  /// The sequence numbers as a vector clock.
  public var vectorClock: VectorClock { saves.vectorClock }

  /// Whether any device is forked.
  var hasForks: Bool { saves.hasForks }

  /// The latest save of a device; its sequence number is zero if there is none.
  ///
  /// - Complexity: O(log *r*) for *r* devices.
  public subscript(device: DeviceID) -> DeviceSave { saves[device] }

  /// The devices under whose ID two histories are known.
  public var forkedDevices: Set<DeviceID> {
    Set(saves.entries.lazy.filter(\.save.isForked).map(\.device))
  }

  /// Returns whether this version contains every save that another one shows.
  ///
  ///     let hub = try await session.version(of: "list")
  ///     let isUpToDate = await store.version.covers(hub)
  ///
  /// If it does, a replica with the other version has no delta for this one. One
  /// exception: a version lists no ``fieldsAhead`` if there are more than 4,096. The
  /// result is `false` if the versions show different histories of a device, because the
  /// replicas must exchange all its saves.
  ///
  /// - Complexity: O(*r* + *k*), where *r* is the number of devices and *k* is the number
  ///   of ``fieldsAhead``.
  public func covers(_ other: ReplicaVersion) -> Bool {
    var covers = implies(other.prefixes)
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

  /// Calls `body` with each device of this version whose latest save in `other`
  /// is not the same, and with both.
  ///
  /// - Complexity: O(*r*) for the *r* devices of both.
  package func forEachDifference(
    from other: ReplicaVersion,
    _ body: (DeviceID, DeviceSave, DeviceSave) throws -> Void
  ) rethrows {
    try saves.forEachDifference(from: other.saves, body)
  }

  /// Joins in the latest save of a device.
  package mutating func insert(_ save: DeviceSave, of device: DeviceID) {
    let wasForked = self[device].isForked
    saves.insert(save, of: device)
    tidyPrefix(of: device, isNewlyForked: self[device].isForked != wasForked)
  }

  /// Marks a device as forked; has no effect on one without saves.
  mutating func fork(_ device: DeviceID) {
    let wasForked = self[device].isForked
    saves.fork(device)
    tidyPrefix(of: device, isNewlyForked: self[device].isForked != wasForked)
  }
}

extension ReplicaVersion: CustomStringConvertible {
  /// The sequence numbers alone.
  public var description: String { vectorClock.description }
}
