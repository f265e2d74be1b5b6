// SPDX-License-Identifier: Apache-2.0

extension MessageReader {
  /// Reads a field in full.
  ///
  /// - Returns: Its one write, if that is all there is to say of it.
  mutating func field(
    _ key: FieldKey, into sink: inout some FieldSink
  ) throws(WireError) -> OnlyWrite? {
    let start = reader.offset
    sink.begin(key)
    dots.begin()
    let head = try reader.varint()
    var only: OnlyWrite?
    var isEmpty = false
    switch key.kind {
    case .register:
      only = try writes(head >> 1, into: &sink, start)
      isEmpty = head >> 2 == 0
    case .lww:
      guard head >> 2 < 2 else {
        throw reader.error(.invalid, "one write", at: start)
      }
      _ = try writes(head >> 1, into: &sink, start)
      isEmpty = head >> 2 == 0
    case .counter:
      try each(head, size: 3, start) { reader, isFirst throws(WireError) in
        try reader.entry(isFirst, into: &sink)
      }
    case .set, .removeWinsSet:
      try members(key.kind == .removeWinsSet, head, into: &sink, start)
    case .ledger:
      var next = 0
      try each(head, size: 3, start) { reader, _ throws(WireError) in
        next = try reader.line(from: next, into: &sink)
      }
    }
    if key.kind != .register, key.kind != .lww { isEmpty = head >> 1 == 0 }
    let hasMore = head & 1 != 0
    if hasMore { try explicitRemainder() }
    guard hasMore || !isEmpty else {
      throw reader.error(.notCanonical, "a field that was touched", at: start)
    }
    for line in dots.touched { see(Int(line), dots[Int(line)]) }
    sink.end(dots.clock(saves))
    return hasMore ? nil : only
  }

  private mutating func each(
    _ head: UInt64, size: Int, _ start: Int,
    _ body: (inout MessageReader, _ isFirst: Bool) throws(WireError) -> Void
  ) throws(WireError) {
    guard head >> 1 <= UInt64(reader.remaining / size) else {
      throw reader.error(.truncated, "room for \(head >> 1) parts", at: start)
    }
    for i in 0..<(head >> 1) { try body(&self, i == 0) }
  }

  /// Reads a reference to a save: the first at any distance from the last one,
  /// the others after it.
  private mutating func reference(
    _ distance: UInt64, isFirst: Bool, at start: Int
  ) throws(WireError) -> Int {
    guard distance >> 62 == 0 else {
      throw reader.error(.invalid, "one of the saves", at: start)
    }
    last = try place(
      last + 1,
      movedBy: isFirst ? Int64(zigzag: distance) : Int64(distance), at: start)
    saves.use(last)
    return last
  }

  /// Reads the part of a clock that the store does not spell.
  private mutating func explicitRemainder() throws(WireError) {
    let start = reader.offset
    let count = try reader.count(of: 2)
    guard count > 0 else {
      throw reader.error(.notCanonical, "a part of a clock", at: start)
    }
    var next = 0
    for _ in 0..<count {
      let start = reader.offset
      let gap = try reader.varint()
      guard gap < UInt64(saves.lineCount - next) else {
        throw reader.error(.invalid, "one of the devices", at: start)
      }
      let line = next + Int(gap)
      let beyond = try reader.varint()
      let (n, overflow) = dots[line].addingReportingOverflow(beyond)
      guard !overflow, n < .max else {
        throw reader.error(.invalid, "a number of 64 bits", at: start)
      }
      dots.insert(n + 1, line)
      next = line + 1
    }
  }

  private mutating func writes(
    _ head: UInt64, into sink: inout some FieldSink, _ start: Int
  ) throws(WireError) -> OnlyWrite? {
    let (count, isDense) = (head >> 1, head & 1 != 0)
    guard count <= UInt64(reader.remaining) else {
      throw reader.error(.truncated, "room for \(count) writes", at: start)
    }
    var (first, areExact, only) = (0, true, nil as OnlyWrite?)
    for i in 0..<count {
      let at = reader.offset
      var extra: UInt64 = 0
      if isDense {
        _ = try reference(
          i == 0 ? try reader.varint() : 0, isFirst: i == 0, at: at)
      } else {
        let code = try reader.varint()
        _ = try reference(code >> 1, isFirst: i == 0, at: at)
        if code & 1 != 0 { extra = try reader.varint() }
        guard code & 1 == 0 || extra > 0 else {
          throw reader.error(.notCanonical, "a later time", at: at)
        }
      }
      if i == 0 { first = last }
      areExact = areExact && extra == 0
      guard let time = saves.stamp(last, extra: extra) else {
        throw reader.error(.invalid, "a save with a time", at: at)
      }
      let (dot, line) = saves.dot(at: last)
      dots.insert(dot.sequence, line)
      let value = try reader.value()
      if count == 1, extra == 0 { only = OnlyWrite(place: last, value: value) }
      sink.write(Stamped(value, at: time), at: dot)
    }
    let couldBeDense =
      count > 0 && areExact && UInt64(last - first) == count - 1
    guard isDense == couldBeDense else {
      throw reader.error(.notCanonical, "another form of the writes", at: start)
    }
    return only
  }

  private mutating func entry(
    _ isFirst: Bool, into sink: inout some FieldSink
  ) throws(WireError) {
    let start = reader.offset
    let code = try reader.varint()
    let before = isFirst ? -1 : saves.dot(at: last).line
    let place = try reference(code >> 2, isFirst: isFirst, at: start)
    let (dot, line) = saves.dot(at: place)
    guard line > before else {
      throw reader.error(.notCanonical, "one entry of a device", at: start)
    }
    dots.insert(dot.sequence, line)
    let entry = Tally.Entry(
      device: dot.device, sequence: dot.sequence,
      increments: try reader.varint(),
      decrements: try reader.varint())
    switch code & 3 {
    case 0: sink.count(entry, cancelled: nil)
    case 1: sink.count(entry, cancelled: entry)
    case 2: sink.count(entry, cancelled: try cancelled(of: entry))
    default: throw reader.error(.invalid, "a form of an entry", at: start)
    }
  }

  private mutating func cancelled(
    of entry: Tally.Entry
  ) throws(WireError) -> Tally.Entry {
    let start = reader.offset
    let back = try reader.varint()
    guard back < entry.sequence else {
      throw reader.error(.invalid, "an earlier number", at: start)
    }
    let cancelled = Tally.Entry(
      device: entry.device, sequence: entry.sequence - back,
      increments: try reader.varint(),
      decrements: try reader.varint())
    guard cancelled.isBefore(entry) else {
      throw reader.error(.notCanonical, "less than there is", at: start)
    }
    return cancelled
  }

  private mutating func members(
    _ hasRemovals: Bool, _ head: UInt64, into sink: inout some FieldSink,
    _ start: Int
  ) throws(WireError) {
    var previous: Value?
    try each(head, size: 2, start) { reader, _ throws(WireError) in
      let start = reader.reader.offset
      let element = try reader.reader.element()
      if let previous, !(previous < element) {
        throw reader.reader.error(.notCanonical, "elements in order", at: start)
      }
      previous = element
      sink.element(element)
      var (isFirst, hasMore) = (true, true)
      while hasMore {
        let at = reader.reader.offset
        var code = try reader.reader.varint()
        hasMore = code & 1 != 0
        code >>= 1
        let isRemoved = hasRemovals && code & 1 != 0
        if hasRemovals { code >>= 1 }
        let place = try reader.reference(code, isFirst: isFirst, at: at)
        let (dot, line) = reader.saves.dot(at: place)
        reader.dots.insert(dot.sequence, line)
        sink.mark(isRemoved ? .removed : .added, at: dot)
        isFirst = false
      }
    }
  }

  private mutating func line(
    from next: Int, into sink: inout some FieldSink
  ) throws(WireError) -> Int {
    let start = reader.offset
    let code = try reader.varint()
    guard code >> 2 < UInt64(saves.lineCount - next) else {
      throw reader.error(.invalid, "one of the devices", at: start)
    }
    let line = next + Int(code >> 2)
    saves.use(line: line)
    let folded = code & 1 == 0 ? (0, 0) : try sum()
    let cancelled = code & 2 == 0 ? (0, 0) : try sum()
    let count = try reader.count(of: 3)
    guard cancelled <= folded, folded.0 > 0 || count > 0 else {
      throw reader.error(.invalid, "entries, folded or not", at: start)
    }
    let device = saves.device(of: line)
    sink.line(
      DeviceEntries(
        folded: folded.0, sum: folded.1, cancelled: cancelled.0,
        cancelledSum: cancelled.1, tail: []), of: device)
    var place = saves.places(of: line).lowerBound
    for _ in 0..<count { place = try entry(after: place, line, into: &sink) }
    return line + 1
  }

  /// The number and the sum of folded or cancelled entries.
  private mutating func sum() throws(WireError) -> (UInt64, Int128) {
    let start = reader.offset
    let count = try reader.varint()
    let sum = try reader.wide()
    guard DeviceEntries.isSum(sum, of: count) else {
      throw reader.error(.invalid, "a sum of so many amounts", at: start)
    }
    return (count, sum)
  }

  private mutating func entry(
    after place: Int, _ line: Int, into sink: inout some FieldSink
  ) throws(WireError) -> Int {
    let start = reader.offset
    let code = try reader.varint()
    let place = try self.place(
      place, movedBy: Int64(zigzag: code >> 1), at: start)
    let extra = code & 1 == 0 ? 0 : try reader.varint()
    guard code & 1 == 0 || extra > 0 else {
      throw reader.error(.notCanonical, "a later time", at: start)
    }
    guard saves.places(of: line).contains(place),
      let time = saves.stamp(place, extra: extra)
    else { throw reader.error(.invalid, "a save of the device", at: start) }
    let dot = saves.dot(at: place).dot
    dots.insert(dot.sequence, line)
    sink.append(
      DeviceEntries.Entry(
        sequence: dot.sequence, time: time, amount: try reader.signed(),
        memo: try reader.value()), of: dot.device)
    return place
  }
}

/// The greatest number of each device in one store.
struct StoreDots {
  private let count: Int
  /// Of all devices, once there is any number.
  private var greatest: [UInt64] = []
  /// The devices that have a number.
  private(set) var touched: [Int32] = []

  init(count: Int) { self.count = count }

  subscript(line: Int) -> UInt64 { greatest.isEmpty ? 0 : greatest[line] }

  mutating func begin() {
    for line in touched { greatest[Int(line)] = 0 }
    touched.removeAll(keepingCapacity: true)
  }

  mutating func insert(_ sequence: UInt64, _ line: Int) {
    if greatest.isEmpty {
      greatest = Array(repeating: 0, count: count)
      touched.reserveCapacity(count)
    }
    if greatest[line] == 0 { touched.append(Int32(line)) }
    greatest[line] = max(greatest[line], sequence)
  }

  /// The numbers as a clock.
  func clock(_ saves: SaveTable) -> VectorClock {
    VectorClock(
      sorted: touched.sorted().map { line in
        .init(
          device: saves.device(of: Int(line)), count: greatest[Int(line)])
      })
  }
}
