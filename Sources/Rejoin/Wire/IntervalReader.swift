//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

/// Reads the intervals of a message whose other parts have been read.
struct IntervalReader {
  private var reader: WireReader
  private var scan: DeviceScan
  private let saves: SaveTable
  private var line = -1
  private var isKnown = false

  /// Where the digests are.
  var histories: WireReader?
  /// Where the disputes are.
  var disputes: WireReader?
  /// The device that the next dispute is about.
  private var disputed: Int?
  private var nextLine = 0

  init(_ reader: WireReader, count: Int, _ saves: SaveTable) {
    self.reader = reader
    scan = DeviceScan(count: count)
    self.saves = saves
  }

  /// Reads the next interval; `nil` if there is none left.
  mutating func next() throws(WireError) -> (DeviceID, Delta.Interval)? {
    while let block = try scan.next(from: &reader) {
      line += 1
      for _ in 0..<block.count { _ = try scan.time(from: &reader) }
      if block.hasInterval { return (block.device, try interval(block)) }
    }
    try histories?.finish()
    try disputes?.finish()
    if let histories, !isKnown {
      throw histories.error(.notCanonical, "a digest")
    }
    if let disputes, disputed != nil || nextLine == 0 {
      throw disputes.error(.invalid, "a dispute about an interval")
    }
    return nil
  }

  private mutating func interval(
    _ block: DeviceScan.Block
  ) throws(WireError) -> Delta.Interval {
    let place = saves.places(of: line).upperBound - 1 - block.distance
    let n = saves.number(at: place, of: line)
    let from = try begin(of: block, n)
    let (time, overflow) = saves.time(at: place)
      .addingReportingOverflow(block.extra)
    guard !overflow else { throw reader.error(.invalid, "a time of 64 bits") }
    let digest = try histories?.fixed() ?? 0
    isKnown = isKnown || digest != 0
    return Delta.Interval(
      from: from,
      to: .init(n: n, time: Timestamp(rawValue: time), digest: digest),
      disputed: try dispute())
  }

  private func begin(
    of block: DeviceScan.Block, _ n: UInt64
  ) throws(WireError) -> UInt64 {
    guard let step = block.step else { return 0 }
    guard step < n else {
      throw reader.error(.invalid, "an interval that begins at zero or later")
    }
    return n - 1 - step
  }

  private mutating func dispute() throws(WireError) -> ReplicaClock.Save? {
    try nextDispute()
    guard disputed == line, var part = disputes else { return nil }
    disputed = nil
    let start = part.offset
    let save = ReplicaClock.Save(
      n: try part.varint(), time: Timestamp(rawValue: try part.fixed()),
      digest: try part.fixed())
    guard save.n > 0 else {
      throw part.error(.invalid, "a number from one on", at: start)
    }
    disputes = part
    return save
  }

  /// Reads which device the next dispute is about.
  private mutating func nextDispute() throws(WireError) {
    guard disputed == nil, var part = disputes, part.remaining > 0 else {
      return
    }
    let gap = try part.varint()
    guard gap < UInt64(saves.lineCount) else {
      throw part.error(.invalid, "one of the devices")
    }
    disputes = part
    disputed = nextLine + Int(gap)
    nextLine += Int(gap) + 1
  }
}
