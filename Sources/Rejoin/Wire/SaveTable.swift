// SPDX-License-Identifier: Apache-2.0

/// The devices and saves that a message names, as it is being read.
///
/// A save takes two bytes in the message at least, and here nine, or three, and here
/// seventeen. A device takes another three, and here nine.
struct SaveTable {
  /// The place of each device's first save; the lowest bit says that its numbers
  /// follow on each other.
  private var starts: [UInt32] = []
  /// Where the number of each device's first save is.
  private var offsets: [UInt32] = []
  /// The number of each device's first save; all of its numbers, where they do not
  /// follow on each other.
  private var numbers: [UInt64] = []
  /// The devices, which are not needed where a message is only looked at.
  private var devices: [DeviceID] = []
  /// Whether any device has an interval.
  private(set) var hasIntervals = false
  /// The time of each save, zero where there is none.
  private var times: [UInt64] = []
  private var marks: [Marks] = []
  private var used: [Bool] = []
  /// The line that was looked at last.
  private var current = 0

  private struct Marks: OptionSet {
    let rawValue: UInt8
    static let hasTime = Marks(rawValue: 1)
    static let isUsed = Marks(rawValue: 2)
    static let isExact = Marks(rawValue: 4)
  }

  /// Reads the devices and saves of a message.
  ///
  /// - Parameter isNaming: Whether it will be asked which devices they are.
  init(
    _ count: Int, from reader: inout WireReader, isNaming: Bool
  ) throws(WireError) {
    let start = reader.offset
    guard count <= reader.remaining / 3 else {
      throw reader.error(.truncated, "room for \(count) devices")
    }
    // First it counts, so that each array is allocated once.
    var scan = DeviceScan(count: count)
    var (total, kept, room) = (0, 0, 0)
    while let block = try scan.next(from: &reader) {
      total += block.count
      kept += block.isDense ? min(block.count, 1) : block.count
      room += block.count == 0 ? 2 : block.count - (block.hasInterval ? 1 : 0)
      for _ in 0..<block.count { _ = try scan.time(from: &reader) }
    }
    guard total <= Int(Int32.max) else {
      throw reader.error(.invalid, "fewer saves", at: start)
    }
    // A value or a mark refers to a save, a gap and a number to a device.
    guard room <= reader.remaining else {
      throw reader.error(
        .truncated, "room for \(room) bytes that refer to them")
    }
    starts.reserveCapacity(count)
    offsets.reserveCapacity(count)
    if isNaming { devices.reserveCapacity(count) }
    times.reserveCapacity(total)
    marks.reserveCapacity(total)
    used = Array(repeating: false, count: count)
    reader.goBack(to: start)
    try fill(count, numbers: kept, from: &reader, isNaming)
  }

  private mutating func fill(
    _ count: Int, numbers kept: Int, from reader: inout WireReader,
    _ isNaming: Bool
  ) throws(WireError) {
    var numbers: [UInt64] = []
    numbers.reserveCapacity(kept)
    defer { self.numbers = numbers }
    var scan = DeviceScan(count: count)
    while let block = try scan.next(
      from: &reader, number: { numbers.append($0) })
    {
      used[starts.count] = block.count > 0
      starts.append(UInt32(times.count) << 1 | (block.isDense ? 1 : 0))
      offsets.append(
        UInt32(numbers.count - (block.isDense ? 0 : block.count)))
      if block.isDense, block.count > 0 { numbers.append(block.number) }
      if isNaming { devices.append(block.device) }
      for _ in 0..<block.count {
        let time = try scan.time(from: &reader)
        times.append(time ?? 0)
        marks.append(time == nil ? [] : .hasTime)
      }
      if block.hasInterval {
        hasIntervals = true
        let end = times.count - 1 - block.distance
        guard marks[end].contains(.hasTime) else {
          throw reader.error(.invalid, "the time of an interval's end")
        }
        marks[end].insert(.isUsed)
        if block.extra == 0 { marks[end].insert(.isExact) }
      }
    }
  }

  /// The number of saves.
  var count: Int { times.count }

  /// The number of devices.
  var lineCount: Int { starts.count }

  /// The device of a line, if it was to be kept.
  func device(of line: Int) -> DeviceID {
    devices.isEmpty ? DeviceID(0) : devices[line]
  }

  private func start(of line: Int) -> Int { Int(starts[line] >> 1) }

  /// How many saves a device has here.
  func places(of line: Int) -> Range<Int> {
    start(
      of: line)..<(line + 1 < starts.count ? start(of: line + 1) : times.count)
  }

  /// The save at a place, and its device's.
  mutating func dot(at place: Int) -> (dot: Dot, line: Int) {
    if !places(of: current).contains(place) {
      var (low, high) = (0, starts.count - 1)
      while low < high {
        let middle = (low + high + 1) / 2
        if start(of: middle) <= place {
          low = middle
        } else {
          high = middle - 1
        }
      }
      current = low
    }
    let n = number(at: place, of: current)
    return (Dot(device(of: current), n), current)
  }

  /// The number of the save at a place.
  func number(at place: Int, of line: Int) -> UInt64 {
    let i = place - start(of: line)
    return starts[line] & 1 == 1
      ? numbers[Int(offsets[line])] + UInt64(i)
      : numbers[Int(offsets[line]) + i]
  }

  /// Notes that a field refers to a save.
  mutating func use(_ place: Int) { marks[place].insert(.isUsed) }

  /// Notes that a field refers to a device.
  mutating func use(line: Int) { used[line] = true }

  /// The time that a save stamped, which is later than the save's by `extra`.
  ///
  /// - Returns: `nil` if the save has no time, or there is none so late.
  mutating func stamp(_ place: Int, extra: UInt64) -> Timestamp? {
    guard marks[place].contains(.hasTime) else { return nil }
    let (time, overflow) = times[place].addingReportingOverflow(extra)
    if overflow { return nil }
    marks[place].insert(extra == 0 ? [.isUsed, .isExact] : .isUsed)
    return Timestamp(rawValue: time)
  }

  /// Refuses what nothing referred to.
  func checkUse(_ reader: WireReader) throws(WireError) {
    guard used.allSatisfy(\.self) else {
      throw reader.error(.notCanonical, "no device that nothing refers to")
    }
    for mark in marks {
      guard mark.contains(.isUsed),
        mark.contains(.hasTime) == mark.contains(.isExact)
      else {
        throw reader.error(
          .notCanonical, "no save or time that nothing refers to")
      }
    }
  }

  /// The time of a save.
  func time(at place: Int) -> UInt64 { times[place] }
}
