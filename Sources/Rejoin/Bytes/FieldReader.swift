// SPDX-License-Identifier: Apache-2.0

/// Reads fields, which refer to the devices and saves of a message by index.
///
/// The reader validates the fields on the first pass, and may also build them.
package struct FieldReader {
  package internal(set) var bytes: WireReader
  var saves: SaveTable
  private(set) var isBuilding: Bool
  private var isValidating: Bool
  /// The index of the last save that a field referred to.
  var last = -1
  /// The device of the last save that was looked up.
  private var current = 0
  // The current field, or the last one.

  /// The number of items in the store, each of at least one byte.
  private(set) var count = 0
  var isFragment = false
  /// Whether any field was a fragment.
  private(set) var hasFragments = false
  private(set) var hasRemainder = false
  /// The greatest sequence number of each device in the field.
  var dots: StoreDots
  /// The content that only a fragment has.
  var fragment = FragmentParts()
  /// Whether the last write has its save's timestamp.
  private var isExact = false
  private(set) var start = 0

  /// Creates a reader of a message that was not validated, and reads its
  /// devices and saves.
  init(
    _ bytes: WireReader, devices: Int, isBuilding: Bool
  ) throws(WireError) {
    self.bytes = bytes
    saves = try SaveTable(of: devices, from: &self.bytes)
    (self.isBuilding, isValidating) = (isBuilding, true)
    dots = StoreDots(count: saves.lines.count)
    for (i, line) in saves.lines.enumerated() {
      guard let end = line.interval?.to else { continue }
      stamp(saves.index(of: end.sequence, of: i), at: end.time.rawValue)
    }
  }

  /// Creates a reader of a valid message.
  init(_ bytes: WireReader, _ saves: SaveTable) {
    (self.bytes, self.saves) = (bytes, saves)
    (isBuilding, isValidating) = (true, false)
    dots = StoreDots(count: saves.lines.count)
  }

  /// Returns to the first entity of a validated message.
  mutating func goBack(to start: Int) {
    bytes.goBack(to: start)
    (isBuilding, isValidating, last) = (true, false, -1)
  }
}

/// The content that only a fragment of a field has.
struct FragmentParts {
  /// Whether a receiver must accept or refuse the fragment as a whole.
  var isWhole = false
  /// The devices whose additions the fragment contains, by index.
  var lines: [Int] = []
  /// The devices whose part continues the receiver's content.
  var continued: Set<DeviceID> = []
  /// The elements that were removed from a set.
  var lost: [Value] = []
  /// The saves that the receiver must have.
  fileprivate(set) var basis = VectorClock()
}

extension FieldReader {
  /// Starts a field.
  ///
  /// - Returns: `false` if the field is empty and has the clock of the previous
  ///   field.
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

  /// Reads the bytes after the store: the rest of the clock and the basis of a
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
  /// Throws an error unless the message has room for `count` items of `size`
  /// bytes.
  func check(size: Int, _ name: String) throws(WireError) {
    try bytes.require(
      count <= bytes.remaining / size, .truncated,
      "at least \(size) bytes for each of \(count) \(name)", at: start)
  }

  /// Reads a reference to a save.
  ///
  /// The first reference of a field can be before or after the last reference.
  /// The others are after it.
  ///
  /// - Parameter bits: The number of low bits that contain flags.
  mutating func reference(
    isFirst: Bool, flags bits: UInt64 = 0
  ) throws(WireError) -> (index: Int, flags: UInt64) {
    let start = bytes.offset
    let code = try bytes.varint()
    last = try index(
      last + 1, movedBy: code >> bits, isSigned: isFirst, at: start)
    if isValidating { saves.saves[last].uses.insert(.isReferred) }
    return (last, code & (1 << bits - 1))
  }

  /// Returns the index at a distance from another index.
  func index(
    _ index: Int, movedBy distance: UInt64, isSigned: Bool, at start: Int
  ) throws(WireError) -> Int {
    let moved = isSigned ? Int64(zigzag: distance) : Int64(clamping: distance)
    let (result, overflow) = Int64(index).addingReportingOverflow(moved)
    try bytes.require(
      !overflow && result >= 0 && result < Int64(saves.count), .invalid,
      "a reference to one of \(saves.count) saves", at: start)
    return Int(result)
  }

  /// Reads the difference between the timestamps of a write and its save.
  ///
  /// - Returns: The timestamp of the write.
  mutating func readTime(of index: Int) throws(WireError) -> Timestamp {
    let start = bytes.offset
    let (time, overflow) = saves.saves[index].time
      .addingReportingOverflow(try bytes.varint())
    try bytes.require(!overflow, .invalid, "a timestamp of 64 bits", at: start)
    isExact = time == saves.saves[index].time
    stamp(index, at: time)
    return Timestamp(rawValue: time)
  }

  /// Records that the message refers to a save of a device.
  mutating func see(_ sequence: UInt64, of line: Int) {
    if isValidating { saves.see(sequence, of: line) }
  }

  /// Records that the message uses a timestamp of a save.
  mutating func stamp(_ index: Int, at time: UInt64) {
    if !isValidating { return }
    let isExact = time == saves.saves[index].time
    saves.saves[index].uses.formUnion(
      isExact
        ? [.isReferred, .isStamped, .isExact] : [.isReferred, .isStamped])
  }

  /// Returns the index of the save of the last field, or `nil` unless the field
  /// is a register with one write that has its save's timestamp.
  func onlyExactWrite(of kind: FieldKind) -> Int? {
    kind == .register && count == 1 && !hasRemainder && isExact ? last : nil
  }

  /// Returns the dot of a save and the index of its device.
  mutating func dot(at index: Int) -> (dot: Dot, line: Int) {
    if !saves.indices(of: current).contains(index) {
      current = saves.line(at: index)
    }
    let device = saves.lines[current].device
    return (Dot(device, saves.saves[index].sequence), current)
  }

  /// Returns the dot of a save in the store and the index of its device.
  mutating func storeDot(at index: Int) -> (dot: Dot, line: Int) {
    let (dot, line) = dot(at: index)
    dots.insert(dot.sequence, line)
    return (dot, line)
  }

  /// Reads the number of skipped devices, and returns the index of the next
  /// device.
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

  /// Reads a clock of at least one device in the message.
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

  /// Reads the number of new saves of each device in a fragment's clock.
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

  /// Throws an error unless the message refers to every device, save and
  /// timestamp.
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
