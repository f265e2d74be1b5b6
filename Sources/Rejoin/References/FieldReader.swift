// SPDX-License-Identifier: Apache-2.0

/// Reads fields, which refer to the devices and saves of a message by index.
///
/// It validates what it reads, unless that was done before. It builds the fields or only
/// validates them.
package struct FieldReader {
  package internal(set) var bytes: WireReader
  var saves: SaveTable
  private(set) var isBuilding: Bool
  private var isValidating: Bool
  /// The place of the save that was referred to last.
  var last = -1
  /// The device of the save that was looked up last.
  private var current = 0
  // The field that is being read, or was read last.

  /// The number of items in its store, each of at least one byte.
  private(set) var count = 0
  var isFragment = false
  /// Whether any field was a fragment.
  private(set) var hasFragments = false
  private(set) var hasRemainder = false
  /// The greatest sequence number of each device in it.
  var dots: StoreDots
  /// What is only in a fragment.
  var fragment = FragmentParts()
  /// Whether the last write has the timestamp of its save.
  private var isExact = false
  private(set) var start = 0

  /// Reads the devices and saves of a message that is not known to be valid.
  init(
    _ bytes: WireReader, devices: Int, isBuilding: Bool
  ) throws(WireError) {
    self.bytes = bytes
    saves = try SaveTable(of: devices, from: &self.bytes)
    (self.isBuilding, isValidating) = (isBuilding, true)
    dots = StoreDots(count: saves.lines.count)
    for (i, line) in saves.lines.enumerated() {
      guard let end = line.interval?.to else { continue }
      stamp(saves.place(of: end.sequence, of: i), at: end.time.rawValue)
    }
  }

  /// Reads a valid message.
  init(_ bytes: WireReader, _ saves: SaveTable) {
    (self.bytes, self.saves) = (bytes, saves)
    (isBuilding, isValidating) = (true, false)
    dots = StoreDots(count: saves.lines.count)
  }

  /// Goes back to the first entity of a message that was validated.
  mutating func goBack(to start: Int) {
    bytes.goBack(to: start)
    (isBuilding, isValidating, last) = (true, false, -1)
  }
}

/// What is only in a fragment of a field.
struct FragmentParts {
  /// Whether a receiver has to take it as a whole.
  var isWhole = false
  /// The devices that it has additions of, by index.
  var lines: [Int] = []
  /// The devices whose part continues what the receiver has.
  var continued: Set<DeviceID> = []
  /// The elements that a set has lost.
  var lost: [Value] = []
  /// The saves that the receiver must have.
  fileprivate(set) var basis = VectorClock()
}

extension FieldReader {
  /// Starts a field.
  ///
  /// - Returns: `false` if the field is as empty as the one before.
  mutating func begin() throws(WireError) -> Bool {
    start = bytes.offset
    let head = try bytes.varint()
    (isFragment, hasRemainder) = (head & 2 != 0, head & 1 != 0)
    if head == 0 { return false }
    hasFragments = hasFragments || isFragment
    try bytes.require(
      head >> 2 <= UInt64(bytes.remaining), .truncated,
      "at least one byte for each of \(head >> 2) items", at: start)
    count = Int(head >> 2)
    dots.begin()
    fragment = FragmentParts()
    return true
  }

  /// Reads what follows the store: the rest of the clock, and the basis of a
  /// fragment.
  mutating func end() throws(WireError) {
    if hasRemainder {
      var line = -1
      for _ in 0..<(try bytes.count(of: 2, more: 1)) {
        line = try readLine(from: line + 1)
        dots.insert(try bytes.number(after: dots[line]), line)
      }
    }
    for line in fragment.lines where dots[line] == 0 {
      throw bytes.error(
        .invalid, "entries of devices whose saves the field has seen", at: start
      )
    }
    if isFragment { try readBasis() }
    if !isValidating { return }
    for line in dots.touched { saves.see(dots[Int(line)], of: Int(line)) }
  }
}

extension FieldReader {
  /// Throws unless `count` items of `size` bytes can follow.
  func check(size: Int, _ name: String) throws(WireError) {
    try bytes.require(
      count <= bytes.remaining / size, .truncated,
      "at least \(size) bytes for each of \(count) \(name)", at: start)
  }

  /// Reads a reference to a save: the first of a field at any distance from the
  /// last reference, the others after it.
  ///
  /// - Parameter bits: How many bits of the number are flags.
  mutating func reference(
    isFirst: Bool, flags bits: UInt64 = 0
  ) throws(WireError) -> (place: Int, flags: UInt64) {
    let start = bytes.offset
    let code = try bytes.varint()
    last = try place(
      last + 1, movedBy: code >> bits, isSigned: isFirst, at: start)
    if isValidating { saves.saves[last].uses.insert(.isReferred) }
    return (last, code & (1 << bits - 1))
  }

  /// The place of the save at a distance from another.
  func place(
    _ place: Int, movedBy distance: UInt64, isSigned: Bool, at start: Int
  ) throws(WireError) -> Int {
    let moved = isSigned ? Int64(zigzag: distance) : Int64(clamping: distance)
    let (result, overflow) = Int64(place).addingReportingOverflow(moved)
    try bytes.require(
      !overflow && result >= 0 && result < Int64(saves.count), .invalid,
      "a reference to one of \(saves.count) saves", at: start)
    return Int(result)
  }

  /// Reads how much later a write is stamped than its save.
  ///
  /// - Returns: The timestamp of the write.
  mutating func readTime(of place: Int) throws(WireError) -> Timestamp {
    let start = bytes.offset
    let (time, overflow) = saves.saves[place].time
      .addingReportingOverflow(try bytes.varint())
    try bytes.require(!overflow, .invalid, "a timestamp of 64 bits", at: start)
    isExact = time == saves.saves[place].time
    stamp(place, at: time)
    return Timestamp(rawValue: time)
  }

  /// Notes that something refers to a save of a device.
  mutating func see(_ sequence: UInt64, of line: Int) {
    if isValidating { saves.see(sequence, of: line) }
  }

  /// Notes that something has a timestamp of a save.
  mutating func stamp(_ place: Int, at time: UInt64) {
    if !isValidating { return }
    let isExact = time == saves.saves[place].time
    saves.saves[place].uses.formUnion(
      isExact
        ? [.isReferred, .isStamped, .isExact] : [.isReferred, .isStamped])
  }

  /// The place of the save of a register that was just read, if the register
  /// consists of one write with the timestamp of its save.
  func onlyExactWrite(of kind: FieldKind) -> Int? {
    kind == .register && count == 1 && !hasRemainder && isExact ? last : nil
  }

  /// The dot of a save, and the index of its device.
  mutating func dot(at place: Int) -> (dot: Dot, line: Int) {
    if !saves.places(of: current).contains(place) {
      current = saves.line(at: place)
    }
    let device = saves.lines[current].device
    return (Dot(device, saves.saves[place].sequence), current)
  }

  /// The dot of a save that is in the store, and the index of its device.
  mutating func storeDot(at place: Int) -> (dot: Dot, line: Int) {
    let (dot, line) = dot(at: place)
    dots.insert(dot.sequence, line)
    return (dot, line)
  }

  /// Reads the number of devices that are left out, and returns the next index.
  ///
  /// - Parameter next: The least index that the device can have.
  mutating func readLine(from next: Int) throws(WireError) -> Int {
    let start = bytes.offset
    let gap = try bytes.varint()
    try bytes.require(
      gap < UInt64(saves.lines.count - next), .invalid, "one of the devices",
      at: start)
    return next + Int(gap)
  }

  /// Reads a clock of devices in the message, with at least one.
  mutating func readClock() throws(WireError) -> VectorClock {
    var (entries, line) = ([] as [VectorClock.Entry], -1)
    for _ in 0..<(try bytes.count(of: 2, more: 1)) {
      line = try readLine(from: line + 1)
      let number = try bytes.number(after: 0)
      see(number, of: line)
      if isBuilding {
        entries.append(
          .init(device: saves.lines[line].device, count: number))
      }
    }
    return VectorClock(sorted: entries)
  }

  /// Reads how many saves of each device in the clock of a fragment are new.
  private mutating func readBasis() throws(WireError) {
    let start = bytes.offset
    var basis: [VectorClock.Entry] = []
    var hasNews = false
    for line in dots.touched.sorted() {
      let start = bytes.offset
      let new = try bytes.varint()
      let last = dots[Int(line)]
      try bytes.require(
        new <= last && (new > 0 || fragment.isWhole), .invalid,
        "from \(fragment.isWhole ? 0 : 1) to \(last) new saves", at: start)
      hasNews = hasNews || new > 0
      if new < last {
        basis.append(
          .init(device: saves.lines[Int(line)].device, count: last - new))
      }
    }
    try bytes.require(
      hasNews, .invalid, "a fragment with a new save", at: start)
    fragment.basis = VectorClock(sorted: basis)
  }

  /// Throws unless something refers to every device, save and timestamp.
  func checkUses() throws(WireError) {
    for line in saves.lines where line.latest == 0 {
      throw bytes.error(.notCanonical, "no unreferenced device")
    }
    for save in saves.saves {
      try bytes.require(
        save.uses.contains(.isReferred)
          && (save.uses.contains(.isStamped)
            ? save.uses.contains(.isExact) : save.time == 0),
        .notCanonical, "no unreferenced save or timestamp")
    }
  }
}
