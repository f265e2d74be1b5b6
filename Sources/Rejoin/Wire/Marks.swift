// SPDX-License-Identifier: Apache-2.0

// The existence of a record, after its fields.

/// How a mark is written.
private enum MarkForm: UInt64 {
  case alive
  /// The only mark: a deletion that covers all saves of the record that its fields
  /// and its existence in the message have seen.
  case deletionOfAll
  /// A deletion that covers a written clock.
  case deletion
}

// The bits of a mark's code: whether a timestamp follows, the form in two bits, and
// whether it is a purge.

extension MessageWriter {
  /// Writes the marks of a record.
  ///
  /// - Parameter fields: The join of the clocks of the record's whole fields in
  ///   the message.
  mutating func write(
    _ existence: Causal<Siblings<ExistenceMark>>, after fields: VectorClock
  ) {
    let rest = existence.explicitRemainder
    out.varint(
      UInt64(existence.store.count) << 1 | (rest.isEmpty ? 0 : 1))
    for (i, mark) in existence.store.enumerated() {
      let found = saves.find(mark.dot)
      let extra = mark.payload.time.rawValue - found.time
      let covered = mark.payload.covered
      let isOfAll =
        existence.store.count == 1
        && covered == fields.merging(existence.clock)
      let form: MarkForm =
        covered == nil ? .alive : isOfAll ? .deletionOfAll : .deletion
      let distance = distance(to: found.place, isFirst: i == 0)
      out.varint(
        distance << 4 | (mark.payload.isPurge ? 8 : 0) | form.rawValue << 1
          | (extra > 0 ? 1 : 0))
      if extra > 0 { out.varint(extra) }
      if form == .deletion, let covered { write(covered) }
    }
    if !rest.isEmpty { write(rest, beyond: existence.dots) }
  }

  /// Writes a clock of devices in the message.
  private mutating func write(_ clock: VectorClock) {
    out.varint(clock.entries.count)
    var next = 0
    for entry in clock.entries {
      let line = saves.number(of: entry.device)
      out.varint(line - next)
      out.varint(entry.count)
      next = line + 1
    }
  }
}

extension MessageReader {
  /// Reads the marks of a record, which follow its fields.
  mutating func readMarks() throws(WireError) -> FieldState {
    let start = reader.offset
    let head = try reader.varint()
    let (count, hasMore) = (head >> 1, head & 1 != 0)
    guard head > 0, count <= UInt64(reader.remaining) else {
      throw reader.error(
        .truncated, "a save, and at least one byte for each of \(count) marks",
        at: start)
    }
    dots.begin()
    var marks: [Siblings<ExistenceMark>.Element] = []
    var isOfAll = false
    for i in 0..<count {
      let mark = try readMark(isFirst: i == 0, isOnly: count == 1)
      isOfAll = mark.isOfAll
      if isBuilding || count == 1 { marks.append(mark.element) }
    }
    if hasMore { try readRemainder() }
    for line in dots.touched {
      saves.see(dots[Int(line)], of: Int(line))
      recordDots.insert(dots[Int(line)], Int(line))
    }
    if count == 1, !isOfAll, let covered = marks[0].payload.covered,
      recordDots.equal(covered, saves)
    {
      throw reader.error(
        .notCanonical, "form 1 of a deletion of all saves", at: start)
    }
    guard isBuilding else { return FieldState(.existence) }
    if isOfAll { marks[0] = marks[0].covering(recordDots.clock(saves)) }
    return .existence(
      Causal(Siblings(sorted: marks), hasMore ? dots.clock(saves) : nil))
  }

  /// Reads a mark.
  ///
  /// A deletion in form 1 covers nothing yet.
  private mutating func readMark(
    isFirst: Bool, isOnly: Bool
  ) throws(WireError) -> (
    element: Siblings<ExistenceMark>.Element, isOfAll: Bool
  ) {
    let start = reader.offset
    let code = try reader.varint()
    let place = try reference(code >> 4, isFirst: isFirst, at: start)
    let extra = code & 1 == 0 ? 0 : try reader.varint()
    let (form, isPurge) = (MarkForm(rawValue: code >> 1 & 3), code & 8 != 0)
    let canBe: Bool =
      switch form {
      case .alive: !isPurge
      case .deletionOfAll: isOnly
      case .deletion: true
      case nil: false
      }
    guard canBe, code & 1 == 0 || extra > 0 else {
      throw reader.error(
        .notCanonical,
        "a mark of form 0 to 2, of form 1 only if it is the only one, a purge of "
          + "form 1 or 2, and a timestamp only if it is not the save's",
        at: start)
    }
    guard let time = saves.stamp(place, extra: extra) else {
      throw reader.error(
        .invalid, "a save with a timestamp, and a sum of 64 bits", at: start)
    }
    let (dot, line) = saves.dot(at: place)
    dots.insert(dot.sequence, line)
    let covered =
      form == .deletion ? try readClock() : form == .alive ? nil : VectorClock()
    let mark = ExistenceMark(covering: covered, isPurge: isPurge, at: time)
    return (.init(dot: dot, payload: mark), form == .deletionOfAll)
  }

  /// Reads a clock of devices in the message.
  private mutating func readClock() throws(WireError) -> VectorClock {
    let count = try reader.count(of: 2)
    var entries: [VectorClock.Entry] = []
    entries.reserveCapacity(count)
    var next = 0
    for _ in 0..<count {
      let line = try readDevice(from: next)
      let number = try reader.number()
      saves.see(number, of: line)
      entries.append(.init(device: saves.device(of: line), count: number))
      next = line + 1
    }
    return VectorClock(sorted: entries)
  }
}

extension Siblings<ExistenceMark>.Element {
  /// The same deletion of other saves.
  fileprivate func covering(_ clock: VectorClock) -> Self {
    Self(
      dot: dot,
      payload: ExistenceMark(
        covering: clock, isPurge: payload.isPurge, at: payload.time))
  }
}
