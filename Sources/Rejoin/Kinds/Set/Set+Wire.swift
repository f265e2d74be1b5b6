// SPDX-License-Identifier: Apache-2.0

// The number of elements, and each element: its value, and for each mark the
// distance to its save and whether another mark follows.
extension DotMap {
  package func write(to writer: inout FieldWriter) {
    writer.head(count)
    for (element, marks) in contents {
      writer.out.value(element)
      for (i, mark) in marks.enumerated() {
        let place = writer.saves.find(mark.dot).place
        let distance = writer.distance(to: place, isFirst: i == 0)
        writer.out.varint(distance << 1 | (i < marks.count - 1 ? 1 : 0))
      }
    }
  }

  package static func read(
    from reader: inout FieldReader
  ) throws(WireError) -> Self {
    // A receiver takes a fragment of a set as a whole.
    reader.isWhole = true
    let count = try reader.count(reader.head, size: 2, "items")
    var elements: [Entry] = []
    if reader.isBuilding { elements.reserveCapacity(count) }
    var previous: Value?
    for _ in 0..<count {
      let start = reader.bytes.offset
      let element = try reader.bytes.element()
      if let previous, !(previous < element) {
        throw reader.bytes.error(.notCanonical, "sorted elements", at: start)
      }
      previous = element
      let marks = try readMarks(from: &reader)
      if reader.isBuilding { elements.append((element, marks)) }
    }
    return DotMap(elements)
  }

  /// Reads the marks of an element.
  private static func readMarks(
    from reader: inout FieldReader
  ) throws(WireError) -> Siblings<AddMark> {
    var (marks, more) = (Siblings<AddMark>(), [] as [Siblings<AddMark>.Element])
    var (i, hasMore) = (0, true)
    while hasMore {
      let start = reader.bytes.offset
      let code = try reader.bytes.varint()
      hasMore = code & 1 != 0
      let place = try reader.reference(code >> 1, isFirst: i == 0, at: start)
      let dot = reader.dot(at: place).dot
      i += 1
      guard reader.isBuilding else { continue }
      // Nearly always there is one, which needs no array.
      if i == 1 {
        marks = Siblings(AddMark(), at: dot)
      } else {
        if i == 2 { more = Array(marks) }
        more.append(.init(dot: dot, payload: AddMark()))
      }
    }
    return more.isEmpty ? marks : Siblings(sorted: more)
  }
}
