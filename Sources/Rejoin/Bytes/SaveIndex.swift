// SPDX-License-Identifier: Apache-2.0

/// Collects the devices and saves that a message refers to.
struct SaveIndex {
  fileprivate struct Save: Sendable {
    let sequence: UInt64
    /// The least timestamp of the save's content, or `nil` without timestamps.
    var time: UInt64?

    mutating func add(_ other: UInt64?) {
      guard let other else { return }
      time = time.map { min($0, other) } ?? other
    }
  }

  fileprivate struct Line: Sendable {
    var interval: SaveInterval?
    /// Unsorted at first, with possible duplicates.
    var saves: [Save] = []
    /// The greatest sequence number in a clock.
    var latest: UInt64 = 0
  }

  private var lines = RunMap<DeviceID, Line>()
  /// The save of the last write that was collected.
  private var latest: (dot: Dot, time: Timestamp)?

  /// Collects the end of an interval.
  mutating func insert(_ interval: SaveInterval, of device: DeviceID) {
    insert(Dot(device, interval.to.sequence), interval.to.time.rawValue)
    lines.update(device, default: Line()) { $0.interval = interval }
  }

  /// Collects the save of a write.
  mutating func insert(_ save: (dot: Dot, time: Timestamp)) {
    // Fields of one save come in runs.
    if let latest, latest == save { return }
    latest = save
    insert(save.dot, save.time.rawValue)
  }

  /// Collects the entry of a clock.
  mutating func insert(_ entry: VectorClock.Entry) {
    lines.update(entry.device, default: Line()) {
      $0.latest = max($0.latest, entry.count)
    }
  }

  /// Collects a save and the timestamp of its content.
  mutating func insert(_ dot: Dot, _ time: UInt64?) {
    lines.update(dot.device, default: Line()) { line in
      // Fields of one save also come in runs.
      let last = line.saves.count - 1
      if last >= 0, line.saves[last].sequence == dot.sequence {
        line.saves[last].add(time)
      } else {
        line.saves.append(Save(sequence: dot.sequence, time: time))
      }
    }
  }

  /// Returns the table of the collected devices and saves.
  consuming func table() -> SaveTable {
    lines.updateAll { $1.sortAndDeduplicate() }
    var table = SaveTable()
    table.lines.reserveCapacity(lines.entries.count)
    let sorted = lines.sorted
    for line in sorted {
      table.add(line.key, saves: line.content.saves.count)
    }
    table.saves.reserveCapacity(table.count)
    for (i, line) in sorted.lazy.map(\.content).enumerated() {
      table.see(max(line.latest, line.saves.last?.sequence ?? 0), of: i)
      table.lines[i].interval = line.interval
      for save in line.saves {
        table.saves.append(
          .init(sequence: save.sequence, time: save.time ?? 0))
      }
    }
    table._checkInvariants()
    return table
  }
}

extension SaveIndex.Line {
  /// Sorts the saves and removes duplicates, keeping the least timestamps.
  fileprivate mutating func sortAndDeduplicate() {
    let isSorted = zip(saves, saves.dropFirst()).allSatisfy {
      $0.sequence < $1.sequence
    }
    if isSorted { return }
    saves.sort { $0.sequence < $1.sequence }
    var kept = 0
    for i in saves.indices.dropFirst() {
      if saves[kept].sequence == saves[i].sequence {
        saves[kept].add(saves[i].time)
      } else {
        kept += 1
        saves[kept] = saves[i]
      }
    }
    saves.removeSubrange((kept + 1)...)
  }
}

/// The greatest sequence number of each device in one store.
struct StoreDots {
  private let count: Int
  /// The number of each device, zero for most.
  ///
  /// Allocated with the first number, because the short form of a record needs
  /// none.
  private var greatest: [UInt64] = []
  /// The devices whose number is not zero.
  ///
  /// With this list, clearing costs no more than inserting.
  private(set) var touched: [Int32] = []

  init(count: Int) { self.count = count }

  subscript(line: Int) -> UInt64 { greatest.isEmpty ? 0 : greatest[line] }

  mutating func begin() {
    for line in touched { greatest[Int(line)] = 0 }
    touched.removeAll(keepingCapacity: true)
  }

  mutating func insert(_ sequence: UInt64, _ line: Int) {
    if greatest.isEmpty {
      greatest = Array(repeating: 0, count: count)
    }
    if greatest[line] == 0 { touched.append(Int32(line)) }
    greatest[line] = max(greatest[line], sequence)
  }

  /// Returns the numbers as a clock.
  func clock(_ saves: SaveTable) -> VectorClock {
    VectorClock(
      sorted: touched.sorted().map { line in
        .init(
          device: saves.lines[Int(line)].device, count: greatest[Int(line)])
      })
  }
}
