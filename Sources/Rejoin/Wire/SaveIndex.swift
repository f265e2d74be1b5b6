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
  }

  struct Line {
    let device: DeviceID
    /// Sorted by sequence number; each number once.
    var saves: [Save] = []
    /// The index of the first save.
    var start = 0

    /// Whether the sequence numbers are contiguous.
    var isDense: Bool {
      guard let first = saves.first, let last = saves.last else { return false }
      return last.sequence - first.sequence == UInt64(saves.count - 1)
    }
  }

  /// Sorted by device; each device once.
  ///
  /// Only while saves are collected is the order another.
  private(set) var lines: [Line] = []
  /// The index of each device in `lines`.
  private var places: [DeviceID: Int] = [:]

  /// Collects the devices and saves that fields and intervals refer to.
  init(
    _ changes: [RecordChange], _ intervals: [DeviceID: SaveInterval]
  ) {
    for (device, interval) in intervals {
      insert(Dot(device, interval.to.sequence), interval.to.time)
    }
    for change in changes {
      for state in change.fields.values {
        state.forEachSave { insert($0, $1) }
        for entry in state.explicitRemainder { _ = place(of: entry.device) }
        if case .ledger(let field) = state {
          for device in field.store.lines.keys { _ = place(of: device) }
        }
      }
    }
    settle()
  }

  /// The index of a device.
  func number(of device: DeviceID) -> Int { places[device] ?? 0 }

  /// The index of a save, and its timestamp in the message.
  func find(_ dot: Dot) -> (place: Int, time: UInt64) {
    let line = lines[number(of: dot.device)]
    var (low, high) = (0, line.saves.count - 1)
    if line.isDense {
      low = Int(dot.sequence - line.saves[0].sequence)
    } else {
      while low < high {
        let middle = (low + high) / 2
        if line.saves[middle].sequence < dot.sequence {
          low = middle + 1
        } else {
          high = middle
        }
      }
    }
    return (line.start + low, line.saves[low].time ?? 0)
  }

  private mutating func place(of device: DeviceID) -> Int {
    if let last = lines.last, last.device == device { return lines.count - 1 }
    if let place = places[device] { return place }
    places[device] = lines.count
    lines.append(Line(device: device))
    return lines.count - 1
  }

  private mutating func insert(_ dot: Dot, _ time: Timestamp?) {
    lines[place(of: dot.device)].saves.append(
      Save(sequence: dot.sequence, time: time?.rawValue))
  }

  private mutating func settle() {
    lines.sort { $0.device < $1.device }
    var start = 0
    for i in lines.indices {
      places[lines[i].device] = i
      lines[i].settle()
      lines[i].start = start
      start += lines[i].saves.count
    }
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
          places[line.device] == i && line.start == start,
          "\(line.device) is not where it is looked up")
        precondition(
          zip(line.saves, line.saves.dropFirst()).allSatisfy {
            $0.sequence < $1.sequence
          }, "the saves of \(line.device) are not sorted")
        start += line.saves.count
      }
      precondition(places.count == lines.count, "unlisted devices")
    #endif
  }
}

extension SaveIndex.Line {
  /// Sorts the saves and keeps each once, with its least timestamp.
  fileprivate mutating func settle() {
    let isSorted = zip(saves, saves.dropFirst()).allSatisfy {
      $0.sequence <= $1.sequence
    }
    if !isSorted { saves.sort { $0.sequence < $1.sequence } }
    var kept = 0
    for i in saves.indices {
      if kept > 0, saves[kept - 1].sequence == saves[i].sequence {
        let times = [saves[kept - 1].time, saves[i].time].compactMap(\.self)
        saves[kept - 1].time = times.min()
      } else {
        saves[kept] = saves[i]
        kept += 1
      }
    }
    saves.removeSubrange(kept...)
  }
}

extension FieldState {
  /// Calls `body` with each save that the store refers to, and the timestamp of
  /// what it wrote.
  func forEachSave(_ body: (Dot, Timestamp?) -> Void) {
    switch self {
    case .register(let field):
      for sibling in field.store { body(sibling.dot, sibling.payload.time) }
    case .lww(let field):
      if let write = field.store.write { body(write.dot, write.payload.time) }
    case .counter(let field):
      for entry in field.store.entries {
        body(Dot(entry.device, entry.sequence), nil)
      }
    case .set(let field): field.store.forEachSave(body)
    case .removeWinsSet(let field): field.store.forEachSave(body)
    case .ledger(let field):
      for (device, line) in field.store.lines {
        for entry in line.tail { body(Dot(device, entry.sequence), entry.time) }
      }
    }
  }

  /// The part of the clock that the dots in the store do not imply.
  var explicitRemainder: [VectorClock.Entry] {
    switch self {
    case .register(let field): field.explicitRemainder
    case .lww(let field): field.explicitRemainder
    case .counter(let field): field.explicitRemainder
    case .set(let field): field.explicitRemainder
    case .removeWinsSet(let field): field.explicitRemainder
    case .ledger(let field): field.explicitRemainder
    }
  }
}

extension DotMap {
  fileprivate func forEachSave(_ body: (Dot, Timestamp?) -> Void) {
    for all in siblings.values {
      for sibling in all { body(sibling.dot, nil) }
    }
  }
}

extension Causal {
  /// The part of the clock that the dots in the store do not imply.
  var explicitRemainder: [VectorClock.Entry] {
    if isContextImplied { return [] }
    let dots = store.dots
    return clock.entries.filter { $0.count > dots[$0.device] }
  }
}
