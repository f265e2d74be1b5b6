// SPDX-License-Identifier: Apache-2.0

/// Reads the device block of a message: for each device its ID, its saves and
/// its interval.
struct DeviceScan {
  /// A device, up to the timestamps of its saves.
  struct Block {
    let device: DeviceID
    let count: Int
    let head: DeviceHead
    /// The sequence number of the first save.
    var number: UInt64 = 0
    /// The sequence number of the last save.
    var lastNumber: UInt64 = 0
    /// How many saves before the last one the interval ends.
    var distance = 0
    /// How much later the interval's timestamp is than that of its last save.
    var extra: UInt64 = 0
    /// The number of saves in the interval, less one; `nil` if the interval
    /// begins at zero.
    var step: UInt64?

    var isDense: Bool { head.isDense || count == 0 }
    var hasInterval: Bool { head.hasInterval }
  }

  private var left: Int
  private var previous: DeviceID?
  private var times = TimeChain()

  init(count: Int) { left = count }

  /// Reads the next device, up to the timestamps of its saves.
  ///
  /// - Parameter number: Called with each sequence number of a device whose
  ///   numbers have gaps.
  mutating func next(
    from reader: inout WireReader, number: (UInt64) -> Void = { _ in }
  ) throws(WireError) -> Block? {
    guard left > 0 else { return nil }
    left -= 1
    let device = try reader.device(after: previous)
    previous = device
    let start = reader.offset
    let first = try reader.varint()
    guard first >> 4 <= UInt64(reader.remaining) else {
      throw reader.error(
        .truncated, "at least one byte for each of \(first >> 4) saves",
        at: start)
    }
    var block = Block(
      device: device, count: Int(first >> 4),
      head: DeviceHead(rawValue: UInt8(first & 15)))
    try DeviceScan.readNumbers(of: &block, from: &reader, number)
    try DeviceScan.readInterval(of: &block, from: &reader, at: start)
    return block
  }

  /// Reads the timestamp of a save.
  mutating func time(
    from reader: inout WireReader
  ) throws(WireError) -> UInt64? { try times.read(from: &reader) }

  private static func readNumbers(
    of block: inout Block, from reader: inout WireReader,
    _ number: (UInt64) -> Void
  ) throws(WireError) {
    let start = reader.offset
    guard block.count > 0 else {
      if block.head.rawValue == 0 { return }
      throw reader.error(
        .notCanonical, "no flags for a device without saves", at: start)
    }
    block.number = try reader.varint()
    guard block.number > 0 else {
      throw reader.error(
        .invalid, "a sequence number above zero", at: start)
    }
    var isDense = true
    block.lastNumber = block.number
    if !block.head.isDense { number(block.number) }
    for _ in 1..<block.count {
      let gap = block.head.isDense ? 0 : try reader.varint()
      let next = block.lastNumber.addingReportingOverflow(1)
      let (last, overflow) = next.partialValue.addingReportingOverflow(gap)
      guard !next.overflow, !overflow else {
        throw reader.error(
          .invalid, "sequence numbers of 64 bits", at: start)
      }
      isDense = isDense && gap == 0
      block.lastNumber = last
      if !block.head.isDense { number(last) }
    }
    guard isDense == block.head.isDense else {
      throw reader.error(
        .notCanonical, "the dense form of contiguous sequence numbers",
        at: start)
    }
  }

  private static func readInterval(
    of block: inout Block, from reader: inout WireReader, at start: Int
  ) throws(WireError) {
    let head = block.head
    guard head.hasInterval else {
      if !head.isSingle, !head.isUnusual { return }
      throw reader.error(
        .notCanonical, "no interval flags for a device without an interval",
        at: start)
    }
    if head.isUnusual {
      let distance = try reader.varint()
      block.extra = try reader.varint()
      block.distance = Int(clamping: distance)
      guard block.distance < block.count,
        block.distance > 0 || block.extra > 0
      else {
        throw reader.error(
          .invalid,
          "the end of an interval at one of the saves, but not the last exactly",
          at: start)
      }
    }
    if reader.kind.beginsAtNothing {
      guard !head.isSingle else {
        throw reader.error(
          .notCanonical, "no single-save flag for an interval from zero",
          at: start)
      }
    } else {
      block.step = head.isSingle ? 0 : try reader.varint()
      guard head.isSingle || block.step != 0 else {
        throw reader.error(
          .notCanonical, "the single-save flag for an interval of one save",
          at: start)
      }
    }
  }
}
