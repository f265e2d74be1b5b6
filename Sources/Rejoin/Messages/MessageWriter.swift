// SPDX-License-Identifier: Apache-2.0

/// Writes the common parts of deltas and stored replicas: devices, saves,
/// intervals and records.
struct MessageWriter {
  private var writer: FieldWriter
  private let content: MessageContent
  private let start: Int
  /// The index of each field in the entity's table, by number, or −1 if the
  /// entity does not have the field.
  private var fieldIndices: [Int32]
  /// The fields of the current or the previous record, in the order of the
  /// record's slots.
  private var fields: [Field] = []
  /// The same fields, in the order of the entity's table.
  private var sorted: [Field] = []
  /// The indices of these fields in the table.
  private var layout: [Int32] = []
  private let range: RecordRange?
  private var recordCount = 0
  private var fieldCount = 0

  /// A field, as its index in the entity's table and in the record's slots.
  private struct Field: Equatable {
    let index: Int32
    let slot: Int32
  }

  /// Creates a writer and writes the message up to its sections.
  ///
  /// - Parameters:
  ///   - intervals: The intervals of the devices with unseen saves.
  ///   - range: The records that a delta covers, or `nil` for all records.
  init(
    _ content: MessageContent, _ intervals: [DeviceID: SaveInterval],
    as kind: WireKind, range: RecordRange? = nil
  ) {
    var saves = SaveIndex()
    for (device, interval) in intervals { saves.insert(interval, of: device) }
    for choice in content.choices {
      let slots = content.records[Int(choice.position)].slots
      content.forEachField(of: choice) { slot in
        if let fragment = content.fragment(choice, slots[slot].name) {
          saves.insert(fragment.state)
        } else if slots[slot].isOneWrite {
          saves.insert(slots[slot].save)
        } else {
          saves.insert(slots[slot].state)
        }
      }
    }
    writer = FieldWriter(kind, saves.table())
    (self.content, self.range) = (content, range)
    fieldIndices = Array(repeating: -1, count: content.names.count)
    writer.out.pair(writer.saves.lines.count, content.entities.count)
    writer.saves.write(to: &writer.out, as: kind)
    start = writer.out.bytes.count
    for entity in content.entities {
      write(entity.name, content.choices[entity.choices])
    }
    if let range { section(.range, WireWriter(range)) }
  }

  /// Writes a section after the others.
  mutating func section(_ id: WireSection, _ content: WireWriter) {
    if content.bytes.isEmpty { return }
    writer.out.section(id, content)
  }

  /// Returns the message with its checksum.
  consuming func sealed() -> ValidatedMessage {
    writer.out.seal()
    let head = MessageHead(
      kind: writer.kind, saves: writer.saves, range: range,
      entityCount: content.entities.count, recordCount: recordCount,
      fieldCount: fieldCount, start: start)
    return ValidatedMessage(writer.out.bytes, head)
  }

  /// Writes the records of one entity.
  private mutating func write(
    _ entity: SchemaName, _ choices: ArraySlice<MessageContent.Choice>
  ) {
    let numbers = writeTable(entity, choices)
    // Reset them one by one: other entities may have many more fields.
    defer { for number in numbers { fieldIndices[Int(number)] = -1 } }
    (fields, sorted, layout) = ([], [], [])
    var previous: String?
    for choice in choices {
      let key = content.records[Int(choice.position)].id.key
      writer.out.key(key, after: previous)
      previous = key
      write(choice, isLast: choice.position == choices.last?.position)
      recordCount += 1
      fieldCount += fields.count
      if recordCount == 64 { reserve() }
    }
  }

  /// Reserves memory for the remaining records, estimated from the first ones.
  ///
  /// Otherwise, the buffer would double, and memory would briefly contain up to
  /// three times the message. The estimate is at most 64 bytes per field, about
  /// as much as the replica uses.
  private mutating func reserve() {
    let fraction = Double(content.choices.count) / Double(recordCount)
    let count = writer.out.bytes.count
    let most = 64 * Double(fieldCount) * fraction
    let estimate = Double(count) * fraction * 17 / 16
    writer.out.reserve(Int(min(estimate, Double(count) + most)))
  }

  /// Writes the entity's name and its fields.
  ///
  /// - Returns: The numbers of the fields.
  private mutating func writeTable(
    _ entity: SchemaName, _ choices: ArraySlice<MessageContent.Choice>
  ) -> [UInt32] {
    var numbers: [UInt32] = []
    for choice in choices {
      let slots = content.records[Int(choice.position)].slots
      content.forEachField(of: choice) { slot in
        let number = slots[slot].name
        guard fieldIndices[Int(number)] < 0 else { return }
        fieldIndices[Int(number)] = 0
        numbers.append(number)
      }
    }
    let names = content.names
    numbers.sort { names[$0] < names[$1] }
    for (index, number) in numbers.enumerated() {
      fieldIndices[Int(number)] = Int32(index)
    }
    writer.out.entity(entity.text, numbers.lazy.map { names[$0] })
    return numbers
  }

  private mutating func write(_ choice: MessageContent.Choice, isLast: Bool) {
    let slots = content.records[Int(choice.position)].slots
    let isSame = hasSameFields(choice, slots)
    let save = onlySave(choice, slots)
    let distance = save.map { Int64($0 - writer.last - 1).zigzag } ?? 0
    writer.out.varint(
      distance << 3 | (save == nil ? 0 : 4) | (isSame ? 2 : 0)
        | (isLast ? 1 : 0))
    if !isSame { writer.out.layout(layout) }
    if let save {
      for field in sorted { writer.out.value(slots[Int(field.slot)].value) }
      writer.last = save
      return
    }
    var emptied: VectorClock?
    for field in sorted {
      let slot = slots[Int(field.slot)]
      if let fragment = content.fragment(choice, slot.name) {
        emptied = nil
        fragment.write(to: &writer)
        continue
      }
      let clock = slot.emptiedClock
      if clock != nil, clock == emptied {
        writer.out.byte(0)
      } else {
        slot.state.write(to: &writer)
      }
      emptied = clock
    }
  }

  /// Returns the index of the only save in the record, or `nil` if the record
  /// needs the long form.
  ///
  /// In the short form, each field is one write with the save's timestamp.
  private mutating func onlySave(
    _ choice: MessageContent.Choice, _ slots: [FieldSlot]
  ) -> Int? {
    let save = slots[Int(sorted[0].slot)].save
    for field in sorted {
      let i = Int(field.slot)
      guard slots[i].isOneWrite, slots[i].save == save,
        content.fragment(choice, slots[i].name) == nil
      else { return nil }
    }
    let index = writer.index(of: save.dot)
    return writer.saves.saves[index].time == save.time.rawValue ? index : nil
  }

  /// Finds the fields of a record, and returns whether the previous record had
  /// the same fields.
  private mutating func hasSameFields(
    _ choice: MessageContent.Choice, _ slots: [FieldSlot]
  ) -> Bool {
    var (count, isSame) = (0, true)
    content.forEachField(of: choice) { slot in
      let field = Field(
        index: fieldIndices[Int(slots[slot].name)], slot: Int32(slot))
      isSame = isSame && count < fields.count && fields[count] == field
      if count < fields.count {
        fields[count] = field
      } else {
        fields.append(field)
      }
      count += 1
    }
    // Most records have the same fields in the same slots.
    if isSame, count == fields.count { return true }
    fields.removeSubrange(count...)
    sorted.removeAll(keepingCapacity: true)
    sorted.append(contentsOf: fields)
    sorted.sort { $0.index < $1.index }
    if layout.count == sorted.count,
      zip(layout, sorted).allSatisfy({ $0 == $1.index })
    {
      return true
    }
    layout.removeAll(keepingCapacity: true)
    for field in sorted { layout.append(field.index) }
    return false
  }
}
