// SPDX-License-Identifier: Apache-2.0

// Each element: its value and, for each mark, the reference to its save with a
// flag if another mark follows. In a stored fragment, the removed elements
// follow.
extension DotMap {
  package func write(to writer: inout FieldWriter) {
    writer.head(count)
    for (element, marks) in contents {
      writer.out.value(element)
      for (i, mark) in marks.enumerated() {
        writer.reference(
          to: mark.dot, isFirst: i == 0,
          flags: (i < marks.count - 1 ? 1 : 0, bits: 1))
      }
    }
    guard writer.kind == .stored, let lost = writer.fragment?.lost else {
      return
    }
    writer.out.varint(lost.count)
    for element in lost { writer.out.value(element) }
  }

  package static func read(
    from reader: inout FieldReader
  ) throws(WireError) -> Self {
    try reader.check(size: 2, "elements")
    // A receiver accepts or refuses a fragment of a set as a whole.
    reader.fragment.isWhole = true
    var elements: [Entry] = []
    if reader.isBuilding { elements.reserveCapacity(reader.count) }
    var previous: Value?
    for _ in 0..<reader.count {
      let element = try reader.readElement(after: &previous)
      let marks = try readMarks(from: &reader)
      if reader.isBuilding { elements.append((element, marks)) }
    }
    if reader.isFragment, reader.bytes.kind == .stored {
      previous = nil
      for _ in 0..<(try reader.bytes.count()) {
        let element = try reader.readElement(after: &previous)
        if reader.isBuilding { reader.fragment.lost.append(element) }
      }
    }
    return DotMap(elements)
  }

  /// Reads the marks of an element.
  private static func readMarks(
    from reader: inout FieldReader
  ) throws(WireError) -> Siblings<AddMark> {
    var marks: [Siblings<AddMark>.Element] = []
    var (isFirst, hasMore) = (true, true)
    while hasMore {
      let (place, more) = try reader.reference(isFirst: isFirst, flags: 1)
      let dot = reader.storeDot(at: place).dot
      hasMore = more == 1
      // Most elements have a single mark, without an array.
      if isFirst, !hasMore { return Siblings(AddMark(), at: dot) }
      isFirst = false
      if reader.isBuilding { marks.append(.init(dot: dot, payload: AddMark())) }
    }
    return Siblings(sorted: marks)
  }
}

extension FieldReader {
  /// Reads an element, which must be greater than the previous one.
  fileprivate mutating func readElement(
    after previous: inout Value?
  ) throws(WireError) -> Value {
    let start = bytes.offset
    guard let element = try bytes.value(),
      previous.map({ $0 < element }) ?? true
    else {
      throw bytes.error(
        .notCanonical, "sorted elements, none of them unset", at: start)
    }
    previous = element
    return element
  }
}
