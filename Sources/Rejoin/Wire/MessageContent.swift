// SPDX-License-Identifier: Apache-2.0

/// The fields that a message is made of, sorted by record.
struct MessageContent {
  /// A record, and the range of its fields in `fields`.
  struct Choice {
    let position: UInt32
    let start: UInt32
    fileprivate(set) var end: UInt32
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
    var choices: [Choice] = []
    choices.reserveCapacity(records.count)
    for (i, record) in records.enumerated() where !record.slots.isEmpty {
      choices.append(Choice(position: UInt32(i), start: 0, end: 0))
    }
    group(choices)
  }

  /// Chooses fields that exist, each once even if it is named more often.
  init(
    _ records: [RecordState], _ names: FieldNames,
    at locations: consuming [FieldLocation]
  ) {
    (self.records, self.names) = (records, names)
    locations.sort { $0.rank < $1.rank }
    var (fields, choices) = ([Field](), [Choice]())
    fields.reserveCapacity(locations.count)
    for (i, location) in locations.enumerated() {
      if i > 0, locations[i - 1] == location { continue }
      let record = Int(location.record)
      fields.append(
        Field(
          name: location.name,
          slot: records[record].position(of: location.name) ?? 0))
      let end = UInt32(fields.count)
      if choices.last?.position == location.record {
        choices[choices.count - 1].end = end
      } else {
        choices.append(
          Choice(position: location.record, start: end - 1, end: end))
      }
    }
    self.fields = fields
    group(choices)
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

  /// Sorts the choices by ID and groups them by entity.
  private mutating func group(_ choices: [Choice]) {
    let order = RecordOrder.places(choices.count) {
      records[Int(choices[$0].position)].id
    }
    for i in choices.indices {
      let place = order?[i] ?? i
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
