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
    let rest = VectorClock(sorted: existence.explicitRemainder)
    out.varint(
      UInt64(existence.store.count) << 1 | (rest.isEmpty ? 0 : 1))
    if !rest.isEmpty { write(rest) }
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
  /// Reads the marks of a record, whose fields have been read.
  mutating func readMarks() throws(WireError) -> FieldState {
    let start = reader.offset
    let head = try reader.varint()
    guard head >> 1 <= UInt64(reader.remaining) else {
      throw reader.error(
        .truncated, "at least one byte for each of \(head >> 1) marks",
        at: start)
    }
    let rest = head & 1 == 0 ? VectorClock() : try readClock()
    guard head > 0, head & 1 == 0 || !rest.isEmpty else {
      throw reader.error(.notCanonical, "an existence with a save", at: start)
    }
    var marks: [Siblings<ExistenceMark>.Element] = []
    dots.begin()
    for i in 0..<(head >> 1) {
      let at = reader.offset
      let code = try reader.varint()
      let place = try reference(code >> 4, isFirst: i == 0, at: at)
      let extra = code & 1 == 0 ? 0 : try reader.varint()
      guard let form = MarkForm(rawValue: code >> 1 & 3),
        form != .deletionOfAll || head >> 1 == 1,
        form != .alive || code & 8 == 0,
        code & 1 == 0 || extra > 0
      else {
        throw reader.error(
          .notCanonical,
          "a mark of form 0 to 2, of form 1 only if no other mark is there, a purge "
            + "only of form 1 or 2, and a timestamp only if it is later than the "
            + "save's", at: at)
      }
      guard let time = saves.stamp(place, extra: extra) else {
        throw reader.error(
          .invalid, "a save with a timestamp, and a sum of 64 bits", at: at)
      }
      let (dot, line) = saves.dot(at: place)
      dots.insert(dot.sequence, line)
      var covered = form == .deletion ? try readClock() : nil
      if form != .alive, head >> 1 == 1 {
        let all = fieldDots.clock(saves).merging(rest).merging(VectorClock(dot))
        if covered == all {
          throw reader.error(
            .notCanonical, "form 1 of a deletion of all saves", at: at)
        }
        covered = covered ?? all
      }
      guard isBuilding else { continue }
      marks.append(
        .init(
          dot: dot,
          payload: ExistenceMark(
            covering: covered, isPurge: code & 8 != 0, at: time)))
    }
    for line in dots.touched { saves.see(dots[Int(line)], of: Int(line)) }
    let clock = dots.clock(saves)
    guard rest.entries.allSatisfy({ clock[$0.device] < $0.count }) else {
      throw reader.error(
        .notCanonical, "a causal context without the saves of marks", at: start)
    }
    guard isBuilding else { return FieldState(.existence) }
    return .existence(
      Causal(
        Siblings(sorted: marks), rest.isEmpty ? nil : clock.merging(rest)))
  }

  /// Reads a clock of devices in the message.
  private mutating func readClock() throws(WireError) -> VectorClock {
    let count = try reader.count(of: 2)
    var entries: [VectorClock.Entry] = []
    entries.reserveCapacity(count)
    var next = 0
    for _ in 0..<count {
      let start = reader.offset
      let gap = try reader.varint()
      guard gap < UInt64(saves.lineCount - next) else {
        throw reader.error(.invalid, "one of the devices", at: start)
      }
      let line = next + Int(gap)
      let number = try reader.number()
      saves.see(number, of: line)
      entries.append(.init(device: saves.device(of: line), count: number))
      next = line + 1
    }
    return VectorClock(sorted: entries)
  }
}
