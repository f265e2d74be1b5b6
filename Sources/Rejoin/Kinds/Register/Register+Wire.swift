// SPDX-License-Identifier: Apache-2.0

// The number of writes and whether they have the dense form, and each write: the
// distance to its save, how much later it is, and its value. In the dense form,
// all writes have the timestamps of consecutive saves.
extension Siblings<Stamped> {
  package func write(to writer: inout FieldWriter) {
    let found = map { writer.saves.find($0.dot) }
    let extras = zip(self, found).map {
      $0.payload.time.rawValue - $1.time
    }
    let isDense =
      !found.isEmpty && extras.allSatisfy { $0 == 0 }
      && found[found.count - 1].place - found[0].place == found.count - 1
    writer.head(UInt64(count) << 1 | (isDense ? 1 : 0))
    for (i, sibling) in enumerated() {
      if i == 0 || !isDense {
        let distance = writer.distance(to: found[i].place, isFirst: i == 0)
        if isDense {
          writer.out.varint(distance)
        } else {
          writer.out.varint(distance << 1 | (extras[i] > 0 ? 1 : 0))
          if extras[i] > 0 { writer.out.varint(extras[i]) }
        }
      }
      writer.out.value(sibling.payload.value)
    }
    if let end = found.last { writer.last = end.place }
  }

  package static func read(
    from reader: inout FieldReader
  ) throws(WireError) -> Self {
    let isDense = reader.head & 1 != 0
    let count = try reader.count(reader.head >> 1, size: 1, "writes")
    var (first, areExact) = (0, true)
    var (store, more) = (Self(), [] as [Element])
    for i in 0..<count {
      let at = reader.bytes.offset
      let code = i > 0 && isDense ? 0 : try reader.bytes.varint()
      let place = try reader.reference(
        isDense ? code : code >> 1, isFirst: i == 0, at: at)
      let extra = try reader.extra(if: !isDense && code & 1 != 0, at: at)
      if i == 0 { first = place }
      areExact = areExact && extra == 0
      let time = try reader.stamp(place, extra: extra, at: at)
      let dot = reader.dot(at: place).dot
      let value = try reader.bytes.value(isBuilding: reader.isBuilding)
      if count == 1, extra == 0 { reader.onlyWrite = place }
      guard reader.isBuilding else { continue }
      // Nearly always there is one, which needs no array.
      if i == 0 {
        store = Self(Stamped(value, at: time), at: dot)
      } else {
        if i == 1 { more = Array(store) }
        more.append(.init(dot: dot, payload: Stamped(value, at: time)))
      }
    }
    let couldBeDense =
      count > 0 && areExact && reader.last - first == count - 1
    guard isDense == couldBeDense else {
      throw reader.bytes.error(
        .notCanonical,
        isDense
          ? "the general form of writes" : "the dense form of writes",
        at: reader.start)
    }
    return more.isEmpty ? store : Self(sorted: more)
  }
}
