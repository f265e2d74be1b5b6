// SPDX-License-Identifier: Apache-2.0

// Each line: its device, with a flag if it continues the receiver's entries,
// the number and sum of the folded entries, the number of entries that were
// decided on and the decision, and the entries after the folded ones.
extension Ledger {
  package func write(to writer: inout FieldWriter) {
    writer.head(lines.count)
    var next = 0
    for (device, line) in lines.sorted(by: { $0.key < $1.key }) {
      let index = writer.line(of: device)
      let isContinued = writer.fragment?.continued.contains(device) ?? false
      writer.out.varint(UInt64(index - next) << 1 | (isContinued ? 1 : 0))
      next = index + 1
      writer.out.varint(line.folded)
      if line.folded > 0, !isContinued { writer.out.wide(line.foldedSum) }
      writer.out.varint(line.cancellation.decided)
      if line.cancellation.decided > 0 {
        writer.out.cancellation(line.cancellation)
      }
      line.writeTail(of: device, to: &writer)
    }
  }

  package static func read(
    from reader: inout FieldReader
  ) throws(WireError) -> Self {
    try reader.check(size: 5, "lines")
    var lines: [DeviceID: DeviceEntries] = [:]
    for _ in 0..<reader.count {
      let (line, entries) = try DeviceEntries.read(from: &reader)
      reader.fragment.lines.append(line)
      if reader.isBuilding { lines[reader.saves.lines[line].device] = entries }
    }
    return Ledger(lines: lines)
  }
}

extension DeviceEntries {
  fileprivate func writeTail(
    of device: DeviceID, to writer: inout FieldWriter
  ) {
    writer.out.varint(tail.count)
    var previous = Int(writer.saves.lines[writer.line(of: device)].start)
    for entry in tail {
      let index = writer.index(of: Dot(device, entry.sequence))
      writer.out.signed(Int64(index - previous))
      writer.out.varint(entry.time.rawValue - writer.saves.saves[index].time)
      writer.out.signed(entry.amount)
      writer.out.value(entry.memo)
      previous = index
    }
  }

  /// Reads the entries of a device and the index of its line.
  fileprivate static func read(
    from reader: inout FieldReader
  ) throws(WireError) -> (line: Int, DeviceEntries) {
    let start = reader.bytes.offset
    let code = try reader.bytes.varint()
    let (gap, isContinued) = (code >> 1, code & 1 != 0)
    let next = (reader.fragment.lines.last ?? -1) + 1
    try reader.bytes.require(
      gap < UInt64(reader.saves.lines.count - next)
        && (reader.isFragment || !isContinued), .invalid,
      "one of the devices, continued only in a fragment", at: start)
    let line = next + Int(gap)
    let folded = try readFold(isKnown: isContinued, from: &reader)
    let decision = try readDecision(from: &reader)
    let count = try reader.bytes.count(of: 4)
    if isContinued {
      reader.fragment.continued.insert(reader.saves.lines[line].device)
    }
    if decision.decided > 0 { reader.fragment.isWhole = true }
    try reader.bytes.require(
      decision.decided <= folded.count && (!isContinued || folded.count > 0)
        && (count > 0 || (isContinued ? decision.decided : folded.count) > 0),
      .invalid, "at least one entry, and only folded ones that were decided on",
      at: start)
    var tail: [Entry] = []
    if reader.isBuilding { tail.reserveCapacity(count) }
    var index = reader.saves.indices(of: line).lowerBound
    for _ in 0..<count {
      let entry = try Entry(from: &reader, after: &index, of: line)
      if reader.isBuilding { tail.append(entry) }
    }
    return (
      line,
      DeviceEntries(
        folded: folded.count, sum: folded.sum, cancellation: decision,
        tail: tail)
    )
  }

  /// Reads the decision how many entries are canceled.
  private static func readDecision(
    from reader: inout FieldReader
  ) throws(WireError) -> Cancellation {
    let start = reader.bytes.offset
    let decided = try reader.bytes.varint()
    if decided == 0 { return Cancellation() }
    let decision = try reader.bytes.cancellation(of: decided)
    try reader.bytes.require(
      decision.canceled == 0 || isSum(decision.sum, of: decision.canceled),
      .invalid, "a sum within the range of the canceled amounts", at: start)
    return decision
  }

  /// Reads the number and the sum of the folded entries.
  ///
  /// - Parameter isKnown: Whether the message omits the sum, because the
  ///   receiver has it.
  private static func readFold(
    isKnown: Bool, from reader: inout FieldReader
  ) throws(WireError) -> (count: UInt64, sum: WideInt) {
    let start = reader.bytes.offset
    let count = try reader.bytes.varint()
    let sum = count == 0 || isKnown ? 0 : try reader.bytes.wide()
    try reader.bytes.require(
      count <= Limits.foldedEntries && (count == 0 || isSum(sum, of: count)),
      .invalid, "up to 2⁴⁰ amounts, and a sum within their range", at: start)
    return (count, sum)
  }
}

extension DeviceEntries.Entry {
  /// Reads an entry of a device.
  ///
  /// - Parameter index: The index of the previous entry's save or, for the
  ///   first entry, of the device's first save. On return, the index of this
  ///   entry's save.
  fileprivate init(
    from reader: inout FieldReader, after index: inout Int, of line: Int
  ) throws(WireError) {
    let start = reader.bytes.offset
    index = try reader.index(
      index, movedBy: try reader.bytes.varint(), isSigned: true, at: start)
    try reader.bytes.require(
      reader.saves.indices(of: line).contains(index), .invalid,
      "a save of the entry's device", at: start)
    let time = try reader.readTime(of: index)
    self.init(
      sequence: reader.storeDot(at: index).dot.sequence, time: time,
      amount: try reader.bytes.signed(),
      memo: try reader.bytes.value(isBuilding: reader.isBuilding))
  }
}
