// SPDX-License-Identifier: Apache-2.0

// Each mark: the reference to its save with two flags, its time as in a
// register's write, and the clock of any mark but an alive one. The clock of a
// purge contains the mark's own save, and that of an announcement does not.
extension ExistenceMarks {
  package func write(to writer: inout FieldWriter) {
    writer.head(siblings.count)
    for (i, mark) in siblings.enumerated() {
      let time = writer.reference(
        to: mark.dot, isFirst: i == 0, flags: (mark.payload.flags, bits: 2))
      writer.out.varint(mark.payload.time.rawValue - time)
      if mark.payload.kind != .alive {
        writer.entries(mark.payload.clock.entries, beyond: VectorClock())
      }
    }
  }

  package static func read(
    from reader: inout FieldReader
  ) throws(WireError) -> Self {
    try reader.check(size: 2, "marks")
    return ExistenceMarks(
      try Siblings.readSiblings(from: &reader, count: reader.count) {
        reader, i throws(WireError) in
        let (place, flags) = try reader.reference(isFirst: i == 0, flags: 2)
        let time = try reader.readTime(of: place)
        let dot = reader.storeDot(at: place).dot
        let clock = flags == 0 ? VectorClock() : try reader.readClock()
        return .init(
          dot: dot,
          payload: ExistenceMark(flags: flags, clock, by: dot, at: time))
      })
  }
}

extension ExistenceMark {
  /// The kind of the mark in a message.
  var flags: UInt64 {
    switch kind {
    case .alive: 0
    case .deletion: isFinal ? 3 : 1
    case .purgeAnnouncement, .purge: 2
    }
  }

  fileprivate init(
    flags: UInt64, _ clock: VectorClock, by dot: Dot, at time: Timestamp
  ) {
    self =
      switch flags {
      case 0: .alive(at: time)
      case 2: .purge(by: dot, seen: clock, at: time)
      default: .deletion(covering: clock, isFinal: flags == 3, at: time)
      }
  }
}
