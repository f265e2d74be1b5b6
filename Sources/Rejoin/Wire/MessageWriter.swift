// SPDX-License-Identifier: Apache-2.0

/// Writes what deltas, snapshots, records and stored replicas have in common:
/// devices, records and intervals.
struct MessageWriter {
  var out: WireWriter
  var saves = SaveIndex()
  /// The index of the save that was referred to last.
  var last = -1

  private let content: MessageContent
  private let kind: WireKind
  /// The index of each field, by number, in the table of the entity; −1 for
  /// those that the entity does not have.
  private var places: [Int32]
  /// The fields of the record that is being written.
  private var fields: [Field] = []
  /// The indices of the fields of the record before.
  private var layout: [Int32] = []
  private var hasExistence = false

  /// A field by its index in the entity's table and among the record's slots.
  private struct Field {
    let place: Int32
    let slot: Int32
  }

  /// Writes a message up to its checksum.
  ///
  /// - Parameter intervals: The interval of each device with unseen saves.
  init(
    _ content: MessageContent, _ intervals: [DeviceID: SaveInterval],
    as kind: WireKind
  ) {
    out = WireWriter(kind)
    self.content = content
    self.kind = kind
    places = Array(repeating: -1, count: content.names.count)
    for (device, interval) in intervals { saves.insert(interval, of: device) }
    for entity in content.entities {
      for choice in entity.choices {
        let slots = content.records[Int(choice.position)].slots
        content.forEachSlot(of: choice) { saves.insert(slots[$0]) }
      }
    }
    saves.settle()
    out.pair(saves.lines.count, content.entities.count)
    writeDevices()
    for entity in content.entities { write(entity.name, entity.choices) }
    out.histories(saves.lines)
  }

  private mutating func writeDevices() {
    var previous: DeviceID?
    var times = TimeChain()
    for line in saves.lines {
      out.device(line.device, after: previous)
      previous = line.device
      write(line)
      for save in line.saves { times.write(save.time, to: &out) }
    }
  }

  /// Writes the number of a device's saves, their sequence numbers, and the
  /// interval.
  private mutating func write(_ line: SaveIndex.Line) {
    var head = DeviceHead()
    head.isDense = line.isDense
    var (distance, extra, step) = (0, 0 as UInt64, 0 as UInt64)
    if let interval = line.interval {
      let end = line.find(interval.to.sequence)
      distance = line.saves.count - 1 - end
      extra = interval.to.time.rawValue - (line.saves[end].time ?? 0)
      // Readers refuse the message if the interval is empty.
      step = interval.to.sequence &- interval.from &- 1
      head.hasInterval = true
      head.isUnusual = distance > 0 || extra > 0
      head.isSingle = !kind.beginsAtNothing && step == 0
    }
    out.varint(UInt64(line.saves.count) << 4 | UInt64(head.rawValue))
    for (i, save) in line.saves.enumerated() where i == 0 || !head.isDense {
      out.varint(
        i == 0 ? save.sequence : save.sequence - line.saves[i - 1].sequence - 1)
    }
    if head.isUnusual {
      out.varint(distance)
      out.varint(extra)
    }
    if head.hasInterval, !kind.beginsAtNothing, !head.isSingle {
      out.varint(step)
    }
  }

  /// Writes the records of one entity.
  private mutating func write(
    _ entity: Name, _ choices: [MessageContent.Choice]
  ) {
    let numbers = writeTable(entity, choices)
    // One by one: there may be many entities, and many fields of others.
    defer { for number in numbers { places[Int(number)] = -1 } }
    (layout, hasExistence) = ([], false)
    var previous: String?
    for (i, choice) in choices.enumerated() {
      let record = content.records[Int(choice.position)]
      out.key(record.id.key, after: previous)
      previous = record.id.key
      write(record, choice, isLast: i == choices.count - 1)
    }
  }

  /// Writes the entity's name and its fields.
  ///
  /// - Returns: The numbers of the fields.
  private mutating func writeTable(
    _ entity: Name, _ choices: [MessageContent.Choice]
  ) -> [UInt32] {
    var numbers: [UInt32] = []
    for choice in choices {
      let slots = content.records[Int(choice.position)].slots
      content.forEachSlot(of: choice) { slot in
        let number = slots[slot].name
        guard number != 0, places[Int(number)] < 0 else { return }
        places[Int(number)] = 0
        numbers.append(number)
      }
    }
    let names = content.names
    numbers.sort { names[$0] < names[$1] }
    for (place, number) in numbers.enumerated() {
      places[Int(number)] = Int32(place)
    }
    out.entity(entity.text, numbers.map { names[$0] })
    return numbers
  }

  private mutating func write(
    _ record: RecordState, _ choice: MessageContent.Choice, isLast: Bool
  ) {
    fields.removeAll(keepingCapacity: true)
    content.forEachSlot(of: choice) { slot in
      // The existence, which has number zero, comes first.
      fields.append(
        Field(
          place: places[Int(record.slots[slot].name)], slot: Int32(slot)))
    }
    let isSorted = zip(fields, fields.dropFirst()).allSatisfy {
      $0.place < $1.place
    }
    if !isSorted { fields.sort { $0.place < $1.place } }
    var choice = FormChoice()
    for field in fields {
      let write = onlyWrite(of: record.slots[Int(field.slot)])
      if field.place < 0 {
        choice.note(existence: write)
      } else {
        choice.note(field: write)
      }
    }
    let (form, first) = choice.form
    let isSame = isLikePrevious()
    let moved = form == .full ? 0 : Int64(first - last - 1).zigzag
    out.varint(
      moved << 4 | form.rawValue << 2 | (isSame ? 2 : 0) | (isLast ? 1 : 0))
    if !isSame { out.layout(layout, hasExistence: hasExistence) }
    if form == .full {
      for field in fields { write(record.slots[Int(field.slot)].state) }
      return
    }
    for field in fields where field.place >= 0 {
      out.value(record.slots[Int(field.slot)].value)
    }
    last = form == .same ? first : first + max(layout.count, 1) - 1
  }

  /// Whether the record has the fields of the one before, whose layout becomes
  /// this one's.
  private mutating func isLikePrevious() -> Bool {
    let exists = fields.first.map { $0.place < 0 } ?? false
    let places = fields.dropFirst(exists ? 1 : 0).lazy.map(\.place)
    if exists == hasExistence, layout.elementsEqual(places) { return true }
    layout.removeAll(keepingCapacity: true)
    layout.append(contentsOf: places)
    hasExistence = exists
    return false
  }

  /// The only write of a register, if the field consists of just that, at its
  /// save's timestamp.
  private mutating func onlyWrite(of slot: FieldSlot) -> OnlyWrite? {
    guard slot.isOneSibling, let save = slot.onlySave else { return nil }
    let found = saves.find(save.dot)
    guard save.time.rawValue == found.time else { return nil }
    return OnlyWrite(place: found.place, isTrue: slot.value == .bool(true))
  }
}
