// SPDX-License-Identifier: Apache-2.0

/// The fields that a message is made of, sorted by record.
struct MessageContent {
  /// A record, and the range of its fields in `fields`.
  struct Choice {
    let position: UInt32
    let start: UInt32
    let end: UInt32
  }

  /// Those of which there is a choice.
  let records: [RecordState]
  let names: FieldNames
  /// Sorted by entity, and then by key.
  private(set) var entities: [(name: Name, choices: [Choice])] = []
  /// The chosen fields; `nil` if all of a record are chosen.
  private var fields: [Field]?

  /// A field by its number and its index among the record's slots.
  struct Field {
    let name: UInt32
    let slot: Int
  }

  /// Chooses records with all their fields; those without any are left out.
  init(_ records: [RecordState], _ names: FieldNames) {
    (self.records, self.names) = (records, names)
    choose { choose in
      for (i, record) in records.enumerated() where !record.slots.isEmpty {
        choose(UInt32(i), 0..<0)
      }
    }
  }

  /// Chooses fields that exist, each once even if it is named more often.
  init(
    _ records: [RecordState], _ names: FieldNames,
    at locations: some Collection<FieldLocation>
  ) {
    (self.records, self.names) = (records, names)
    var sorted: [FieldLocation] = []
    sorted.reserveCapacity(locations.count)
    for location in locations.sorted(by: { $0.rank < $1.rank })
    where location != sorted.last {
      sorted.append(location)
    }
    fields = sorted.map {
      Field(
        name: $0.name, slot: records[Int($0.record)].position(of: $0.name) ?? 0)
    }
    choose { choose in
      var start = 0
      for end in sorted.indices
      where end + 1 == sorted.count
        || sorted[end + 1].record != sorted[end].record
      {
        choose(sorted[end].record, start..<(end + 1))
        start = end + 1
      }
    }
  }

  /// Makes the content of values.
  init(_ changes: [RecordChange]) {
    var names = FieldNames()
    let records = changes.map { change in
      var record = RecordState(change.id)
      for (key, state) in change.fields {
        record.add(FieldSlot(names.intern(key), state))
      }
      return record
    }
    self.init(records, names)
  }

  private mutating func choose(
    _ body: (_ choose: (UInt32, Range<Int>) -> Void) -> Void
  ) {
    var choices: [Choice] = []
    body { position, range in
      choices.append(
        Choice(
          position: position, start: UInt32(range.lowerBound),
          end: UInt32(range.upperBound)))
    }
    let order = RecordOrder.places(choices.count) {
      records[Int(choices[$0].position)].id
    }
    for place in order {
      let name = records[Int(choices[place].position)].id.entity
      if entities.isEmpty
        || !UTF8Order.equal(entities[entities.count - 1].name.text, name)
      {
        entities.append((Name(name), []))
      }
      entities[entities.count - 1].choices.append(choices[place])
    }
  }

  /// Calls `body` with each chosen field, sorted by number.
  func forEachField(of choice: Choice, _ body: (Field) -> Void) {
    if let fields {
      for i in Int(choice.start)..<Int(choice.end) { body(fields[i]) }
      return
    }
    let slots = records[Int(choice.position)].slots
    for i in slots.indices { body(Field(name: slots[i].name, slot: i)) }
  }
}
