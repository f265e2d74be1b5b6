// SPDX-License-Identifier: Apache-2.0

// Each write: the reference to its save, the difference between its timestamp
// and the message's timestamp of the save, and its value.
extension Siblings<Stamped> {
  package func write(to writer: inout FieldWriter) {
    writer.head(count)
    for (i, sibling) in enumerated() {
      let time = writer.reference(to: sibling.dot, isFirst: i == 0)
      writer.out.varint(sibling.payload.time.rawValue - time)
      writer.out.value(sibling.payload.value)
    }
  }

  package static func read(
    from reader: inout FieldReader
  ) throws(WireError) -> Self {
    try reader.check(size: 3, "writes")
    return try readSiblings(from: &reader, count: reader.count) {
      reader, i throws(WireError) in
      let place = try reader.reference(isFirst: i == 0).place
      let time = try reader.readTime(of: place)
      let value = try reader.bytes.value(isBuilding: reader.isBuilding)
      return .init(
        dot: reader.storeDot(at: place).dot, payload: Stamped(value, at: time))
    }
  }
}

extension Siblings {
  /// Reads siblings.
  ///
  /// If the reader only validates, it does not store two or more siblings.
  static func readSiblings(
    from reader: inout FieldReader, count: Int,
    _ sibling: (inout FieldReader, Int) throws(WireError) -> Element
  ) throws(WireError) -> Self {
    guard count > 1 else {
      // Most registers contain one write, which needs no array.
      if count == 0 { return Self() }
      let only = try sibling(&reader, 0)
      return Self(only.payload, at: only.dot)
    }
    var siblings: [Element] = []
    if reader.isBuilding { siblings.reserveCapacity(count) }
    for i in 0..<count {
      let next = try sibling(&reader, i)
      if reader.isBuilding { siblings.append(next) }
    }
    return Self(sorted: siblings)
  }
}
