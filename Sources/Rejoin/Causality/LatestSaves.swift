// SPDX-License-Identifier: Apache-2.0

/// The latest save of each device: a vector clock, with a timestamp and a
/// digest for each entry.
package struct LatestSaves: Hashable, Sendable {
  /// The sequence numbers.
  private(set) var vectorClock = VectorClock()
  /// The saves, in the order of `vectorClock` and with the same sequence
  /// numbers.
  private var saves: [DeviceSave] = []
  /// Whether any device is forked.
  private(set) var hasForks = false

  init() {}

  /// Creates entries from sequence numbers, without timestamps and digests.
  init(_ vectorClock: VectorClock) {
    self.vectorClock = vectorClock
    saves = vectorClock.entries.map {
      DeviceSave(sequence: $0.count, time: .zero, digest: 0)
    }
    _checkInvariants()
  }

  /// Whether no device has saves.
  var isEmpty: Bool { saves.isEmpty }

  /// The latest save of a device, or one with the sequence number zero.
  ///
  /// - Complexity: O(log *r*), where *r* is the number of devices.
  package subscript(device: DeviceID) -> DeviceSave {
    index(of: device).map { saves[$0] } ?? .none
  }

  /// The devices and their latest saves, sorted by device.
  package var entries: some Sequence<(device: DeviceID, save: DeviceSave)> {
    zip(vectorClock.entries.lazy.map(\.device), saves).lazy
      .map { (device: $0, save: $1) }
  }

  private func index(of device: DeviceID) -> Int? {
    let index = vectorClock.entries.position(of: device)
    let isHeld =
      index < saves.count && vectorClock.entries[index].device == device
    return isHeld ? index : nil
  }

  /// Adds the latest save of a device by a join.
  package mutating func insert(_ save: DeviceSave, of device: DeviceID) {
    guard save.sequence > 0 else { return }
    if let index = index(of: device) {
      saves[index] = saves[index].joined(save)
      hasForks = hasForks || saves[index].isForked
    } else {
      saves.insert(save, at: vectorClock.entries.position(of: device))
      hasForks = hasForks || save.isForked
    }
    vectorClock.advance(to: Dot(device, save.sequence))
    _checkInvariants()
  }

  /// Marks a device as forked if it has saves.
  mutating func fork(_ device: DeviceID) {
    guard let index = index(of: device) else { return }
    saves[index].isForked = true
    hasForks = true
  }

  /// Calls `body` with each device whose latest saves differ, and with both
  /// saves.
  ///
  /// - Complexity: O(*r*), where *r* is the number of devices in both values.
  func forEachDifference(
    from other: LatestSaves,
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
}

extension LatestSaves {
  /// Traps in checked builds unless the invariants hold.
  @inline(__always)
  func _checkInvariants() {
    #if REJOIN_CHECK_INVARIANTS
      precondition(
        saves.map(\.sequence) == vectorClock.entries.map(\.count),
        "the saves differ from the vector clock \(vectorClock)")
      precondition(
        hasForks == saves.contains(where: \.isForked),
        "`hasForks` is \(hasForks)")
    #endif
  }
}

/// The latest save of a device that a replica knows.
public struct DeviceSave: Hashable, Sendable {
  /// The sequence number of the save, or zero if the device has no saves.
  public let sequence: UInt64
  /// The timestamp of the save.
  public let time: Timestamp
  /// The digest, chained over all saves of the device up to this one, or zero
  /// if it is unknown.
  public let digest: UInt64
  /// Whether the replica knows two histories under this device ID.
  ///
  /// Never reset, because the histories cannot be separated again.
  public internal(set) var isForked: Bool

  package init(
    sequence: UInt64, time: Timestamp, digest: UInt64, isForked: Bool = false
  ) {
    self.sequence = sequence
    self.time = time
    self.digest = digest
    self.isForked = isForked
  }

  /// The entry of a device without saves.
  package static let none = DeviceSave(sequence: 0, time: .zero, digest: 0)

  /// Returns whether both saves have the same sequence number but different
  /// digests, and so belong to different histories.
  ///
  /// Zero stands for an unknown digest, which contradicts no other.
  package func contradicts(_ other: DeviceSave) -> Bool {
    sequence == other.sequence && sequence > 0 && digest != 0
      && other.digest != 0
      && digest != other.digest
  }

  /// Returns whether another digest of the save with this number belongs to a
  /// different history.
  ///
  /// The digest of a forked device is a union, which may contain the other
  /// digest.
  func excludes(_ other: UInt64) -> Bool {
    digest != 0 && (isForked ? other & ~digest != 0 : other != digest)
  }

  /// Returns the lesser of this save, which a prefix contains, and another save
  /// of the device, or `nil` if no common save is known.
  ///
  /// A save contains the saves before it. If the device is forked, a number can
  /// stand for either of two histories. Only a prefix whose save is flagged
  /// contains a history from its first save on, and the numbers and digests must
  /// be equal. The times may differ, because the sender of an earlier save does
  /// not know its time.
  func common(with other: DeviceSave, isForked: Bool) -> DeviceSave? {
    if isForked || self.isForked || other.isForked || contradicts(other) {
      return self.isForked && isSame(as: other) ? self : nil
    }
    let lesser = sequence < other.sequence ? self : other
    return lesser.sequence > 0 ? lesser : nil
  }

  /// Returns whether both saves have the same sequence number and the same
  /// digest.
  package func isSame(as other: DeviceSave) -> Bool {
    sequence == other.sequence && digest == other.digest
  }

  /// Returns the join of two entries of one device, which is the later save.
  ///
  /// A forked device has no later save, so sequence numbers, timestamps and
  /// digests are joined separately. Digests are joined by bitwise OR, which is
  /// commutative, associative and idempotent. All replicas that have seen both
  /// histories therefore have the same entry.
  package func joined(_ other: DeviceSave) -> DeviceSave {
    let isForked = isForked || other.isForked || contradicts(other)
    if !isForked, sequence != other.sequence {
      return sequence < other.sequence ? other : self
    }
    return DeviceSave(
      sequence: max(sequence, other.sequence), time: max(time, other.time),
      digest: digest | other.digest, isForked: isForked)
  }
}
