// SPDX-License-Identifier: Apache-2.0

/// The devices, saves and intervals of a message.
///
/// A message lists each save once, with its timestamp. Fields refer to a save
/// by its *index* among all saves.
///
/// The table takes at most 16 times the bytes of a received message. A save
/// takes 24 bytes here and at least 2 in the message. A device takes 80 bytes
/// here and at least 17 in the message.
struct SaveTable: Sendable {
  struct Save {
    let sequence: UInt64
    /// The least timestamp of the save's content in the message, or zero
    /// without timestamps.
    let time: UInt64
    /// The references of fields to the save, recorded during validation.
    var uses: SaveUses = []
  }

  struct Line: DeviceEntry {
    let device: DeviceID
    /// The index of the device's first save.
    let start: Int32
    /// The greatest sequence number of the device that the message refers to.
    var latest: UInt64 = 0
    /// The flags that a reader gets before the interval.
    fileprivate(set) var flags: Flags = []
    /// The interval of the device, which ends at one of the saves.
    var interval: SaveInterval?
  }

  struct Flags: OptionSet {
    let rawValue: UInt8
    /// The device has an interval.
    static let hasInterval = Flags(rawValue: 1)
    /// The interval does not end with the last listed save and its timestamp.
    static let endsElsewhere = Flags(rawValue: 2)
    /// The device is forked.
    static let isForked = Flags(rawValue: 4)
  }

  /// Sorted by device.
  var lines: [Line] = []
  /// Sorted by device and number.
  var saves: [Save] = []
  /// The number of saves of all devices, including saves not yet added.
  private(set) var count = 0

  /// Adds a device after the others, with the number of its saves.
  mutating func add(_ device: DeviceID, saves: Int, _ flags: Flags = []) {
    lines.append(Line(device: device, start: Int32(count), flags: flags))
    count += saves
  }

  /// Records that the message refers to a save of a device.
  mutating func see(_ sequence: UInt64, of line: Int) {
    if sequence > lines[line].latest { lines[line].latest = sequence }
  }

  /// Returns the indices of a device's saves.
  func indices(of line: Int) -> Range<Int> {
    let end = line + 1 < lines.count ? Int(lines[line + 1].start) : count
    return Int(lines[line].start)..<end
  }

  /// Returns the index of a device's save.
  func index(of sequence: UInt64, of line: Int) -> Int {
    let range = indices(of: line)
    let first = saves[range.lowerBound].sequence
    // If the numbers are contiguous, no search is needed.
    let guess = sequence - first
    if guess < UInt64(range.count),
      saves[range.lowerBound + Int(guess)].sequence == sequence
    {
      return range.lowerBound + Int(guess)
    }
    return saves[range].partitioningIndex { $0.sequence >= sequence }
  }

  /// Returns the index of the device of a save.
  ///
  /// If several devices share a start, the last one contains the save.
  func line(at index: Int) -> Int {
    lines.partitioningIndex { $0.start > index } - 1
  }

  /// Returns the greatest sequence number of a device in the message, or zero.
  func latest(of device: DeviceID) -> UInt64 {
    lines.entry(of: device)?.latest ?? 0
  }

  /// The devices with an interval, and their intervals.
  var intervals: some Sequence<(DeviceID, SaveInterval)> {
    lines.lazy.compactMap { line in line.interval.map { (line.device, $0) } }
  }
}

/// The uses of a save in a message.
struct SaveUses: OptionSet {
  let rawValue: UInt8
  static let isReferred = SaveUses(rawValue: 1)
  /// The message uses a timestamp of the save.
  static let isStamped = SaveUses(rawValue: 2)
  /// The message uses the timestamp that the table lists for the save.
  static let isExact = SaveUses(rawValue: 4)
}

extension SaveTable {
  /// Traps in checked builds unless the invariants hold.
  @inline(__always)
  func _checkInvariants() {
    #if REJOIN_CHECK_INVARIANTS
      precondition(count == saves.count, "\(count) saves were announced")
      precondition(
        zip(lines, lines.dropFirst()).allSatisfy {
          $0.device < $1.device && $0.start <= $1.start
        }, "the devices or their saves are not sorted")
      for line in lines.indices {
        for index in indices(of: line) {
          precondition(
            self.index(of: saves[index].sequence, of: line) == index,
            "a save of \(lines[line].device) is not found")
        }
      }
    #endif
  }
}

// The devices come first, each with the number of its saves. Then follow the
// saves and the interval of each device. A reader therefore knows the number of
// all saves before the first one.
extension SaveTable {
  /// Writes the devices, saves and intervals.
  func write(to out: inout WireWriter, as kind: WireKind) {
    for i in lines.indices {
      out.device(lines[i].device)
      out.varint(
        UInt64(indices(of: i).count) << 3 | UInt64(flags(of: i).rawValue))
    }
    var times = TimeChain()
    for (i, line) in lines.enumerated() {
      var last: UInt64 = 0
      for save in saves[indices(of: i)] {
        out.varint(save.sequence - last - 1)
        times.write(save.time, to: &out)
        last = save.sequence
      }
      guard let interval = line.interval else { continue }
      let (from, to) = (interval.from, interval.to)
      if flags(of: i).contains(.endsElsewhere) {
        let end = index(of: to.sequence, of: i)
        out.varint(indices(of: i).upperBound - 1 - end)
        out.varint(to.time.rawValue - saves[end].time)
      }
      // Readers refuse the message if the interval is empty.
      if !kind.startsAtZero { out.varint(to.sequence &- from &- 1) }
      out.fixed(to.digest)
    }
  }

  private func flags(of line: Int) -> Flags {
    guard let to = lines[line].interval?.to else { return [] }
    let last = saves[indices(of: line).upperBound - 1]
    var flags: Flags = to.isForked ? [.hasInterval, .isForked] : .hasInterval
    if (last.sequence, last.time) != (to.sequence, to.time.rawValue) {
      flags.insert(.endsElsewhere)
    }
    return flags
  }

  /// Reads the devices, saves and intervals of a message.
  init(
    of devices: Int, from reader: inout WireReader
  ) throws(WireError) {
    try reader.require(
      devices <= reader.remaining / 17, .truncated,
      "at least 17 bytes for each of \(devices) devices")
    lines.reserveCapacity(devices)
    for _ in 0..<devices { try readDevice(&reader) }
    saves.reserveCapacity(count)
    var times = TimeChain()
    for line in lines.indices {
      var last: UInt64 = 0
      for _ in indices(of: line) {
        last = try reader.number(after: last)
        let time = try times.read(from: &reader)
        saves.append(Save(sequence: last, time: time))
      }
      if lines[line].flags.contains(.hasInterval) {
        try readInterval(of: line, &reader)
      }
    }
    _checkInvariants()
  }

  /// Reads a device and the number of its saves.
  private mutating func readDevice(
    _ reader: inout WireReader
  ) throws(WireError) {
    let device = try reader.device(after: lines.last?.device)
    let start = reader.offset
    let head = try reader.varint()
    let flags = Flags(rawValue: UInt8(head & 7))
    try reader.require(
      head >> 3 <= UInt64(max(0, reader.remaining / 2 - count))
        && head >> 3 <= UInt64(Int(Int32.max) - count), .truncated,
      "at least two bytes for each of \(head >> 3) saves", at: start)
    try reader.require(
      flags == [] || head >> 3 > 0 && flags.contains(.hasInterval),
      .notCanonical,
      "flags only of a device with an interval, which has a save", at: start)
    add(device, saves: Int(head >> 3), flags)
  }

  private mutating func readInterval(
    of line: Int, _ reader: inout WireReader
  ) throws(WireError) {
    let (start, range) = (reader.offset, indices(of: line))
    let flags = lines[line].flags
    var (distance, extra) = (0 as UInt64, 0 as UInt64)
    if flags.contains(.endsElsewhere) {
      (distance, extra) = (try reader.varint(), try reader.varint())
      try reader.require(
        distance < UInt64(range.count) && (distance > 0 || extra > 0),
        .invalid,
        "the end of an interval at one of the saves, but not the last exactly",
        at: start)
    }
    let end = saves[range.upperBound - 1 - Int(distance)]
    let step =
      reader.kind.startsAtZero ? end.sequence - 1 : try reader.varint()
    let (time, overflow) = end.time.addingReportingOverflow(extra)
    try reader.require(
      step < end.sequence && !overflow, .invalid,
      "an interval of at most \(end.sequence) saves, with a timestamp of 64 bits",
      at: start)
    see(end.sequence, of: line)
    lines[line].interval = SaveInterval(
      from: end.sequence - 1 - step,
      to: DeviceSave(
        sequence: end.sequence, time: Timestamp(rawValue: time),
        digest: try reader.fixed(), isForked: flags.contains(.isForked)))
  }
}
