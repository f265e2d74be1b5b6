//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

/// The devices and saves that a message names, as it is being read.
///
/// Every save takes a byte in the message at least, and here nine.
struct SaveTable {
  struct Line {
    let device: DeviceID
    /// The place of its first save.
    let start: UInt32
    /// Where its numbers are, if they do not follow on each other.
    let sparse: Int32
    /// The number of its first save.
    let number: UInt64
  }

  private(set) var lines: [Line] = []
  /// Whether any device has an interval.
  private(set) var hasIntervals = false
  /// The time of each save, zero where there is none.
  private var times: [UInt64] = []
  private var marks: [Marks] = []
  /// The numbers of the saves of devices whose numbers do not follow on.
  private var numbers: [UInt64] = []
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
  init(
    _ count: Int, from reader: inout WireReader
  ) throws(WireError) {
    let start = reader.offset
    guard count <= reader.remaining / 3 else {
      throw reader.error(.truncated, "room for \(count) devices")
    }
    // First it counts, so that each array is allocated once.
    var scan = DeviceScan(count: count)
    var (total, sparse) = (0, 0)
    while let block = try scan.next(from: &reader) {
      total += block.count
      sparse += block.isDense ? 0 : block.count
      for _ in 0..<block.count { _ = try scan.time(from: &reader) }
    }
    guard total <= Int(Int32.max) else {
      throw reader.error(.invalid, "fewer saves", at: start)
    }
    lines.reserveCapacity(count)
    times.reserveCapacity(total)
    marks.reserveCapacity(total)
    used = Array(repeating: false, count: count)
    reader.goBack(to: start)
    try fill(count, sparse: sparse, from: &reader)
  }

  private mutating func fill(
    _ count: Int, sparse: Int, from reader: inout WireReader
  ) throws(WireError) {
    var numbers: [UInt64] = []
    numbers.reserveCapacity(sparse)
    defer { self.numbers = numbers }
    var scan = DeviceScan(count: count)
    while let block = try scan.next(
      from: &reader, number: { numbers.append($0) })
    {
      lines.append(
        Line(
          device: block.device, start: UInt32(times.count),
          sparse: block.isDense
            ? -1 : Int32(numbers.count - block.count),
          number: block.number))
      used[lines.count - 1] = block.count > 0
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

  /// How many saves a device has here.
  func places(of line: Int) -> Range<Int> {
    let end = line + 1 < lines.count ? Int(lines[line + 1].start) : times.count
    return Int(lines[line].start)..<end
  }

  /// The save at a place, and its device's.
  mutating func dot(at place: Int) -> (dot: Dot, line: Int) {
    if !places(of: current).contains(place) {
      var (low, high) = (0, lines.count - 1)
      while low < high {
        let middle = (low + high + 1) / 2
        if Int(lines[middle].start) <= place { low = middle } else {
          high = middle - 1
        }
      }
      current = low
    }
    let n = number(at: place, of: current)
    return (Dot(lines[current].device, n), current)
  }

  /// The number of the save at a place.
  func number(at place: Int, of line: Int) -> UInt64 {
    let line = lines[line]
    let i = place - Int(line.start)
    return line.sparse < 0
      ? line.number + UInt64(i) : numbers[Int(line.sparse) + i]
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
