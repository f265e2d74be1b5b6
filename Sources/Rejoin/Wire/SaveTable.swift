// SPDX-License-Identifier: Apache-2.0

/// The devices and saves of a message that is being read.
///
/// Its memory is bounded by the size of the message. A save takes at least two
/// bytes there and nine here, or three there and seventeen here; a device takes
/// another three there and nine here.
struct SaveTable {
  /// The index of each device's first save, shifted by one bit.
  ///
  /// The lowest bit is set if its sequence numbers are contiguous. Ascending.
  private var starts: [UInt32] = []
  /// The index in `numbers` of each device's first save.
  private var offsets: [UInt32] = []
  /// The sequence number of each device's first save, or of all its saves if
  /// they are not contiguous.
  private var numbers: [UInt64] = []
  /// The device IDs.
  ///
  /// Sorted; empty if the message is only validated.
  private var devices: [DeviceID] = []
  /// Whether any device has an interval.
  private(set) var hasIntervals = false
  /// The timestamp of each save; zero if it has none.
  private var times: [UInt64] = []
  private var marks: [Marks] = []
  private var used: [Bool] = []
  /// The device that was looked up last: references cluster by device.
  private var current = 0

  private struct Marks: OptionSet {
    let rawValue: UInt8
    static let hasTime = Marks(rawValue: 1)
    static let isUsed = Marks(rawValue: 2)
    static let isExact = Marks(rawValue: 4)
  }

  /// Reads the devices and saves of a message.
  ///
  /// - Parameter isNaming: Whether to retain device IDs.
  init(
    _ count: Int, from reader: inout WireReader, isNaming: Bool
  ) throws(WireError) {
    let start = reader.offset
    guard count <= reader.remaining / 3 else {
      throw reader.error(
        .truncated, "at least three bytes for each of \(count) devices")
    }
    // A first pass only counts, so that each array is allocated once.
    var scan = DeviceScan(count: count)
    var (total, kept, room) = (0, 0, 0)
    while let block = try scan.next(from: &reader) {
      total += block.count
      kept += block.isDense ? min(block.count, 1) : block.count
      room += block.count == 0 ? 2 : block.count - (block.hasInterval ? 1 : 0)
      for _ in 0..<block.count { _ = try scan.time(from: &reader) }
    }
    guard total <= Int(Int32.max) else {
      throw reader.error(.invalid, "fewer than 2³¹ saves", at: start)
    }
    // Lower bound on the bytes needed to reference every save and device.
    guard room <= reader.remaining else {
      throw reader.error(
        .truncated, "at least \(room) bytes that refer to saves and devices")
    }
    starts.reserveCapacity(count)
    offsets.reserveCapacity(count)
    if isNaming { devices.reserveCapacity(count) }
    times.reserveCapacity(total)
    marks.reserveCapacity(total)
    used = Array(repeating: false, count: count)
    reader.goBack(to: start)
    try fill(count, numbers: kept, from: &reader, isNaming)
    _checkInvariants()
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
          throw reader.error(
            .invalid, "a timestamp of the save that ends an interval")
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

  /// The ID of a device, if IDs were retained.
  func device(of line: Int) -> DeviceID {
    devices.isEmpty ? DeviceID(0) : devices[line]
  }

  private func start(of line: Int) -> Int { Int(starts[line] >> 1) }

  /// The indices of a device's saves.
  func places(of line: Int) -> Range<Int> {
    start(
      of: line)..<(line + 1 < starts.count ? start(of: line + 1) : times.count)
  }

  /// The save at an index, and its device.
  mutating func dot(at place: Int) -> (dot: Dot, line: Int) {
    if !places(of: current).contains(place) {
      // Of several devices with one start, the last has the save.
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

  /// The sequence number of the save at an index.
  func number(at place: Int, of line: Int) -> UInt64 {
    let i = place - start(of: line)
    return starts[line] & 1 == 1
      ? numbers[Int(offsets[line])] + UInt64(i)
      : numbers[Int(offsets[line]) + i]
  }

  /// Records that a field refers to a save.
  mutating func use(_ place: Int) { marks[place].insert(.isUsed) }

  /// Records that a field refers to a device.
  mutating func use(line: Int) { used[line] = true }

  /// The timestamp of a write that is later than its save's by `extra`.
  ///
  /// - Returns: `nil` if the save has no timestamp, or the sum overflows.
  mutating func stamp(_ place: Int, extra: UInt64) -> Timestamp? {
    guard marks[place].contains(.hasTime) else { return nil }
    let (time, overflow) = times[place].addingReportingOverflow(extra)
    if overflow { return nil }
    marks[place].insert(extra == 0 ? [.isUsed, .isExact] : .isUsed)
    return Timestamp(rawValue: time)
  }

  /// Throws unless every device, save and timestamp has been referred to.
  func checkUse(_ reader: WireReader) throws(WireError) {
    guard used.allSatisfy(\.self) else {
      throw reader.error(.notCanonical, "no unreferenced device")
    }
    for mark in marks {
      guard mark.contains(.isUsed),
        mark.contains(.hasTime) == mark.contains(.isExact)
      else {
        throw reader.error(.notCanonical, "no unreferenced save or timestamp")
      }
    }
  }

  /// The timestamp of the save at an index; zero if it has none.
  func time(at place: Int) -> UInt64 { times[place] }
}

extension SaveTable {
  /// Traps in checked builds unless the invariants hold.
  @inline(__always)
  func _checkInvariants() {
    #if REJOIN_CHECK_INVARIANTS
      precondition(
        offsets.count == lineCount && used.count == lineCount
          && marks.count == count, "an array is too short or too long")
      precondition(
        zip(starts, starts.dropFirst()).allSatisfy { $0 >> 1 <= $1 >> 1 },
        "the saves of the devices are not in order")
      precondition(
        devices.isEmpty
          || devices.count == lineCount
            && zip(devices, devices.dropFirst()).allSatisfy(<),
        "the devices are not sorted")
    #endif
  }
}
