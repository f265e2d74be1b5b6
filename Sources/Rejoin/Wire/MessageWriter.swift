// SPDX-License-Identifier: Apache-2.0

/// Writes what deltas, snapshots, records and stored replicas have in common:
/// devices, records and intervals.
struct MessageWriter {
  var out: WireWriter
  let saves: SaveIndex
  /// The index of the save that was referred to last.
  var last = -1

  private let intervals: [DeviceID: SaveInterval]
  private let kind: WireKind

  /// Writes a message up to its checksum.
  ///
  /// - Parameters:
  ///   - changes: The records, sorted by ID.
  ///   - intervals: The interval of each device with unseen saves.
  init(
    _ changes: [RecordChange], _ intervals: [DeviceID: SaveInterval],
    as kind: WireKind
  ) {
    out = WireWriter(kind)
    saves = SaveIndex(changes, intervals)
    self.intervals = intervals
    self.kind = kind
    let entities = MessageWriter.byEntity(changes)
    out.pair(saves.lines.count, entities.count)
    writeDevices()
    for entity in entities { write(entity) }
    writeHistories()
  }

  private static func byEntity(
    _ changes: [RecordChange]
  ) -> [ArraySlice<RecordChange>] {
    var parts: [ArraySlice<RecordChange>] = []
    var rest = changes[...]
    while let first = rest.first {
      let end = rest.firstIndex {
        !UTF8Order.equal($0.id.entity, first.id.entity)
      }
      parts.append(rest[..<(end ?? rest.endIndex)])
      rest = rest[(end ?? rest.endIndex)...]
    }
    return parts
  }
}

extension MessageWriter {
  private mutating func writeDevices() {
    var previous: DeviceID?
    var times = TimeChain()
    for line in saves.lines {
      out.device(line.device, after: previous)
      previous = line.device
      write(line, intervals[line.device])
      for save in line.saves { times.write(save.time, to: &out) }
    }
  }

  /// Writes the number of a device's saves, their sequence numbers, and the
  /// interval.
  private mutating func write(
    _ line: SaveIndex.Line, _ interval: SaveInterval?
  ) {
    var head = DeviceHead()
    head.isDense = line.isDense
    var (distance, extra, step) = (0, 0 as UInt64, 0 as UInt64)
    if let interval {
      precondition(
        interval.from < interval.to.sequence,
        "the interval of \(line.device) is empty: leave it out")
      let end = saves.find(Dot(line.device, interval.to.sequence))
      distance = line.start + line.saves.count - 1 - end.place
      extra = interval.to.time.rawValue - end.time
      step = interval.to.sequence - interval.from - 1
      head.hasInterval = true
      head.isUnusual = distance > 0 || extra > 0
      head.isSingle = !kind.beginsAtNothing && step == 0
    }
    out.varint(UInt64(line.saves.count) << 4 | UInt64(head.rawValue))
    for (i, save) in line.saves.enumerated() where i == 0 || !head.isDense {
      out.varint(
        i == 0 ? save.sequence : save.sequence - line.saves[i - 1].sequence - 1)
    }
    if head.isUnusual {
      out.varint(distance)
      out.varint(extra)
    }
    if head.hasInterval, !kind.beginsAtNothing, !head.isSingle {
      out.varint(step)
    }
  }

  private mutating func writeHistories() {
    var (digests, forks) = (WireWriter(), WireWriter())
    var (isKnown, next) = (false, 0)
    for (place, line) in saves.lines.enumerated() {
      guard let interval = intervals[line.device] else { continue }
      digests.fixed(interval.to.digest)
      isKnown = isKnown || interval.to.digest != 0
      guard interval.to.isForked else { continue }
      forks.varint(place - next)
      next = place + 1
    }
    if isKnown { out.section(.histories, digests) }
    if next > 0 { out.section(.forks, forks) }
  }
}

/// The flags of a device: the lower four bits of the number after its ID.
///
/// The other bits are the number of its saves.
struct DeviceHead {
  private(set) var rawValue: UInt8 = 0

  init(rawValue: UInt8 = 0) { self.rawValue = rawValue }

  /// The device has an interval, which ends with one of the saves listed.
  var hasInterval: Bool {
    get { rawValue & 1 != 0 }
    set { rawValue = newValue ? rawValue | 1 : rawValue & ~1 }
  }

  /// The sequence numbers are contiguous, and only the first is written.
  var isDense: Bool {
    get { rawValue & 2 != 0 }
    set { rawValue = newValue ? rawValue | 2 : rawValue & ~2 }
  }

  /// The interval consists of one save.
  var isSingle: Bool {
    get { rawValue & 4 != 0 }
    set { rawValue = newValue ? rawValue | 4 : rawValue & ~4 }
  }

  /// The interval does not end with the last save listed and its timestamp.
  var isUnusual: Bool {
    get { rawValue & 8 != 0 }
    set { rawValue = newValue ? rawValue | 8 : rawValue & ~8 }
  }
}

extension WireWriter {
  /// Writes a device ID: how many bytes it shares with the previous one, and
  /// the rest.
  mutating func device(_ device: DeviceID, after previous: DeviceID?) {
    guard let previous else { return raw(device.bytes) }
    let shared = device.sharedBytes(with: previous)
    byte(UInt8(shared))
    raw(device.bytes.dropFirst(shared))
  }
}

extension DeviceID {
  /// The number of leading bytes that both have in common.
  func sharedBytes(with other: DeviceID) -> Int {
    high == other.high
      ? 8 + (low ^ other.low).leadingZeroBitCount / 8
      : (high ^ other.high).leadingZeroBitCount / 8
  }
}
