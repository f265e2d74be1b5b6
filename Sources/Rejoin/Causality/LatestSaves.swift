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
    place(of: device).map { saves[$0] } ?? .none
  }

  /// The devices and their latest saves, sorted by device.
  package var entries: some Sequence<(device: DeviceID, save: DeviceSave)> {
    zip(vectorClock.entries.lazy.map(\.device), saves).lazy
      .map { (device: $0, save: $1) }
  }

  private func place(of device: DeviceID) -> Int? {
    let place = vectorClock.entries.position(of: device)
    let isHeld =
      place < saves.count && vectorClock.entries[place].device == device
    return isHeld ? place : nil
  }

  /// Adds the latest save of a device by a join.
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

  /// Marks a device as forked if it has saves.
  mutating func fork(_ device: DeviceID) {
    guard let place = place(of: device) else { return }
    saves[place].isForked = true
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
