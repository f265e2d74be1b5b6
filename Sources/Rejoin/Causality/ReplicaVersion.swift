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
  /// The sequence numbers as a vector clock.
  public private(set) var vectorClock = VectorClock()

  /// The latest save of each device in `vectorClock`, in the same order and with
  /// the same sequence numbers.
  private var saves: [DeviceSave] = []

  /// Whether any device is forked.
  private(set) var hasForks = false

  /// The saves that every device on the roster is known to hold.
  ///
  /// In a replica's own version, contained in ``vectorClock``.
  public internal(set) var stabilityCut = VectorClock()

  /// The fields that have seen saves beyond ``vectorClock``: for the digest of
  /// a record ID and field key, these saves.
  ///
  /// A field gets ahead when only a part of a delta arrives. Listing it keeps a
  /// sender from sending it again in every exchange.
  public package(set) var fieldsAhead: [UInt64: VectorClock] = [:]

  /// The greatest number of fields in ``fieldsAhead``.
  ///
  /// With more, none are listed, which bounds the size of a version.
  static let fieldsAheadLimit = 4_096

  /// The records of which more saves are held than the version contains, because a
  /// transfer was cut.
  ///
  /// No replica has or uses one yet.
  package var prefix: Prefix?

  /// A statement about the first records of a replica: up to `through`, which is
  /// included, they hold every effect of each save in `saves`.
  package struct Prefix: Hashable, Sendable {
    package let through: RecordID
    /// The last save of each device.
    package let saves: [DeviceID: DeviceSave]
  }

  /// Creates the version of an empty replica.
  public init() {}

  /// Creates a version from sequence numbers alone, without timestamps and
  /// digests.
  public init(_ vectorClock: VectorClock) {
    self.vectorClock = vectorClock
    saves = vectorClock.entries.map {
      DeviceSave(sequence: $0.count, time: .zero, digest: 0)
    }
    _checkInvariants()
  }

  /// The latest save of a device; its sequence number is zero if there is none.
  ///
  /// - Complexity: O(log *r*) for *r* devices.
  public subscript(device: DeviceID) -> DeviceSave {
    place(of: device).map { saves[$0] } ?? .none
  }

  /// Calls `body` with each device of this version whose latest save in `other`
  /// is not the same, and with both.
  ///
  /// - Complexity: O(*r*) for the *r* devices of both.
  package func forEachDifference(
    from other: ReplicaVersion,
    _ body: (DeviceID, DeviceSave, DeviceSave) throws -> Void
  ) rethrows {
    let theirs = other.vectorClock.entries
    var j = 0
    for (i, entry) in vectorClock.entries.enumerated() {
      while j < theirs.count, theirs[j].device < entry.device { j += 1 }
      let isHeld = j < theirs.count && theirs[j].device == entry.device
      let shown = isHeld ? other.saves[j] : .none
      if saves[i] != shown { try body(entry.device, saves[i], shown) }
    }
  }

  private func place(of device: DeviceID) -> Int? {
    let place = vectorClock.entries.position(of: device)
    let isHeld =
      place < saves.count && vectorClock.entries[place].device == device
    return isHeld ? place : nil
  }

  /// The devices under whose ID two histories are known.
  public var forkedDevices: Set<DeviceID> {
    Set(vectorClock.entries.map(\.device).filter { self[$0].isForked })
  }

  /// Joins in the latest save of a device.
  package mutating func insert(_ save: DeviceSave, of device: DeviceID) {
    guard save.sequence > 0 else { return }
    if let place = place(of: device) {
      saves[place] = saves[place].joined(save)
      hasForks = hasForks || saves[place].isForked
    } else {
      saves.insert(save, at: vectorClock.entries.position(of: device))
      hasForks = hasForks || save.isForked
    }
    vectorClock.advance(to: Dot(device, save.sequence))
    _checkInvariants()
  }

  /// Marks a device as forked; has no effect on one without saves.
  mutating func fork(_ device: DeviceID) {
    guard let place = place(of: device) else { return }
    saves[place].isForked = true
    hasForks = true
  }

  /// Advances past an interval of saves that have been applied.
  ///
  /// For a forked device, only an interval that begins at zero counts: any
  /// other may continue the other history.
  ///
  /// - Returns: `false` if there is a gap before the interval; the version is
  ///   then unchanged.
  mutating func advance(
    by interval: SaveInterval, of device: DeviceID
  ) -> Bool {
    let held = self[device]
    let isForked = held.isForked || interval.to.isForked
    guard interval.from <= (isForked ? 0 : held.sequence) else {
      return isForked && interval.to.sequence <= held.sequence
    }
    insert(interval.to, of: device)
    return true
  }
}

extension ReplicaVersion: CustomStringConvertible {
  /// The sequence numbers alone.
  public var description: String { vectorClock.description }
}

extension ReplicaVersion {
  /// Traps in checked builds unless the invariants hold.
  @inline(__always)
  func _checkInvariants() {
    #if REJOIN_CHECK_INVARIANTS
      precondition(
        saves.map(\.sequence) == vectorClock.entries.map(\.count),
        "the saves differ from the vector clock \(self)")
      precondition(
        hasForks == saves.contains(where: \.isForked),
        "`hasForks` is \(hasForks)")
    #endif
  }
}
