// SPDX-License-Identifier: Apache-2.0

/// Reads fields, which refer to the devices and saves of a message by index.
package struct FieldReader {
  package internal(set) var bytes: WireReader
  var saves: SaveTable
  /// The index of the save that was referred to last.
  var last = -1
  /// Whether stores are built, or the message is only validated.
  var isBuilding = false
  /// The greatest sequence number of each device in the field that is being
  /// read.
  var dots: StoreDots
  /// The greatest sequence number of each device in the clocks of the record that
  /// is being read, without fragments.
  ///
  /// It is only complete if the marks of existence follow the fields.
  var recordDots: StoreDots

  // The field that is being read, or was read last.

  /// Whether it is only a fragment.
  var isFragment = false
  /// The first number of the store, without the lowest bit.
  private(set) var head: UInt64 = 0
  /// Whether a rest of the clock follows the store.
  private(set) var hasRemainder = false
  /// The offset of the store.
  private(set) var start = 0
  /// Whether a receiver of the fragment has to take it as a whole.
  var isWhole = false
  /// The devices that a fragment has additions of.
  var lines: [Int] = []
  /// The devices whose part of a fragment continues what the receiver has.
  var continued: Set<DeviceID> = []
  /// The index of the save of a register that consists of one write with the
  /// timestamp of its save.
  var onlyWrite: Int?
  /// Whether the only mark of a record is a deletion of all its saves.
  var coversRecord = false
  /// The saves that the receiver of a fragment must have.
  private(set) var basis = VectorClock()

  init(_ bytes: WireReader, _ saves: SaveTable) {
    (self.bytes, self.saves) = (bytes, saves)
    dots = StoreDots(count: saves.lineCount)
    recordDots = StoreDots(count: saves.lineCount)
  }

  /// Starts a field, and reads its first number.
  mutating func begin() throws(WireError) {
    (start, isWhole, onlyWrite) = (bytes.offset, false, nil)
    coversRecord = false
    if !lines.isEmpty { lines = [] }
    if !continued.isEmpty { continued = [] }
    dots.begin()
    let first = try bytes.varint()
    (head, hasRemainder) = (first >> 1, first & 1 != 0)
  }

  /// Reads what follows the store: the rest of the clock, and the basis of a
  /// fragment.
  mutating func end(entersRecord: Bool) throws(WireError) {
    if hasRemainder {
      try readRemainder()
      onlyWrite = nil
    }
    guard hasRemainder || head != 0 else {
      throw bytes.error(
        .notCanonical, "a save that the field has seen", at: start)
    }
    if isFragment { try readBasis() }
    for line in dots.touched {
      saves.see(dots[Int(line)], of: Int(line))
      if entersRecord, !isFragment {
        recordDots.insert(dots[Int(line)], Int(line))
      }
    }
  }
}

extension FieldReader {
  /// Returns the number of items, each of at least `size` bytes.
  func count(_ items: UInt64, size: Int, _ name: String) throws(WireError)
    -> Int
  {
    guard items <= UInt64(bytes.remaining / size) else {
      let unit = size == 1 ? "one byte" : "\(size) bytes"
      throw bytes.error(
        .truncated, "at least \(unit) for each of \(items) \(name)",
        at: start)
    }
    return Int(items)
  }

  /// Reads a reference to a save: the first of a field at any distance from the
  /// last reference, the others after it.
  mutating func reference(
    _ distance: UInt64, isFirst: Bool, at start: Int
  ) throws(WireError) -> Int {
    guard distance >> 62 == 0 else {
      throw bytes.error(
        .invalid, "a reference to one of \(saves.count) saves", at: start)
    }
    last = try place(
      last + 1,
      movedBy: isFirst ? Int64(zigzag: distance) : Int64(distance), at: start)
    saves.use(last)
    return last
  }

  /// The index of the save at a distance from another.
  func place(
    _ place: Int, movedBy distance: Int64, at start: Int
  ) throws(WireError) -> Int {
    let (result, overflow) = Int64(place).addingReportingOverflow(distance)
    guard !overflow, result >= 0, result < Int64(saves.count) else {
      throw bytes.error(
        .invalid, "a reference to one of \(saves.count) saves", at: start)
    }
    return Int(result)
  }

  /// Reads the difference between the timestamps of a write and its save, or returns
  /// zero if a flag is not set.
  mutating func extra(if isLater: Bool, at start: Int) throws(WireError)
    -> UInt64
  {
    guard isLater else { return 0 }
    let extra = try bytes.varint()
    guard extra > 0 else {
      throw bytes.error(
        .notCanonical, "a timestamp later than its save's", at: start)
    }
    return extra
  }

  /// Returns the timestamp of a write that is later than its save by `extra`.
  mutating func stamp(
    _ place: Int, extra: UInt64, at start: Int
  ) throws(WireError) -> Timestamp {
    guard let time = saves.stamp(place, extra: extra) else {
      throw bytes.error(
        .invalid, "a save with a timestamp, and a sum of 64 bits", at: start)
    }
    return time
  }

  /// Returns the dot of a save, which is in the store that is being read, and the
  /// index of its device.
  mutating func dot(at place: Int) -> (dot: Dot, line: Int) {
    let (dot, line) = saves.dot(at: place)
    dots.insert(dot.sequence, line)
    return (dot, line)
  }

  /// Reads the number of devices that are left out, and returns the next index.
  ///
  /// - Parameter next: The least index that the device can have.
  mutating func readDevice(from next: Int) throws(WireError) -> Int {
    let start = bytes.offset
    let gap = try bytes.varint()
    guard gap < UInt64(saves.lineCount - next) else {
      throw bytes.error(.invalid, "one of the devices", at: start)
    }
    return next + Int(gap)
  }

  /// Reads a clock of devices in the message.
  mutating func readClock() throws(WireError) -> VectorClock {
    let count = try bytes.count(of: 2)
    var entries: [VectorClock.Entry] = []
    entries.reserveCapacity(count)
    var next = 0
    for _ in 0..<count {
      let line = try readDevice(from: next)
      let number = try bytes.number()
      saves.see(number, of: line)
      entries.append(.init(device: saves.device(of: line), count: number))
      next = line + 1
    }
    return VectorClock(sorted: entries)
  }

  /// Reads the part of the causal context that the store does not imply.
  private mutating func readRemainder() throws(WireError) {
    let start = bytes.offset
    let count = try bytes.count(of: 2)
    guard count > 0 else {
      throw bytes.error(
        .notCanonical, "at least one device in the causal context", at: start)
    }
    var next = 0
    for _ in 0..<count {
      let start = bytes.offset
      let line = try readDevice(from: next)
      let beyond = try bytes.varint()
      let (n, overflow) = dots[line].addingReportingOverflow(beyond)
      guard !overflow, n < .max else {
        throw bytes.error(.invalid, "a number of 64 bits", at: start)
      }
      dots.insert(n + 1, line)
      next = line + 1
    }
  }

  /// Reads how many saves of each device in the clock of a fragment are new.
  private mutating func readBasis() throws(WireError) {
    let start = bytes.offset
    guard lines.allSatisfy({ dots[$0] > 0 }) else {
      throw bytes.error(
        .invalid, "entries of devices whose saves the fragment has seen",
        at: start)
    }
    var basis: [VectorClock.Entry] = []
    var hasNews = false
    for line in dots.touched.sorted() {
      let start = bytes.offset
      let new = try bytes.varint()
      let last = dots[Int(line)]
      guard new <= last, new > 0 || isWhole else {
        throw bytes.error(
          .invalid, "from \(isWhole ? 0 : 1) to \(last) new saves", at: start)
      }
      hasNews = hasNews || new > 0
      if isBuilding, new < last {
        basis.append(
          .init(device: saves.device(of: Int(line)), count: last - new))
      }
    }
    guard hasNews else {
      throw bytes.error(.invalid, "a fragment with a new save", at: start)
    }
    self.basis = VectorClock(sorted: basis)
  }
}
