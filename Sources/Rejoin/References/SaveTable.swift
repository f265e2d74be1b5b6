// SPDX-License-Identifier: Apache-2.0

/// The devices, saves and intervals of a message that is being read.
///
/// Its memory is at most 16 times the bytes. A save takes at least one byte
/// there and 16 here, or two there and 24 here if the numbers have gaps; a
/// device takes another three there and 40 here; an interval one and 24.
struct SaveTable {
  /// An interval, which ends at one of the saves.
  struct Interval {
    let line: Int32
    let end: Int32
    let from: UInt64
    /// The timestamp of its last save.
    let time: Timestamp
  }

  private struct Marks: OptionSet {
    let rawValue: UInt8
    static let hasTime = Marks(rawValue: 1)
    static let isUsed = Marks(rawValue: 2)
    static let isExact = Marks(rawValue: 4)
  }

  private struct Save {
    /// The timestamp; zero if it has none.
    let time: UInt64
    var marks: Marks
  }

  private struct Line: DeviceEntry {
    let device: DeviceID
    /// The greatest sequence number of the device that any field has seen, or
    /// that is listed.
    var latest: UInt64
    /// The sequence number of its first save or, if the numbers have gaps, where
    /// they begin in `numbers`.
    let number: UInt64
    /// The index of its first save.
    let start: Int32
    let isDense: Bool
    var isUsed: Bool
  }

  /// Sorted by device and number.
  private var saves: [Save] = []
  /// The sequence numbers of the devices whose numbers have gaps.
  private var numbers: [UInt64] = []
  /// Sorted by device.
  private var lines: [Line] = []
  /// Sorted by device.
  private(set) var intervals: [Interval] = []
  /// The device that was looked up last: references cluster by device.
  private var current = 0

  /// Reads the devices, saves and intervals of a message.
  init(
    _ count: Int, from reader: inout WireReader
  ) throws(WireError) {
    let start = reader.offset
    guard count <= reader.remaining / 3 else {
      throw reader.error(
        .truncated, "at least three bytes for each of \(count) devices")
    }
    // Of a single device, all is known before the first of its saves.
    if count > 1 { try reserve(count, reader) }
    var scan = DeviceScan(count: count)
    while let block = try scan.next(
      from: &reader,
      number: { numbers.append($0) })
    {
      guard block.count <= Int(Int32.max) - saves.count else {
        throw reader.error(.invalid, "fewer than 2³¹ saves", at: start)
      }
      saves.reserveCapacity(saves.count + block.count)
      try add(block, &scan, &reader)
    }
    _checkInvariants()
  }

  /// Counts in a first pass, so that each array is allocated once.
  private mutating func reserve(
    _ count: Int, _ reader: WireReader
  ) throws(WireError) {
    var (reader, scan) = (reader, DeviceScan(count: count))
    var (total, gapped, ends) = (0, 0, 0)
    while let block = try scan.next(from: &reader) {
      total += block.count
      gapped += block.isDense ? 0 : block.count
      ends += block.hasInterval ? 1 : 0
      for _ in 0..<block.count { _ = try scan.time(from: &reader) }
    }
    lines.reserveCapacity(count)
    saves.reserveCapacity(total)
    numbers.reserveCapacity(gapped)
    intervals.reserveCapacity(ends)
  }

  private mutating func add(
    _ block: DeviceScan.Block, _ scan: inout DeviceScan,
    _ reader: inout WireReader
  ) throws(WireError) {
    lines.append(
      Line(
        device: block.device, latest: block.lastNumber,
        number: block.isDense
          ? block.number : UInt64(numbers.count - block.count),
        start: Int32(saves.count), isDense: block.isDense,
        isUsed: block.count > 0))
    for _ in 0..<block.count {
      let time = try scan.time(from: &reader)
      saves.append(
        Save(time: time ?? 0, marks: time == nil ? [] : .hasTime))
    }
    guard block.hasInterval else { return }
    let end = saves.count - 1 - block.distance
    guard let time = stamp(end, extra: block.extra) else {
      throw reader.error(
        .invalid, "a timestamp of 64 bits of the save that ends an interval")
    }
    let number = number(at: end, of: lines.count - 1)
    let step = block.step ?? number - 1
    guard step < number else {
      throw reader.error(
        .invalid, "an interval of at most \(number) saves")
    }
    intervals.append(
      Interval(
        line: Int32(lines.count - 1), end: Int32(end),
        from: number - 1 - step, time: time))
  }

  /// The number of saves.
  var count: Int { saves.count }

  /// The number of devices.
  var lineCount: Int { lines.count }

  /// The ID of a device.
  func device(of line: Int) -> DeviceID { lines[line].device }

  /// The indices of a device's saves.
  func places(of line: Int) -> Range<Int> {
    let end = line + 1 < lines.count ? Int(lines[line + 1].start) : saves.count
    return Int(lines[line].start)..<end
  }

  /// The save at an index, and its device.
  mutating func dot(at place: Int) -> (dot: Dot, line: Int) {
    if !places(of: current).contains(place) {
      // Of several devices with one start, the last has the save.
      current = lines.partitioningIndex { $0.start > place } - 1
    }
    return (Dot(lines[current].device, number(at: place, of: current)), current)
  }

  /// The sequence number of a device's save at an index.
  func number(at place: Int, of line: Int) -> UInt64 {
    let (line, i) = (lines[line], place - Int(lines[line].start))
    return line.isDense
      ? line.number + UInt64(i) : numbers[Int(line.number) + i]
  }

  /// Records that a field refers to a save.
  mutating func use(_ place: Int) { saves[place].marks.insert(.isUsed) }

  /// Records that a field refers to a device.
  mutating func use(line: Int) { lines[line].isUsed = true }

  /// Records that a field has seen a save of a device.
  mutating func see(_ sequence: UInt64, of line: Int) {
    lines[line].isUsed = true
    if sequence > lines[line].latest { lines[line].latest = sequence }
  }

  /// The greatest sequence number of a device that any field has seen, or that
  /// is listed.
  func latest(of device: DeviceID) -> UInt64 {
    lines.entry(of: device)?.latest ?? 0
  }

  /// The timestamp of a write that is later than its save's by `extra`.
  ///
  /// - Returns: `nil` if the save has no timestamp, or the sum overflows.
  mutating func stamp(_ place: Int, extra: UInt64) -> Timestamp? {
    guard saves[place].marks.contains(.hasTime) else { return nil }
    let (time, overflow) = saves[place].time.addingReportingOverflow(extra)
    if overflow { return nil }
    saves[place].marks.insert(extra == 0 ? [.isUsed, .isExact] : .isUsed)
    return Timestamp(rawValue: time)
  }

  /// Throws unless every device, save and timestamp has been referred to.
  func checkUse(_ reader: WireReader) throws(WireError) {
    guard lines.allSatisfy(\.isUsed) else {
      throw reader.error(.notCanonical, "no unreferenced device")
    }
    for save in saves {
      guard save.marks.contains(.isUsed),
        save.marks.contains(.hasTime) == save.marks.contains(.isExact)
      else {
        throw reader.error(.notCanonical, "no unreferenced save or timestamp")
      }
    }
  }
}

extension SaveTable {
  /// Traps in checked builds unless the invariants hold.
  @inline(__always)
  func _checkInvariants() {
    #if REJOIN_CHECK_INVARIANTS
      precondition(
        zip(lines, lines.dropFirst()).allSatisfy {
          $0.device < $1.device && $0.start <= $1.start
        }, "the devices or their saves are not sorted")
      for line in lines.indices {
        let numbers = places(of: line).map { number(at: $0, of: line) }
        precondition(
          zip(numbers, numbers.dropFirst()).allSatisfy(<),
          "the saves of \(lines[line].device) are not sorted")
      }
      precondition(
        zip(intervals, intervals.dropFirst()).allSatisfy { $0.line < $1.line }
          && intervals.allSatisfy {
            places(of: Int($0.line)).contains(Int($0.end))
          }, "an interval does not end at a save of its device")
    #endif
  }
}
