// SPDX-License-Identifier: Apache-2.0

// Each mark: the reference to its save, with flags for a deletion and a purge,
// its time as in a register's write, and the clock that a deletion covers.
extension ExistenceMarks {
  package func write(to writer: inout FieldWriter) {
    writer.head(siblings.count)
    for (i, mark) in siblings.enumerated() {
      let flags: UInt64 =
        mark.payload.isPurge ? 3 : mark.payload.covered == nil ? 0 : 1
      let time = writer.reference(
        to: mark.dot, isFirst: i == 0, flags: (flags, bits: 2))
      writer.out.varint(mark.payload.time.rawValue - time)
      if let covered = mark.payload.covered {
        writer.entries(covered.entries, beyond: VectorClock())
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
        let start = reader.bytes.offset
        let (place, flags) = try reader.reference(isFirst: i == 0, flags: 2)
        try reader.bytes.require(
          flags != 2, .invalid, "a purge that is a deletion", at: start)
        let time = try reader.readTime(of: place)
        return .init(
          dot: reader.storeDot(at: place).dot,
          payload: ExistenceMark(
            covering: flags == 0 ? nil : try reader.readClock(),
            isPurge: flags == 3, at: time))
      })
  }
}
