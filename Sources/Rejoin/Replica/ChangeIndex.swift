//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

/// For every device, which fields its saves touched last: the inverse of the
/// fields' clocks, from which it can be rebuilt.
///
/// With it a delta costs what has changed, not what there is. When a device
/// touches a field again, the old entry goes stale; it is skipped on reading and
/// removed when half of the entries are stale.
struct ChangeIndex {
  /// Where a field is: the position of the record and the number of its name.
  struct Location: Hashable {
    let record: UInt32
    let name: UInt32
  }

  private struct Entry {
    let n: UInt64
    let location: Location
  }

  private struct Line {
    var entries: [Entry] = []
    var last: UInt64 = 0
    var sorted = 0
    var stale = 0
  }

  private var lines: [DeviceID: Line] = [:]

  /// Notes that the clock of a field has moved.
  mutating func note(
    _ location: Location, from old: VectorClock, to new: VectorClock
  ) {
    for entry in new.entries {
      let before = old[entry.device]
      guard entry.count > before else { continue }
      lines[entry.device, default: Line()].entries.append(
        Entry(n: entry.count, location: location))
      if entry.count > lines[entry.device]?.last ?? 0 {
        lines[entry.device]?.last = entry.count
      }
      if before > 0 { lines[entry.device]?.stale += 1 }
    }
  }

  /// The greatest number of a device's saves that has touched a field here.
  func last(of device: DeviceID) -> UInt64 { lines[device]?.last ?? 0 }

  /// The fields that hold saves which `basis` has not seen.
  ///
  /// - Parameter last: The last save of a device that a field has seen.
  /// - Complexity: O(*k* log *k*) for *k* saves that are news, amortized.
  mutating func locations(
    since basis: VectorClock, last: (Location, DeviceID) -> UInt64
  ) -> Set<Location> {
    var result: Set<Location> = []
    for device in Array(lines.keys) {
      tidy(device, last: last)
      guard let entries = lines[device]?.entries else { continue }
      let known = basis[device]
      for entry in entries.reversed() {
        if entry.n <= known { break }
        if last(entry.location, device) == entry.n {
          result.insert(entry.location)
        }
      }
    }
    return result
  }

  /// Sorts what has been added to a line, and drops stale entries when they are
  /// the half of it.
  private mutating func tidy(
    _ device: DeviceID, last: (Location, DeviceID) -> UInt64
  ) {
    guard var line = lines.removeValue(forKey: device) else { return }
    if line.stale * 2 > line.entries.count {
      line.entries.removeAll { last($0.location, device) != $0.n }
      (line.stale, line.sorted) = (0, 0)
    }
    if line.sorted < line.entries.count {
      let added = line.entries[max(line.sorted - 1, 0)...]
      let isSorted = zip(added, added.dropFirst()).allSatisfy { $0.n <= $1.n }
      if !isSorted { line.entries.sort { $0.n < $1.n } }
      line.sorted = line.entries.count
    }
    lines[device] = line
  }
}
