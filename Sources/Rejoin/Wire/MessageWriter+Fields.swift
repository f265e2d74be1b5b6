// SPDX-License-Identifier: Apache-2.0

extension MessageWriter {
  /// Writes a field in full: its store, and the part of its causal context that
  /// the store does not imply.
  ///
  /// - Parameter continued: Of the fragment of a ledger, the devices whose line
  ///   continues one that the receiver has.
  mutating func write(
    _ state: FieldState, continued: Set<DeviceID>? = nil
  ) {
    let rest = state.explicitRemainder
    let flag: UInt64 = rest.isEmpty ? 0 : 1
    switch state {
    case .register(let field): write(Array(field.store), flag)
    case .counter(let field): write(field.store, flag)
    case .set(let field): write(field.store, flag)
    case .ledger(let field): write(field.store, flag, continued)
    case .existence: preconditionFailure("marks are written after the fields")
    }
    if !rest.isEmpty { write(rest, beyond: state.dots) }
  }

  /// Writes the rest of a clock, beyond the dots in a store.
  mutating func write(_ rest: [VectorClock.Entry], beyond dots: VectorClock) {
    out.varint(rest.count)
    var next = 0
    for entry in rest {
      let place = saves.number(of: entry.device)
      out.varint(place - next)
      out.varint(entry.count - dots[entry.device] - 1)
      next = place + 1
    }
  }

  /// The distance to a save from the one referred to last.
  ///
  /// Within a field, references ascend, so that only the first needs a sign.
  mutating func distance(to place: Int, isFirst: Bool) -> UInt64 {
    defer { last = place }
    return isFirst
      ? Int64(place - last - 1).zigzag : UInt64(place - last - 1)
  }

  private mutating func write(
    _ siblings: [Siblings<Stamped>.Element], _ flag: UInt64
  ) {
    let found = siblings.map { saves.find($0.dot) }
    let extras = zip(siblings, found).map {
      $0.payload.time.rawValue - $1.time
    }
    let isDense =
      !found.isEmpty && extras.allSatisfy { $0 == 0 }
      && found[found.count - 1].place - found[0].place == found.count - 1
    out.varint(UInt64(siblings.count) << 2 | (isDense ? 2 : 0) | flag)
    for (i, sibling) in siblings.enumerated() {
      if i == 0 || !isDense {
        let distance = distance(to: found[i].place, isFirst: i == 0)
        if isDense {
          out.varint(distance)
        } else {
          out.varint(distance << 1 | (extras[i] > 0 ? 1 : 0))
          if extras[i] > 0 { out.varint(extras[i]) }
        }
      }
      out.value(sibling.payload.value)
    }
    if let end = found.last { last = end.place }
  }

  private mutating func write(_ tally: Tally, _ flag: UInt64) {
    out.varint(UInt64(tally.entries.count) << 1 | flag)
    for (i, entry) in tally.entries.enumerated() {
      let place = saves.find(Dot(entry.device, entry.sequence)).place
      let cancelled = tally.cancelled.entry(of: entry.device)
      let form: UInt64 = cancelled == nil ? 0 : cancelled == entry ? 1 : 2
      out.varint(distance(to: place, isFirst: i == 0) << 2 | form)
      out.varint(entry.increments)
      out.varint(entry.decrements)
      guard form == 2, let cancelled else { continue }
      out.varint(entry.sequence - cancelled.sequence)
      out.varint(cancelled.increments)
      out.varint(cancelled.decrements)
    }
  }

  private mutating func write(_ map: DotMap, _ flag: UInt64) {
    out.varint(UInt64(map.count) << 1 | flag)
    for (element, marks) in map.contents {
      out.value(element)
      for (i, mark) in marks.enumerated() {
        let place = saves.find(mark.dot).place
        let distance = distance(to: place, isFirst: i == 0)
        out.varint(distance << 1 | (i < marks.count - 1 ? 1 : 0))
      }
    }
  }

  private mutating func write(
    _ ledger: LedgerLines, _ flag: UInt64, _ continued: Set<DeviceID>?
  ) {
    out.varint(UInt64(ledger.lines.count) << 1 | flag)
    var next = 0
    for (device, line) in ledger.lines.sorted(by: { $0.key < $1.key }) {
      let place = saves.number(of: device)
      let isContinued = continued?.contains(device) ?? false
      let hasSum = line.folded > 0 && !isContinued
      let flags =
        (hasSum ? 1 : 0) | (line.cancelled > 0 ? 2 : 0) as UInt64
      // Only a fragment has lines without what is before them.
      let code = UInt64(place - next) << 2 | flags
      out.varint(
        continued == nil
          ? code : code << 1 | (isContinued ? 1 : 0))
      next = place + 1
      if isContinued || hasSum { out.varint(line.folded) }
      if hasSum { out.wide(line.foldedSum) }
      if line.cancelled > 0 {
        out.varint(line.cancelled)
        out.wide(line.cancelledSum)
      }
      write(line.tail, of: device)
    }
  }

  private mutating func write(
    _ tail: [DeviceEntries.Entry], of device: DeviceID
  ) {
    out.varint(tail.count)
    var previous = saves.lines[saves.number(of: device)].start
    for entry in tail {
      let found = saves.find(Dot(device, entry.sequence))
      let extra = entry.time.rawValue - found.time
      let moved = Int64(found.place - previous).zigzag
      out.varint(moved << 1 | (extra > 0 ? 1 : 0))
      if extra > 0 { out.varint(extra) }
      previous = found.place
      out.signed(entry.amount)
      out.value(entry.memo)
    }
  }
}
