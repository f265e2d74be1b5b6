// SPDX-License-Identifier: Apache-2.0

// The devices come first, each with the number of its saves. Then follow the
// saves and the interval of each device. A reader therefore knows the number of
// all saves before the first one.
extension SaveTable {
  /// Writes the devices, saves and intervals.
  func write(to out: inout WireWriter, as kind: WireKind) {
    for i in lines.indices {
      out.device(lines[i].device)
      out.varint(
        UInt64(places(of: i).count) << 3 | UInt64(flags(of: i).rawValue))
    }
    var times = TimeChain()
    for (i, line) in lines.enumerated() {
      var last: UInt64 = 0
      for save in saves[places(of: i)] {
        out.varint(save.sequence - last - 1)
        times.write(save.time, to: &out)
        last = save.sequence
      }
      guard let interval = line.interval else { continue }
      let (from, to) = (interval.from, interval.to)
      if flags(of: i).contains(.endsElsewhere) {
        let end = place(of: to.sequence, of: i)
        out.varint(places(of: i).upperBound - 1 - end)
        out.varint(to.time.rawValue - saves[end].time)
      }
      // Readers refuse the message if the interval is empty.
      if !kind.startsAtZero { out.varint(to.sequence &- from &- 1) }
      out.fixed(to.digest)
    }
  }

  private func flags(of line: Int) -> Flags {
    guard let to = lines[line].interval?.to else { return [] }
    let last = saves[places(of: line).upperBound - 1]
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
      for _ in places(of: line) {
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
    let (start, places) = (reader.offset, places(of: line))
    let flags = lines[line].flags
    var (distance, extra) = (0 as UInt64, 0 as UInt64)
    if flags.contains(.endsElsewhere) {
      (distance, extra) = (try reader.varint(), try reader.varint())
      try reader.require(
        distance < UInt64(places.count) && (distance > 0 || extra > 0),
        .invalid,
        "the end of an interval at one of the saves, but not the last exactly",
        at: start)
    }
    let end = saves[places.upperBound - 1 - Int(distance)]
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
