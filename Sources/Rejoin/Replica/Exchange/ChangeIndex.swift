// SPDX-License-Identifier: Apache-2.0

/// The fields that the saves of each device touched.
///
/// The index is the inverse of the fields' clocks and can be rebuilt from them.
/// It makes the cost of a delta depend on the number of changed fields, not on
/// the size of the state. An entry becomes stale when its device touches the
/// field again. Reads skip stale entries, and the index removes them when they
/// are the majority. A field that is written a million times takes no more
/// memory than a field that is written once.
struct ChangeIndex {
  fileprivate struct Entry {
    let sequence: UInt64
    let location: FieldPosition
  }

  /// The fields that one device touched.
  fileprivate struct DeviceChanges {
    /// One entry with the last save for each field that the device touched, and
    /// stale entries with earlier saves.
    var entries: [Entry] = []
    /// The greatest number in `entries`.
    var greatest: UInt64 = 0
    /// The length of a prefix of `entries` that is sorted by number.
    var sorted = 0
    /// The number of stale entries.
    var stale = 0
    /// The number of times that entries were moved or removed.
    var moves = 0
  }

  /// The state of the index at one moment.
  struct Checkpoint {
    fileprivate struct Device {
      let count: Int
      let greatest: UInt64
      let sorted: Int
      let stale: Int
      let moves: Int
    }

    fileprivate let devices: [Device]
  }

  /// The changes of each device whose saves any field has seen.
  private var byDevice = RunMap<DeviceID, DeviceChanges>()
  /// The number of changes recorded so far.
  private(set) var recordedCount = 0

  /// Records that a field has seen a later save of one device.
  ///
  /// - Parameters:
  ///   - dot: The last save of the device that the field has seen.
  ///   - isReplacing: Whether the field had seen a save of the device before.
  ///   - last: A closure that returns the last save of a device that a field
  ///     has seen, including this change.
  /// - Complexity: O(1), amortized.
  mutating func record(
    _ location: FieldPosition, at dot: Dot, isReplacing: Bool,
    last: (DeviceID, FieldPosition) -> UInt64
  ) {
    recordedCount += 1
    byDevice.update(dot.device, default: DeviceChanges()) { changes in
      let isMostlyStale = changes.append(
        Entry(sequence: dot.sequence, location: location),
        isReplacing: isReplacing)
      if isMostlyStale { changes.compact { last(dot.device, $0) } }
    }
  }

  /// The current state of the index.
  ///
  /// - Complexity: O(*d*), where *d* is the number of devices.
  var checkpoint: Checkpoint {
    Checkpoint(devices: byDevice.entries.map(\.content.checkpoint))
  }

  /// Returns whether entries were only added since a checkpoint.
  func canRevert(to checkpoint: Checkpoint) -> Bool {
    zip(byDevice.entries, checkpoint.devices).allSatisfy {
      $0.content.moves == $1.moves
    }
  }

  /// Removes the entries that were added since a checkpoint.
  mutating func revert(to checkpoint: Checkpoint) {
    byDevice.removeAll(after: checkpoint.devices.count)
    byDevice.updateAll { $1.revert(to: checkpoint.devices[$0]) }
  }

  /// The number of entries, including stale ones.
  var entryCount: Int {
    byDevice.entries.reduce(0) { $0 + $1.content.entries.count }
  }

  /// Returns the last save of a device that any field has seen, or zero.
  func last(of device: DeviceID) -> UInt64 { byDevice[device]?.greatest ?? 0 }

  /// The devices whose saves any field has seen.
  var devices: [DeviceID] { byDevice.entries.map(\.key) }

  /// Returns the fields that have seen saves beyond `basis`, each once.
  ///
  /// - Parameter devices: The devices whose saves to find, each once.
  /// - Complexity: O(*d* + *k* log *k*), amortized, where *d* is the number of
  ///   devices and *k* is the number of unseen changes. The fields are not
  ///   read: each look-up would depend on the number of their devices.
  mutating func locations(
    since basis: VectorClock, of devices: [DeviceID]
  ) -> [FieldPosition] {
    var result: [FieldPosition] = []
    var mayRepeat = false
    for device in devices where last(of: device) > basis[device] {
      byDevice.update(device, default: DeviceChanges()) { changes in
        changes.sort()
        let seen = basis[device]
        let unseen = changes.entries[
          changes.entries.partitioningIndex { $0.sequence > seen }...]
        // Reserve only once, because each reservation may copy the array.
        if result.isEmpty { result.reserveCapacity(unseen.count) }
        // Include stale entries: their field has a later entry, which is beyond
        // the basis as well.
        mayRepeat = mayRepeat || !result.isEmpty || changes.stale > 0
        for entry in unseen { result.append(entry.location) }
      }
    }
    if mayRepeat { result.sortWithoutDuplicates() }
    return result
  }
}

extension [FieldPosition] {
  /// Sorts the positions by rank and keeps each once.
  fileprivate mutating func sortWithoutDuplicates() {
    sort { $0.rank < $1.rank }
    var count = 0
    for position in self where count == 0 || self[count - 1] != position {
      self[count] = position
      count += 1
    }
    removeSubrange(count...)
  }
}

extension ChangeIndex {
  /// Returns the number of changes beyond `basis`, including stale entries.
  ///
  /// - Parameter devices: The devices whose saves to count, each once.
  mutating func count(since basis: VectorClock, of devices: [DeviceID]) -> Int {
    var count = 0
    for device in devices where last(of: device) > basis[device] {
      byDevice.update(device, default: DeviceChanges()) { changes in
        changes.sort()
        let seen = basis[device]
        count +=
          changes.entries.count
          - changes.entries.partitioningIndex { $0.sequence > seen }
      }
    }
    return count
  }
}

extension ChangeIndex.DeviceChanges {
  fileprivate var checkpoint: ChangeIndex.Checkpoint.Device {
    .init(
      count: entries.count, greatest: greatest, sorted: sorted, stale: stale,
      moves: moves)
  }

  fileprivate mutating func revert(to checkpoint: ChangeIndex.Checkpoint.Device)
  {
    if entries.count == checkpoint.count { return }
    entries.removeSubrange(checkpoint.count...)
    (greatest, sorted, stale) = (
      checkpoint.greatest, checkpoint.sorted, checkpoint.stale
    )
  }

  /// Adds an entry.
  ///
  /// - Returns: Whether compaction is worthwhile.
  mutating func append(
    _ entry: ChangeIndex.Entry, isReplacing: Bool
  ) -> Bool {
    let isNext = entry.sequence >= entries.last?.sequence ?? 0
    if sorted == entries.count, isNext { sorted += 1 }
    entries.append(entry)
    greatest = max(greatest, entry.sequence)
    if isReplacing { stale += 1 }
    return isMostlyStale
  }

  /// Whether compaction is worthwhile.
  ///
  /// Compaction is O(1) per entry, amortized, because it removes the majority.
  /// It gains little for 16 stale entries or fewer.
  var isMostlyStale: Bool { stale > 16 && stale * 2 > entries.count }

  /// Removes the stale entries.
  mutating func compact(last: (FieldPosition) -> UInt64) {
    let isSorted = sorted == entries.count
    moves += 1
    entries.removeAll { last($0.location) != $0.sequence }
    sorted = isSorted ? entries.count : 0
    stale = 0
  }

  /// Sorts the entries.
  ///
  /// Only entries from the smallest unsorted number on can be out of order.
  /// They are nearly always few, because most saves arrive in order.
  mutating func sort() {
    guard let least = entries[sorted...].lazy.map(\.sequence).min() else {
      return
    }
    moves += 1
    let last = entries[..<sorted].lastIndex { $0.sequence <= least }
    entries[(last.map { $0 + 1 } ?? 0)...].sort { $0.sequence < $1.sequence }
    sorted = entries.count
  }
}

extension ChangeIndex {
  #if REJOIN_CHECK_INVARIANTS
    /// Checks that the index is the inverse of the fields' clocks.
    func _checkInvariants(_ clocks: [FieldPosition: VectorClock]) {
      var touched: [DeviceID: [FieldPosition: UInt64]] = [:]
      for (location, clock) in clocks {
        for entry in clock.entries {
          touched[entry.device, default: [:]][location] = entry.count
        }
      }
      precondition(
        Set(byDevice.entries.map(\.key)) == Set(touched.keys),
        "the change index and the fields' clocks are not of the same devices")
      for (device, changes) in byDevice.entries.map({ ($0.key, $0.content) }) {
        changes._checkInvariants(touched[device] ?? [:], device)
      }
    }
  #else
    func _checkInvariants(_ clocks: [FieldPosition: VectorClock]) {}
  #endif
}

#if REJOIN_CHECK_INVARIANTS
  extension ChangeIndex.DeviceChanges {
    /// Checks the current entry of each touched field, the number of stale
    /// entries, and the sort order.
    func _checkInvariants(
      _ touched: [FieldPosition: UInt64], _ device: DeviceID
    ) {
      let live = entries.filter { touched[$0.location] == $0.sequence }
      precondition(
        live.count == touched.count
          && Set(live.map(\.location)).count == live.count,
        "change index of \(device): \(live.count) live entries, "
          + "\(touched.count) fields")
      precondition(
        stale == entries.count - live.count,
        "change index of \(device): \(stale) stale entries are counted, "
          + "\(entries.count - live.count) are there")
      precondition(
        greatest == entries.map(\.sequence).max(),
        "change index of \(device): \(greatest) is not the greatest number")
      let prefix = entries[..<sorted].map(\.sequence)
      precondition(
        zip(prefix, prefix.dropFirst()).allSatisfy { $0 <= $1 },
        "change index of \(device): the first \(sorted) are not sorted")
      precondition(
        !isMostlyStale, "change index of \(device): it was not compacted")
    }
  }
#endif
