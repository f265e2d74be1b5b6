// SPDX-License-Identifier: Apache-2.0

/// How a mark is written.
private enum MarkForm: UInt64 {
  case alive
  /// The only mark: a deletion that covers all saves of the record that its fields
  /// and its existence in the message have seen.
  case deletionOfAll
  /// A deletion that covers a written clock.
  case deletion
}

// The number of marks, which follow the fields of the record. Each mark has a code:
// the distance to its save, whether it is a purge, the form in two bits, and whether
// a timestamp follows.
extension ExistenceMarks {
  package func write(to writer: inout FieldWriter) {
    writer.head(siblings.count)
    for (i, mark) in siblings.enumerated() {
      let found = writer.saves.find(mark.dot)
      let extra = mark.payload.time.rawValue - found.time
      let covered = mark.payload.covered
      let isOfAll = siblings.count == 1 && covered == writer.recordClock
      let form: MarkForm =
        covered == nil ? .alive : isOfAll ? .deletionOfAll : .deletion
      let distance = writer.distance(to: found.place, isFirst: i == 0)
      writer.out.varint(
        distance << 4 | (mark.payload.isPurge ? 8 : 0) | form.rawValue << 1
          | (extra > 0 ? 1 : 0))
      if extra > 0 { writer.out.varint(extra) }
      if form == .deletion, let covered { writer.write(covered) }
    }
  }

  package static func read(
    from reader: inout FieldReader
  ) throws(WireError) -> Self {
    let count = try reader.count(reader.head, size: 1, "marks")
    var marks: [Siblings<ExistenceMark>.Element] = []
    for i in 0..<count {
      let mark = try readMark(
        from: &reader, isFirst: i == 0, isOnly: count == 1)
      if reader.isBuilding || count == 1 { marks.append(mark) }
    }
    return ExistenceMarks(Siblings(sorted: marks))
  }

  /// Reads a mark.
  ///
  /// A deletion of all saves covers nothing until ``complete(from:)``.
  private static func readMark(
    from reader: inout FieldReader, isFirst: Bool, isOnly: Bool
  ) throws(WireError) -> Siblings<ExistenceMark>.Element {
    let start = reader.bytes.offset
    let code = try reader.bytes.varint()
    let place = try reader.reference(code >> 4, isFirst: isFirst, at: start)
    let extra = code & 1 == 0 ? 0 : try reader.bytes.varint()
    let (form, isPurge) = (MarkForm(rawValue: code >> 1 & 3), code & 8 != 0)
    let canBe: Bool =
      switch form {
      case .alive: !isPurge
      case .deletionOfAll: isOnly
      case .deletion: true
      case nil: false
      }
    guard canBe, code & 1 == 0 || extra > 0 else {
      throw reader.bytes.error(
        .notCanonical,
        "a mark of form 0 to 2, of form 1 only if it is the only one, a purge of "
          + "form 1 or 2, and a timestamp only if it is not the save's",
        at: start)
    }
    let time = try reader.stamp(place, extra: extra, at: start)
    let dot = reader.dot(at: place).dot
    reader.coversRecord = form == .deletionOfAll
    let covered: VectorClock? =
      switch form {
      case .deletion: try reader.readClock()
      case .deletionOfAll: VectorClock()
      case .alive, nil: nil
      }
    let mark = ExistenceMark(covering: covered, isPurge: isPurge, at: time)
    return .init(dot: dot, payload: mark)
  }

  package mutating func complete(
    from reader: FieldReader
  ) throws(WireError) {
    guard let only = siblings.only, let covered = only.payload.covered else {
      return
    }
    if !reader.coversRecord, reader.recordDots.equal(covered, reader.saves) {
      throw reader.bytes.error(
        .notCanonical, "form 1 of a deletion of all saves", at: reader.start)
    }
    guard reader.coversRecord, reader.isBuilding else { return }
    siblings = Siblings(
      ExistenceMark(
        covering: reader.recordDots.clock(reader.saves),
        isPurge: only.payload.isPurge, at: only.payload.time), at: only.dot)
  }
}
