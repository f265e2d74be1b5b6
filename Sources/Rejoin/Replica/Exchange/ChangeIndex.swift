// SPDX-License-Identifier: Apache-2.0

/// For every device, which fields its saves touched last: the inverse of the
/// fields' clocks, from which it can be rebuilt.
///
/// With it a delta costs what has changed, not what there is. When a device
/// touches a field again, the old entry goes stale; it is skipped on reading and
/// removed when half of the entries are stale, so that a field that is written a
/// million times takes no more than one that is written once.
struct ChangeIndex {
  /// Where a field is: the position of the record and the number of its name.
  struct Location: Hashable {
    let record: UInt32
    let name: UInt32
  }

  fileprivate struct Entry {
    let sequence: UInt64
    let location: Location
  }

  /// The saves of one device.
  fileprivate struct Line {
    var entries: [Entry] = []
    var greatest: UInt64 = 0
    /// How many of the first entries are known to be in order.
    var sorted = 0
    /// How many entries are of fields that the device has touched again since.
    var stale = 0
  }

  private var lines: [DeviceID: Line] = [:]

  /// Notes that the clock of a field has moved.
  ///
  /// - Parameter last: The last save of a device that a field has seen.
  /// - Complexity: O(*r*) for *r* devices in the clocks, amortized.
  mutating func note(
    _ location: Location, from old: VectorClock, to new: VectorClock,
    last: (DeviceID, Location) -> UInt64
  ) {
    for entry in new.entries {
      let before = old[entry.device]
      guard entry.count > before else { continue }
      lines[entry.device, default: Line()].append(
        Entry(sequence: entry.count, location: location),
        isReplacing: before > 0)
      if lines[entry.device]?.isMostlyStale == true {
        lines[entry.device]?.tidy { last(entry.device, $0) }
      }
    }
  }

  /// How many entries there are, stale ones included.
  var entryCount: Int { lines.values.reduce(0) { $0 + $1.entries.count } }

  /// The greatest number of a device's saves that has touched a field here.
  func last(of device: DeviceID) -> UInt64 { lines[device]?.greatest ?? 0 }

  /// The fields that hold saves which `basis` has not seen.
  ///
  /// - Parameter last: The last save of a device that a field has seen.
  /// - Complexity: O(*k* log *k*) for *k* saves that are unseen, amortized.
  mutating func locations(
    since basis: VectorClock, last: (DeviceID, Location) -> UInt64
  ) -> Set<Location> {
    var result: Set<Location> = []
    for device in Array(lines.keys) {
      let known = basis[device]
      guard lines[device]?.greatest ?? 0 > known else { continue }
      lines[device]?.sort()
      // Not `?? []`, with which all entries would be copied.
      guard let entries = lines[device]?.entries else { continue }
      for entry in entries.reversed() {
        if entry.sequence <= known { break }
        if last(device, entry.location) == entry.sequence {
          result.insert(entry.location)
        }
      }
    }
    return result
  }
}

extension ChangeIndex.Line {
  mutating func append(_ entry: ChangeIndex.Entry, isReplacing: Bool) {
    let isNext = entry.sequence >= entries.last?.sequence ?? 0
    if sorted == entries.count, isNext { sorted += 1 }
    entries.append(entry)
    greatest = max(greatest, entry.sequence)
    if isReplacing { stale += 1 }
  }

  var isMostlyStale: Bool { stale > 16 && stale * 2 > entries.count }

  /// Drops the entries whose field has seen a later save of the device.
  mutating func tidy(last: (ChangeIndex.Location) -> UInt64) {
    let isSorted = sorted == entries.count
    entries.removeAll { last($0.location) != $0.sequence }
    sorted = isSorted ? entries.count : 0
    stale = 0
  }

  /// Sorts the entries from the least on that has come out of order, which is
  /// nearly always among the last.
  mutating func sort() {
    guard let least = entries[sorted...].lazy.map(\.sequence).min() else {
      return
    }
    let last = entries[..<sorted].lastIndex { $0.sequence <= least }
    entries[(last.map { $0 + 1 } ?? 0)...].sort { $0.sequence < $1.sequence }
    sorted = entries.count
  }
}
