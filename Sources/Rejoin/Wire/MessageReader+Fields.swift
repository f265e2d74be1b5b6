// SPDX-License-Identifier: Apache-2.0

extension MessageReader {
  /// The index of a save and the value that it wrote, with its timestamp.
  typealias OnlyWrite = (place: Int, value: Value?)

  /// Reads a field in full.
  ///
  /// - Returns: Its state, which is empty if nothing is built; the write of a
  ///   register, if the field consists of just that; and whether its store is
  ///   empty.
  mutating func readField(
    _ kind: FieldKind, _ isFragment: Bool
  ) throws(WireError) -> (state: FieldState, only: OnlyWrite?, isEmpty: Bool) {
    let start = reader.offset
    dots.begin()
    var (cancels, lines) = (false, [] as [Int])
    var continued: Set<DeviceID> = []
    let head = try reader.varint()
    var content = FieldContent(isBuilding: isBuilding)
    var only: OnlyWrite?
    var isEmpty = head >> 1 == 0
    switch kind {
    case .register:
      isEmpty = head >> 2 == 0
      only = try readWrites(head >> 1, into: &content, start)
    case .counter:
      try each(head, size: 3, start) { reader, isFirst throws(WireError) in
        let isCancelled = try reader.readCounts(isFirst, into: &content)
        cancels = cancels || isCancelled
      }
    case .set:
      try readElements(head, into: &content, start)
    case .ledger:
      try each(head, size: 3, start) { reader, _ throws(WireError) in
        let line = try reader.readLine(
          from: (lines.last ?? -1) + 1, isFragment, into: &content)
        lines.append(line.place)
        cancels = cancels || line.isCancelled
        if line.isContinued {
          continued.insert(reader.saves.device(of: line.place))
        }
      }
    case .existence: preconditionFailure("marks are read after the fields")
    }
    let hasMore = head & 1 != 0
    if hasMore { try readRemainder() }
    guard hasMore || !isEmpty else {
      throw reader.error(
        .notCanonical, "a field that has seen at least one save", at: start)
    }
    if isFragment {
      let isWhole = kind == .set || cancels
      try readBasis(isWhole: isWhole, lines: lines, continued: continued)
    }
    for line in dots.touched {
      saves.see(dots[Int(line)], of: Int(line))
      if table.hasExistence, !isFragment {
        recordDots.insert(dots[Int(line)], Int(line))
      }
    }
    if hasMore { only = nil }
    guard isBuilding else { return (FieldState(kind), only, isEmpty) }
    let isImplied = !hasMore && kind == .register
    let clock = isImplied ? nil : dots.clock(saves)
    return (content.state(kind, clock), only, isEmpty)
  }

  private mutating func each(
    _ head: UInt64, size: Int, _ start: Int,
    _ body: (inout MessageReader, _ isFirst: Bool) throws(WireError) -> Void
  ) throws(WireError) {
    guard head >> 1 <= UInt64(reader.remaining / size) else {
      throw reader.error(
        .truncated, "at least \(size) bytes for each of \(head >> 1) items",
        at: start)
    }
    for i in 0..<(head >> 1) { try body(&self, i == 0) }
  }

  /// Reads a reference to a save: the first of a field at any distance from the
  /// last reference, the others after it.
  mutating func reference(
    _ distance: UInt64, isFirst: Bool, at start: Int
  ) throws(WireError) -> Int {
    guard distance >> 62 == 0 else {
      throw reader.error(
        .invalid, "a reference to one of \(saves.count) saves", at: start)
    }
    last = try place(
      last + 1,
      movedBy: isFirst ? Int64(zigzag: distance) : Int64(distance), at: start)
    saves.use(last)
    return last
  }

  /// Reads the part of the causal context that the store does not imply.
  mutating func readRemainder() throws(WireError) {
    let start = reader.offset
    let count = try reader.count(of: 2)
    guard count > 0 else {
      throw reader.error(
        .notCanonical, "at least one device in the causal context", at: start)
    }
    var next = 0
    for _ in 0..<count {
      let start = reader.offset
      let line = try readDevice(from: next)
      let beyond = try reader.varint()
      let (n, overflow) = dots[line].addingReportingOverflow(beyond)
      guard !overflow, n < .max else {
        throw reader.error(.invalid, "a number of 64 bits", at: start)
      }
      dots.insert(n + 1, line)
      next = line + 1
    }
  }

  /// Reads the number of devices that are left out, and returns the next index.
  ///
  /// - Parameter next: The least index that the device can have.
  mutating func readDevice(from next: Int) throws(WireError) -> Int {
    let start = reader.offset
    let gap = try reader.varint()
    guard gap < UInt64(saves.lineCount - next) else {
      throw reader.error(.invalid, "one of the devices", at: start)
    }
    return next + Int(gap)
  }

  private mutating func readWrites(
    _ head: UInt64, into content: inout FieldContent, _ start: Int
  ) throws(WireError) -> OnlyWrite? {
    let (count, isDense) = (head >> 1, head & 1 != 0)
    guard count <= UInt64(reader.remaining) else {
      throw reader.error(
        .truncated, "at least one byte for each of \(count) writes", at: start)
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
          throw reader.error(
            .notCanonical, "a timestamp later than its save's", at: at)
        }
      }
      if i == 0 { first = last }
      areExact = areExact && extra == 0
      guard let time = saves.stamp(last, extra: extra) else {
        throw reader.error(
          .invalid, "a save with a timestamp, and a sum of 64 bits", at: at)
      }
      let (dot, line) = saves.dot(at: last)
      dots.insert(dot.sequence, line)
      let value = try reader.value(isBuilding: content.isBuilding)
      if count == 1, extra == 0 {
        only = (last, value)
      }
      content.add(Stamped(value, at: time), at: dot)
    }
    let couldBeDense =
      count > 0 && areExact && UInt64(last - first) == count - 1
    guard isDense == couldBeDense else {
      throw reader.error(
        .notCanonical,
        isDense
          ? "the general form of writes" : "the dense form of writes",
        at: start)
    }
    return only
  }

  /// - Returns: Whether something is cancelled.
  private mutating func readCounts(
    _ isFirst: Bool, into content: inout FieldContent
  ) throws(WireError) -> Bool {
    let start = reader.offset
    let code = try reader.varint()
    let before = isFirst ? -1 : saves.dot(at: last).line
    let place = try reference(code >> 2, isFirst: isFirst, at: start)
    let (dot, line) = saves.dot(at: place)
    guard line > before else {
      throw reader.error(
        .notCanonical, "sorted entries, one per device", at: start)
    }
    dots.insert(dot.sequence, line)
    let entry = Tally.Entry(
      device: dot.device, sequence: dot.sequence,
      increments: try reader.varint(),
      decrements: try reader.varint())
    switch code & 3 {
    case 0: content.add(entry, cancelled: nil)
    case 1: content.add(entry, cancelled: entry)
    case 2: content.add(entry, cancelled: try readCancelled(of: entry))
    default:
      throw reader.error(.invalid, "a counter entry of form 0 to 2", at: start)
    }
    return code & 3 != 0
  }

  private mutating func readCancelled(
    of entry: Tally.Entry
  ) throws(WireError) -> Tally.Entry {
    let start = reader.offset
    let back = try reader.varint()
    guard back < entry.sequence else {
      throw reader.error(
        .invalid, "a sequence number from 1 to \(entry.sequence)", at: start)
    }
    let cancelled = Tally.Entry(
      device: entry.device, sequence: entry.sequence - back,
      increments: try reader.varint(),
      decrements: try reader.varint())
    guard cancelled.isBefore(entry) else {
      throw reader.error(
        .notCanonical, "cancelled sums less than those of the entry",
        at: start)
    }
    return cancelled
  }

  private mutating func readElements(
    _ head: UInt64, into content: inout FieldContent, _ start: Int
  ) throws(WireError) {
    var previous: Value?
    // Each element takes at least two of the bytes that are left.
    content.reserve(
      elements: Int(min(head >> 1, UInt64(reader.remaining / 2))))
    try each(head, size: 2, start) { reader, _ throws(WireError) in
      let start = reader.reader.offset
      let element = try reader.reader.element()
      if let previous, !(previous < element) {
        throw reader.reader.error(.notCanonical, "sorted elements", at: start)
      }
      previous = element
      content.add(element: element)
      var (isFirst, hasMore) = (true, true)
      while hasMore {
        let at = reader.reader.offset
        let code = try reader.reader.varint()
        hasMore = code & 1 != 0
        let place = try reader.reference(code >> 1, isFirst: isFirst, at: at)
        let (dot, line) = reader.saves.dot(at: place)
        reader.dots.insert(dot.sequence, line)
        content.addMark(at: dot)
        isFirst = false
      }
    }
  }

  /// Reads a device's line of a ledger.
  ///
  /// - Parameter next: The least index that the device can have.
  private mutating func readLine(
    from next: Int, _ isFragment: Bool, into content: inout FieldContent
  ) throws(WireError) -> (place: Int, isContinued: Bool, isCancelled: Bool) {
    let start = reader.offset
    var code = try reader.varint()
    let isContinued = isFragment && code & 1 != 0
    if isFragment { code >>= 1 }
    guard code >> 2 < UInt64(saves.lineCount - next),
      !isContinued || code & 1 == 0
    else {
      throw reader.error(
        .invalid, "one of the devices, and no sum before a continuation",
        at: start)
    }
    let line = next + Int(code >> 2)
    saves.use(line: line)
    var folded: (UInt64, Int128) = code & 1 == 0 ? (0, 0) : try readSum()
    if isContinued { folded.0 = try readIndex() }
    let cancelled = code & 2 == 0 ? (0, 0) : try readSum()
    let count = try reader.count(of: 3)
    let hasContent =
      isContinued ? cancelled.0 > 0 || count > 0 : folded.0 > 0 || count > 0
    let isWithin =
      isContinued ? cancelled.0 <= folded.0 : cancelled <= folded
    guard isWithin, hasContent else {
      throw reader.error(
        .invalid,
        "at least one entry, and no more cancelled than folded", at: start)
    }
    var tail: [DeviceEntries.Entry] = []
    if content.isBuilding { tail.reserveCapacity(count) }
    var place = saves.places(of: line).lowerBound
    for _ in 0..<count {
      let entry = try readEntry(after: &place, line)
      if content.isBuilding { tail.append(entry) }
    }
    content.add(
      DeviceEntries(
        folded: folded.0, sum: folded.1, cancelled: cancelled.0,
        cancelledSum: cancelled.1, tail: tail), of: saves.device(of: line))
    return (line, isContinued, cancelled.0 > 0)
  }

  /// Reads how many entries are before those of a fragment.
  private mutating func readIndex() throws(WireError) -> UInt64 {
    let start = reader.offset
    let index = try reader.varint()
    guard index > 0, index <= Limits.foldedEntries else {
      throw reader.error(.invalid, "an index from 1 to 2⁴⁰", at: start)
    }
    return index
  }

  /// Reads the number and the sum of folded or cancelled entries.
  private mutating func readSum() throws(WireError) -> (UInt64, Int128) {
    let start = reader.offset
    let count = try reader.varint()
    let sum = try reader.wide()
    guard DeviceEntries.isSum(sum, of: count) else {
      throw reader.error(
        .invalid, "from 1 to 2⁴⁰ amounts, and a sum within their range",
        at: start)
    }
    return (count, sum)
  }

  private mutating func readEntry(
    after place: inout Int, _ line: Int
  ) throws(WireError) -> DeviceEntries.Entry {
    let start = reader.offset
    let code = try reader.varint()
    place = try self.place(
      place, movedBy: Int64(zigzag: code >> 1), at: start)
    let extra = code & 1 == 0 ? 0 : try reader.varint()
    guard code & 1 == 0 || extra > 0 else {
      throw reader.error(
        .notCanonical, "a timestamp later than its save's", at: start)
    }
    guard saves.places(of: line).contains(place),
      let time = saves.stamp(place, extra: extra)
    else {
      throw reader.error(
        .invalid, "a save of the entry's device, with a timestamp", at: start)
    }
    let dot = saves.dot(at: place).dot
    dots.insert(dot.sequence, line)
    return DeviceEntries.Entry(
      sequence: dot.sequence, time: time, amount: try reader.signed(),
      memo: try reader.value(isBuilding: isBuilding))
  }
}

/// The greatest sequence number of each device in one store.
struct StoreDots {
  private let count: Int
  /// The number of each device, zero for most.
  ///
  /// Allocated with the first number, since records in the short form need
  /// none.
  private var greatest: [UInt64] = []
  /// The devices whose number is not zero, so that clearing costs no more than
  /// inserting.
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

  /// Returns whether the numbers are those of a clock.
  func equal(_ clock: VectorClock, _ saves: SaveTable) -> Bool {
    touched.count == clock.entries.count
      && zip(touched.sorted(), clock.entries).allSatisfy {
        saves.device(of: Int($0)) == $1.device && greatest[Int($0)] == $1.count
      }
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
