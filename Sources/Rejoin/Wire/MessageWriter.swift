// SPDX-License-Identifier: Apache-2.0

/// Writes what deltas, snapshots, records and stored replicas have in common:
/// devices, records and intervals.
struct MessageWriter {
  var writer: FieldWriter

  private let content: MessageContent
  private let kind: WireKind
  /// The index of each column, by number, in the table of the entity; −1 for
  /// those that the entity does not have.
  ///
  /// The existence, which has number zero, comes after the columns.
  private var places: [Int32]
  /// The fields of the record that is being written, or of the one before.
  private var fields: [Field] = []
  /// The same fields, in the order of the entity's table.
  private var sorted: [Field] = []
  /// The indices in the table, without existence, of the record before.
  private var layout: [Int32] = []
  private var hasExistence = false
  /// How many records have been written.
  private var recordCount = 0
  /// How many fields there are.
  private var fieldCount = 0

  /// A field by its index in the entity's table and among the record's slots.
  private struct Field: Equatable {
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
    writer = FieldWriter(WireWriter(kind))
    self.content = content
    self.kind = kind
    places = Array(repeating: -1, count: content.columnCount)
    places[0] = .max
    for (device, interval) in intervals {
      writer.saves.insert(interval, of: device)
    }
    for choice in content.choices {
      let slots = content.records[Int(choice.position)].slots
      content.forEachField(of: choice) { field in
        fieldCount += 1
        if let fragment = content.fragment(
          choice, slots[field.slot].name)
        {
          writer.saves.insert(fragment.state)
        } else if slots[field.slot].isOneWrite {
          writer.saves.insert(slots[field.slot].save)
        } else {
          writer.saves.insert(slots[field.slot].state)
        }
      }
    }
    writer.saves.settle()
    writer.out.pair(writer.saves.lines.count, content.entities.count)
    writeDevices()
    for entity in content.entities {
      write(entity.name, content.choices[entity.choices])
    }
    writer.out.histories(writer.saves.lines)
  }

  private mutating func writeDevices() {
    var previous: DeviceID?
    var times = TimeChain()
    for line in writer.saves.lines {
      writer.out.device(line.device, after: previous)
      previous = line.device
      write(line)
      for save in line.saves { times.write(save.time, to: &writer.out) }
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
    writer.out.varint(UInt64(line.saves.count) << 4 | UInt64(head.rawValue))
    for (i, save) in line.saves.enumerated() where i == 0 || !head.isDense {
      writer.out.varint(
        i == 0 ? save.sequence : save.sequence - line.saves[i - 1].sequence - 1)
    }
    if head.isUnusual {
      writer.out.varint(distance)
      writer.out.varint(extra)
    }
    if head.hasInterval, !kind.beginsAtNothing, !head.isSingle {
      writer.out.varint(step)
    }
  }

  /// Writes the records of one entity.
  private mutating func write(
    _ entity: Name, _ choices: ArraySlice<MessageContent.Choice>
  ) {
    let numbers = writeTable(entity, choices)
    // One by one: there may be many entities, and many fields of others.
    defer { for number in numbers { places[Int(number)] = -1 } }
    (fields, sorted, layout, hasExistence) = ([], [], [], false)
    var previous: String?
    for choice in choices {
      let key = content.records[Int(choice.position)].id.key
      writer.out.key(key, after: previous)
      previous = key
      write(choice, isLast: choice.position == choices.last?.position)
      recordCount += 1
      if recordCount == 64 { reserve() }
    }
  }

  /// Makes room for the other records, if the first ones tell how much.
  ///
  /// Else the buffer would double, and there would be up to three times the
  /// message in memory for a moment. Whatever the first ones are, it takes at most
  /// 64 bytes for a field, about as many as the replica does.
  private mutating func reserve() {
    let whole = Double(content.choices.count) / Double(recordCount)
    let estimate = Double(writer.out.bytes.count) * whole * 17 / 16
    writer.out.reserve(
      Int(
        min(estimate, Double(writer.out.bytes.count) + 64 * Double(fieldCount)))
    )
  }

  /// Writes the entity's name and its fields.
  ///
  /// - Returns: The numbers of the columns.
  private mutating func writeTable(
    _ entity: Name, _ choices: ArraySlice<MessageContent.Choice>
  ) -> [UInt32] {
    var numbers: [UInt32] = []
    for choice in choices {
      content.forEachField(of: choice) { field in
        guard field.column != 0, places[Int(field.column)] < 0 else { return }
        places[Int(field.column)] = 0
        numbers.append(field.column)
      }
    }
    let content = content
    numbers.sort { content.column($0) < content.column($1) }
    for (place, number) in numbers.enumerated() {
      places[Int(number)] = Int32(place)
    }
    writer.out.entity(entity.text, numbers.lazy.map { content.column($0) })
    return numbers
  }

  private mutating func write(_ choice: MessageContent.Choice, isLast: Bool) {
    let slots = content.records[Int(choice.position)].slots
    let isSame = hasSameFields(choice)
    var forms = FormChoice()
    let written = sorted.prefix(layout.count)
    for field in written {
      let slot = slots[Int(field.slot)]
      forms.note(slot.isOneWrite ? place(of: slot.save) : nil)
    }
    var (form, first) = forms.form
    if form == .full, areBare(choice, slots) { form = .bare }
    let moved =
      form == .full || form == .bare ? 0 : Int64(first - writer.last - 1).zigzag
    let omitsFields = isSame && form != .bare
    writer.out.varint(
      moved << 4 | form.rawValue << 2 | (omitsFields ? 2 : 0)
        | (isLast ? 1 : 0))
    if !omitsFields { writer.out.layout(layout, hasExistence: hasExistence) }
    if form == .full || form == .bare {
      for field in form == .full ? written : written.prefix(1) {
        let slot = Int(field.slot)
        if let fragment = content.fragment(choice, slots[slot].name) {
          fragment.write(to: &writer)
        } else {
          slots[slot].state.write(to: &writer)
        }
      }
    } else {
      for field in written { writer.out.value(slots[Int(field.slot)].value) }
      writer.last = form == .same ? first : first + layout.count - 1
    }
    guard hasExistence, let existence = sorted.last else { return }
    let marks = slots[Int(existence.slot)].state
    // Only a deletion refers to it.
    if marks.marks.contains(where: \.isDeletion) {
      writer.recordClock = clock(of: written, choice).merging(marks.clock)
    }
    marks.write(to: &writer)
  }

  /// The join of the clocks of a record's whole fields.
  private func clock(
    of fields: ArraySlice<Field>, _ choice: MessageContent.Choice
  ) -> VectorClock {
    let slots = content.records[Int(choice.position)].slots
    return VectorClock(
      joining: fields.lazy.map { slots[Int($0.slot)] }
        .filter { content.fragment(choice, $0.name) == nil }
        .map(\.clock))
  }

  /// Whether a record has several fields, all of them bare, with one clock.
  private func areBare(
    _ choice: MessageContent.Choice, _ slots: [FieldSlot]
  ) -> Bool {
    let fields = sorted.prefix(layout.count)
    guard layout.count > 1, let first = fields.first else { return false }
    let clock = slots[Int(first.slot)].emptiedClock
    return clock != nil
      && fields.allSatisfy {
        slots[Int($0.slot)].emptiedClock == clock
          && content.fragment(choice, slots[Int($0.slot)].name) == nil
      }
  }

  /// Finds the fields of a record, and whether the one before had the same.
  private mutating func hasSameFields(_ choice: MessageContent.Choice) -> Bool {
    var (count, isSame) = (0, true)
    content.forEachField(of: choice) { field in
      let field = Field(
        place: places[Int(field.column)], slot: Int32(field.slot))
      isSame = isSame && count < fields.count && fields[count] == field
      if count < fields.count {
        fields[count] = field
      } else {
        fields.append(field)
      }
      count += 1
    }
    // The same fields in the same slots, as most records have.
    if isSame, count == fields.count { return true }
    fields.removeSubrange(count...)
    sorted.removeAll(keepingCapacity: true)
    sorted.append(contentsOf: fields)
    sorted.sort { $0.place < $1.place }
    let exists = sorted.last?.place == .max
    let table = sorted.dropLast(exists ? 1 : 0).lazy.map { $0.place }
    if exists == hasExistence, layout.elementsEqual(table) { return true }
    layout.removeAll(keepingCapacity: true)
    layout.append(contentsOf: table)
    hasExistence = exists
    return false
  }

  /// The index of a save; `nil` if its timestamp in the message is another.
  private mutating func place(
    of save: (dot: Dot, time: Timestamp)
  ) -> Int? {
    let found = writer.saves.find(save.dot)
    return save.time.rawValue == found.time ? found.place : nil
  }
}
