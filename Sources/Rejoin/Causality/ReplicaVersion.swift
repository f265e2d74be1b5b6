// SPDX-License-Identifier: Apache-2.0

/// The saves whose effects a replica holds in full, and what it has learned about
/// who else holds them: what one replica shows another to be told what it lacks.
///
///     let delta = phone.delta(since: tablet.clock)
///
/// For each device it has the number, the time and the digest of its last save.
/// The digests reveal a device ID that is in use twice: one number with two
/// histories. Such a device is *forked*, and stays so.
///
/// A clock is a summary beside the join, not a part of it: it advances by what has
/// been applied (``Delta/intervals``), and two clocks are never merged.
public struct ReplicaVersion: Hashable, Sendable {
  private var saves: [DeviceID: DeviceSave] = [:]

  /// The numbers alone.
  public private(set) var vector = VectorClock()

  /// The saves that every device on the roster is known to hold, as far as they
  /// are in ``vector``.
  public internal(set) var stabilityCut = VectorClock()

  /// The fields that are ahead of ``vector``: by the digest of their record and
  /// key, the saves they have seen beyond it.
  ///
  /// There are some where a part of a delta arrived and the rest did not. They
  /// tell a sender not to send those fields again and again.
  public package(set) var fieldsAhead: [UInt64: VectorClock] = [:]

  /// How many fields ahead are listed; where there are more, none are.
  static let fieldsAheadLimit = 4_096

  /// Creates the clock that holds nothing.
  public init() {}

  /// Creates a clock from numbers alone, without times and digests.
  public init(_ vector: VectorClock) {
    self.vector = vector
    for entry in vector.entries {
      saves[entry.device] = DeviceSave(
        sequence: entry.count, time: .zero, digest: 0)
    }
  }

  /// The latest save of a device; its number is zero if there is none.
  public subscript(device: DeviceID) -> DeviceSave { saves[device] ?? .none }

  /// The devices whose ID is in use twice.
  public var forkedDevices: Set<DeviceID> {
    Set(saves.lazy.filter(\.value.isForked).map(\.key))
  }

  /// Adds a device's latest save.
  package mutating func insert(_ save: DeviceSave, of device: DeviceID) {
    guard save.sequence > 0 else { return }
    saves[device] = self[device].joined(save)
    vector.insert(Dot(device, save.sequence))
  }

  /// Marks a device as forked, of which there must be a save.
  mutating func fork(_ device: DeviceID) { saves[device]?.isForked = true }

  /// Advances by an interval of saves whose effects have been applied.
  ///
  /// The saves of a forked device count only from the first on: an interval from
  /// anywhere else may continue the other history.
  ///
  /// - Returns: Whether the saves from `interval.from` on continue those here.
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
  /// The numbers alone.
  public var description: String { vector.description }
}
