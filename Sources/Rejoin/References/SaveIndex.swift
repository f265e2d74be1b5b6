// SPDX-License-Identifier: Apache-2.0

/// The devices and saves that a message refers to, sorted.
///
/// A message lists each save once, with its timestamp, and fields refer to it
/// by its index among all saves.
struct SaveIndex {
  struct Save {
    let sequence: UInt64
    /// The least timestamp of what the save has written; `nil` if nothing of
    /// that has one.
    var time: UInt64?

    mutating func add(_ other: UInt64?) {
      guard let other else { return }
      time = time.map { min($0, other) } ?? other
    }
  }

  struct Line {
    let device: DeviceID
    var interval: SaveInterval?
    /// Sorted by sequence number; each number once.
    var saves: [Save] = []
    /// The index of the first save.
    var start = 0
    /// Whether the sequence numbers are contiguous.
    var isDense = false

    /// The place of a save among those of the device.
    func find(_ sequence: UInt64) -> Int {
      if isDense { return Int(sequence - saves[0].sequence) }
      return saves.partitioningIndex { $0.sequence >= sequence }
    }
  }

  /// Sorted by device; each device once.
  ///
  /// Only while saves are collected is the order another.
  private(set) var lines: [Line] = []
  /// The index of each device in `lines`; empty while there are few.
  private var places: [DeviceID: Int] = [:]
  /// The device that was looked up last: fields of one device come in runs.
  private var current = 0
  /// The save of the write that was collected last.
  private var latest: (dot: Dot, time: Timestamp)?
  /// The save that was found last.
  private var found: (dot: Dot, place: Int, time: UInt64)?

  /// Up to that many devices are compared, and not hashed.
  private static var few: Int { 8 }

  /// The index of a device.
  mutating func number(of device: DeviceID) -> Int {
    place(of: device) ?? 0
  }

  private mutating func place(of device: DeviceID) -> Int? {
    if current < lines.count, lines[current].device == device { return current }
    let found =
      lines.count > SaveIndex.few
      ? places[device] : lines.firstIndex { $0.device == device }
    if let found { current = found }
    return found
  }

  /// The index of a save, and its timestamp in the message.
  mutating func find(_ dot: Dot) -> (place: Int, time: UInt64) {
    // Fields of one save come in runs.
    if let found, found.dot == dot { return (found.place, found.time) }
    let i = number(of: dot.device)
    let place = lines[i].find(dot.sequence)
    let time = lines[i].saves[place].time ?? 0
    found = (dot, lines[i].start + place, time)
    return (lines[i].start + place, time)
  }

  /// Collects the end of an interval.
  mutating func insert(_ interval: SaveInterval, of device: DeviceID) {
    insert(Dot(device, interval.to.sequence), interval.to.time.rawValue)
    lines[current].interval = interval
  }

  /// Collects the save of a write.
  mutating func insert(_ save: (dot: Dot, time: Timestamp)) {
    // Fields of one save come in runs.
    if let latest, latest == save { return }
    latest = save
    insert(save.dot, save.time.rawValue)
  }

  /// Collects a device.
  mutating func insert(_ device: DeviceID) {
    if place(of: device) != nil { return }
    current = lines.count
    lines.append(Line(device: device))
    if lines.count <= SaveIndex.few { return }
    for i in places.count..<lines.count { places[lines[i].device] = i }
  }

  /// Collects a save, and the timestamp of its content.
  mutating func insert(_ dot: Dot, _ time: UInt64?) {
    insert(dot.device)
    // Fields of one save come in runs, too.
    let last = lines[current].saves.count - 1
    if last >= 0, lines[current].saves[last].sequence == dot.sequence {
      return lines[current].saves[last].add(time)
    }
    lines[current].saves.append(Save(sequence: dot.sequence, time: time))
  }

  /// Sorts what was collected.
  mutating func settle() {
    lines.sort { $0.device < $1.device }
    var start = 0
    for i in lines.indices {
      if lines.count > SaveIndex.few { places[lines[i].device] = i }
      lines[i].settle()
      lines[i].start = start
      start += lines[i].saves.count
    }
    current = 0
    _checkInvariants()
  }

  /// Traps in checked builds unless the invariants hold.
  @inline(__always)
  private func _checkInvariants() {
    #if REJOIN_CHECK_INVARIANTS
      var start = 0
      for (i, line) in lines.enumerated() {
        precondition(
          i == 0 || lines[i - 1].device < line.device,
          "\(line.device) is not sorted")
        precondition(
          places.isEmpty && lines.count <= SaveIndex.few
            || places[line.device] == i,
          "\(line.device) is not where it is looked up")
        precondition(
          line.start == start, "the first save of \(line.device) is elsewhere")
        precondition(
          zip(line.saves, line.saves.dropFirst()).allSatisfy {
            $0.sequence < $1.sequence
          }, "the saves of \(line.device) are not sorted")
        start += line.saves.count
      }
    #endif
  }
}

extension SaveIndex.Line {
  /// Sorts the saves and keeps each once, with its least timestamp.
  fileprivate mutating func settle() {
    let isSorted = zip(saves, saves.dropFirst()).allSatisfy {
      $0.sequence < $1.sequence
    }
    if !isSorted {
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
    guard let first = saves.first, let last = saves.last else { return }
    isDense = last.sequence - first.sequence == UInt64(saves.count - 1)
  }
}
