// SPDX-License-Identifier: Apache-2.0

// The number of devices, and the line of each: which sums it has, the folded and
// the cancelled sum, and the entries after them.
extension Ledger {
  package func write(to writer: inout FieldWriter) {
    writer.head(lines.count)
    var next = 0
    for (device, line) in lines.sorted(by: { $0.key < $1.key }) {
      let place = writer.saves.number(of: device)
      let isContinued = writer.continued?.contains(device) ?? false
      let hasSum = line.folded > 0 && !isContinued
      let flags =
        (hasSum ? 1 : 0) | (line.cancelled > 0 ? 2 : 0) as UInt64
      // Only a fragment has lines without what is before them.
      let code = UInt64(place - next) << 2 | flags
      writer.out.varint(
        writer.continued == nil
          ? code : code << 1 | (isContinued ? 1 : 0))
      next = place + 1
      if isContinued || hasSum { writer.out.varint(line.folded) }
      if hasSum { writer.out.wide(line.foldedSum) }
      if line.cancelled > 0 {
        writer.out.varint(line.cancelled)
        writer.out.wide(line.cancelledSum)
      }
      line.writeTail(of: device, to: &writer)
    }
  }

  package static func read(
    from reader: inout FieldReader
  ) throws(WireError) -> Self {
    var lines: [DeviceID: DeviceEntries] = [:]
    for _ in 0..<(try reader.count(reader.head, size: 3, "items")) {
      let (line, entries) = try DeviceEntries.read(
        after: reader.lines.last ?? -1, from: &reader)
      reader.lines.append(line)
      if reader.isBuilding { lines[reader.saves.device(of: line)] = entries }
    }
    return Ledger(lines: lines)
  }
}

extension DeviceEntries {
  fileprivate func writeTail(
    of device: DeviceID, to writer: inout FieldWriter
  ) {
    writer.out.varint(tail.count)
    var previous = writer.saves.lines[writer.saves.number(of: device)].start
    for entry in tail {
      let found = writer.saves.find(Dot(device, entry.sequence))
      let extra = entry.time.rawValue - found.time
      let moved = Int64(found.place - previous).zigzag
      writer.out.varint(moved << 1 | (extra > 0 ? 1 : 0))
      if extra > 0 { writer.out.varint(extra) }
      previous = found.place
      writer.out.signed(entry.amount)
      writer.out.value(entry.memo)
    }
  }

  /// Reads the line of a device, and the index of the device.
  ///
  /// - Parameter last: The index of the device of the line before.
  fileprivate static func read(
    after last: Int, from reader: inout FieldReader
  ) throws(WireError) -> (line: Int, DeviceEntries) {
    let start = reader.bytes.offset
    var code = try reader.bytes.varint()
    let isContinued = reader.isFragment && code & 1 != 0
    if reader.isFragment { code >>= 1 }
    guard code >> 2 < UInt64(reader.saves.lineCount - last - 1),
      !isContinued || code & 1 == 0
    else {
      throw reader.bytes.error(
        .invalid, "one of the devices, and no sum before a continuation",
        at: start)
    }
    let line = last + 1 + Int(code >> 2)
    reader.saves.use(line: line)
    var folded: (UInt64, Int128) =
      code & 1 == 0 ? (0, 0) : try readSum(from: &reader)
    if isContinued {
      folded.0 = try readIndex(from: &reader)
      reader.continued.insert(reader.saves.device(of: line))
    }
    let cancelled = code & 2 == 0 ? (0, 0) : try readSum(from: &reader)
    if cancelled.0 > 0 { reader.isWhole = true }
    let count = try reader.bytes.count(of: 3)
    let hasContent =
      isContinued ? cancelled.0 > 0 || count > 0 : folded.0 > 0 || count > 0
    let isWithin =
      isContinued ? cancelled.0 <= folded.0 : cancelled <= folded
    guard isWithin, hasContent else {
      throw reader.bytes.error(
        .invalid,
        "at least one entry, and no more cancelled than folded", at: start)
    }
    var tail: [Entry] = []
    if reader.isBuilding { tail.reserveCapacity(count) }
    var place = reader.saves.places(of: line).lowerBound
    for _ in 0..<count {
      let entry = try Entry(from: &reader, after: &place, of: line)
      if reader.isBuilding { tail.append(entry) }
    }
    return (
      line,
      DeviceEntries(
        folded: folded.0, sum: folded.1, cancelled: cancelled.0,
        cancelledSum: cancelled.1, tail: tail)
    )
  }

  /// Reads how many entries are before those of a fragment.
  private static func readIndex(
    from reader: inout FieldReader
  ) throws(WireError) -> UInt64 {
    let start = reader.bytes.offset
    let index = try reader.bytes.varint()
    guard index > 0, index <= Limits.foldedEntries else {
      throw reader.bytes.error(.invalid, "an index from 1 to 2⁴⁰", at: start)
    }
    return index
  }

  /// Reads the number and the sum of folded or cancelled entries.
  private static func readSum(
    from reader: inout FieldReader
  ) throws(WireError) -> (UInt64, Int128) {
    let start = reader.bytes.offset
    let count = try reader.bytes.varint()
    let sum = try reader.bytes.wide()
    guard isSum(sum, of: count) else {
      throw reader.bytes.error(
        .invalid, "from 1 to 2⁴⁰ amounts, and a sum within their range",
        at: start)
    }
    return (count, sum)
  }
}

extension DeviceEntries.Entry {
  /// Reads an entry of a device.
  ///
  /// - Parameter place: The index of the save of the entry before, or of the first
  ///   save of the device. It becomes that of this entry.
  fileprivate init(
    from reader: inout FieldReader, after place: inout Int, of line: Int
  ) throws(WireError) {
    let start = reader.bytes.offset
    let code = try reader.bytes.varint()
    place = try reader.place(
      place, movedBy: Int64(zigzag: code >> 1), at: start)
    let extra = try reader.extra(if: code & 1 != 0, at: start)
    guard reader.saves.places(of: line).contains(place),
      let time = reader.saves.stamp(place, extra: extra)
    else {
      throw reader.bytes.error(
        .invalid, "a save of the entry's device, with a timestamp", at: start)
    }
    self.init(
      sequence: reader.dot(at: place).dot.sequence, time: time,
      amount: try reader.bytes.signed(),
      memo: try reader.bytes.value(isBuilding: reader.isBuilding))
  }
}
