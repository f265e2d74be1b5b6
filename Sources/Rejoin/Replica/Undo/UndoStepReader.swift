// SPDX-License-Identifier: Apache-2.0

/// Reads an undo step from bytes.
///
/// An undo checks the content of each change.
struct UndoStepReader {
  /// The items that were read, in the order of the first references to them.
  private struct Table<Item: Hashable> {
    private var items: [Item] = []
    private var known: Set<Item> = []

    /// Returns the item at an index, or `nil` if no item is there.
    subscript(index: UInt64) -> Item? {
      index < UInt64(items.count) ? items[Int(index)] : nil
    }

    /// Adds the next item, which must have this index.
    mutating func add(
      _ item: Item, at index: UInt64, in bytes: WireReader
    ) throws(WireError) -> Item {
      try bytes.require(
        index == UInt64(items.count), .invalid, "the index of the next item")
      try bytes.require(
        known.insert(item).inserted, .notCanonical, "an item that is new")
      items.append(item)
      return item
    }
  }

  private var bytes: WireReader
  private var entities = Table<SchemaName>()
  private var fields = Table<FieldKey>()
  private var devices = Table<DeviceID>()
  private var saves = Table<UndoStep.Point>()
  private var times = Table<Timestamp>()

  init(_ bytes: UnsafeRawBufferPointer) throws(WireError) {
    self.bytes = try WireReader(opening: bytes, as: [.undoStep])
  }

  /// Reads the changes of a step.
  mutating func step(_ step: UndoStep) throws(WireError) -> UndoStep {
    var step = step
    if try flags(below: 2) == 1 { step.undone = try dot() }
    let count = try bytes.count(of: 3)
    step.changes.reserveCapacity(count)
    for _ in 0..<count {
      let last = step.changes.last?.location.record
      step.changes.append(try change(after: last))
    }
    try bytes.finish()
    return step
  }

  /// Reads a byte whose highest bits must not be set.
  private mutating func flags(below limit: UInt8) throws(WireError) -> UInt8 {
    let start = bytes.offset
    let flags = try bytes.byte()
    try bytes.require(
      flags < limit, .invalid, "flags below \(limit)", at: start)
    return flags
  }

  private mutating func change(
    after last: RecordID?
  ) throws(WireError) -> UndoStep.Change {
    let head = try bytes.varint()
    let record = head & 1 == 1 ? try newRecord(after: last) : last
    guard let record else {
      throw bytes.error(.invalid, "the record of the first change")
    }
    let field = head > 1 ? try field(head >> 1 - 1) : nil
    var element: Value?
    if field?.kind.store.hasElements == true {
      element = try bytes.value()
      try bytes.require(element != nil, .invalid, "an element")
    }
    let save = try save()
    let content: UndoStep.Content =
      switch field?.kind {
      case nil: .existence(try existence())
      case .counter?, .ledger?: .sums(try sums())
      default: .writes(try writes())
      }
    return UndoStep.Change(
      location: .init(record: record, field: field, element: element),
      save: save, content: content)
  }

  private mutating func newRecord(
    after last: RecordID?
  ) throws(WireError) -> RecordID {
    let start = bytes.offset
    let entity = try entity()
    let id = RecordID(entity.text, try text())
    try bytes.require(id != last, .notCanonical, "another record", at: start)
    return id
  }

  private mutating func entity() throws(WireError) -> SchemaName {
    let index = try bytes.varint()
    if let entity = entities[index] { return entity }
    return try entities.add(SchemaName(text()), at: index, in: bytes)
  }

  private mutating func text() throws(WireError) -> String {
    try bytes.text(bytes.count())
  }

  /// Returns the field at an index, and first reads it if it is new.
  private mutating func field(_ index: UInt64) throws(WireError) -> FieldKey {
    if let field = fields[index] { return field }
    let start = bytes.offset
    let (kind, length) = try bytes.pair()
    let name = try bytes.text(length)
    let variant = kind & 8 == 0 ? nil : try text()
    guard let kind = FieldKind(order: kind & ~8),
      FieldKey.isValid(name, kind, variant)
    else { throw bytes.error(.invalid, "a valid field", at: start) }
    return try fields.add(
      FieldKey(name, kind, variant: variant), at: index, in: bytes)
  }

  private mutating func device() throws(WireError) -> DeviceID {
    let index = try bytes.varint()
    if let device = devices[index] { return device }
    return try devices.add(bytes.device(), at: index, in: bytes)
  }

  private mutating func dot() throws(WireError) -> Dot {
    Dot(try device(), try bytes.varint())
  }

  private mutating func dots() throws(WireError) -> [Dot] {
    let start = bytes.offset
    let count = try bytes.count(of: 2)
    try bytes.require(count > 0, .notCanonical, "at least one dot", at: start)
    var dots: [Dot] = []
    dots.reserveCapacity(count)
    for _ in 0..<count { dots.append(try dot()) }
    return dots
  }

  private mutating func save() throws(WireError) -> UndoStep.Point {
    let index = try bytes.varint()
    if let save = saves[index] { return save }
    let save = UndoStep.Point(dot: try dot(), digest: try bytes.fixed())
    return try saves.add(save, at: index, in: bytes)
  }

  private mutating func time() throws(WireError) -> Timestamp {
    let index = try bytes.varint()
    if let time = times[index] { return time }
    return try times.add(
      Timestamp(rawValue: bytes.fixed()), at: index, in: bytes)
  }

  private mutating func clock() throws(WireError) -> VectorClock {
    let count = try bytes.count(of: 2)
    var entries: [VectorClock.Entry] = []
    entries.reserveCapacity(count)
    for _ in 0..<count {
      let device = try device()
      try bytes.require(
        entries.last.map { $0.device < device } ?? true, .notCanonical,
        "sorted devices")
      entries.append(.init(device: device, count: try bytes.number(after: 0)))
    }
    return VectorClock(sorted: entries)
  }
}

// Contents of changes.
extension UndoStepReader {
  private mutating func writes() throws(WireError) -> UndoStep.Writes {
    typealias Flags = WritesFlags
    let start = bytes.offset
    let flags = try flags(below: Flags.others << 1)
    var before: UndoStep.Before?
    if flags & Flags.before != 0 {
      before = UndoStep.Before(
        value: try bytes.value(),
        time: flags & Flags.time != 0 ? try time() : nil,
        dot: flags & Flags.dot != 0 ? try dot() : nil)
    } else {
      try bytes.require(
        flags & (Flags.time | Flags.dot) == 0, .invalid,
        "a superseded write with this time or dot", at: start)
    }
    return UndoStep.Writes(
      isThere: flags & Flags.isThere != 0, before: before,
      others: flags & Flags.others != 0 ? try dots() : [])
  }

  private mutating func existence() throws(WireError) -> UndoStep.Existence {
    typealias Flags = ExistenceFlags
    let flags = try flags(below: Flags.outlived << 1)
    return UndoStep.Existence(
      existed: flags & Flags.existed != 0,
      isThere: flags & Flags.isThere != 0,
      isDeletion: flags & Flags.isDeletion != 0,
      covered: flags & Flags.covered != 0 ? try clock() : nil,
      uncovered: try clock(),
      superseded: flags & Flags.superseded != 0 ? try dot() : nil,
      wasFinal: flags & Flags.wasFinal != 0,
      outlived: flags & Flags.outlived != 0 ? try dots() : [],
      before: try bytes.varint(), after: try bytes.varint())
  }

  private mutating func sums() throws(WireError) -> UndoStep.Sums {
    let first = try bytes.varint()
    var amounts: [UndoStep.Amount] = []
    for _ in 0..<(try bytes.count(of: 2)) {
      amounts.append(
        .init(amount: try bytes.signed(), memo: try bytes.value()))
    }
    var decisions: [UndoStep.Decision] = []
    for _ in 0..<(try bytes.count(of: 4)) {
      let (device, before) = (try device(), try cancellation())
      guard let after = try cancellation() else {
        throw bytes.error(.invalid, "a decision")
      }
      decisions.append(.init(device: device, before: before, after: after))
    }
    return UndoStep.Sums(first: first, amounts: amounts, decisions: decisions)
  }

  /// Reads a decision, or `nil` for none.
  private mutating func cancellation() throws(WireError) -> Cancellation? {
    let decided = try bytes.varint()
    return decided > 0 ? try bytes.cancellation(of: decided) : nil
  }
}
