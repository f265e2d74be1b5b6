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
  /// The numbers of the chosen fields; `nil` if all of a record are chosen.
  private var fields: [UInt32]?

  /// Chooses records with all their fields; those without any are left out.
  init(_ records: [RecordState], _ names: FieldNames) {
    (self.records, self.names) = (records, names)
    choose { choose in
      for (i, record) in records.enumerated() where !record.slots.isEmpty {
        choose(UInt32(i), 0..<0)
      }
    }
  }

  /// Chooses fields, each once even if it is named more often.
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
    fields = sorted.map(\.name)
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

  /// Calls `body` with the index of each chosen field among the record's slots.
  func forEachSlot(of choice: Choice, _ body: (Int) -> Void) {
    let record = records[Int(choice.position)]
    guard let fields else { return record.slots.indices.forEach(body) }
    for number in fields[Int(choice.start)..<Int(choice.end)] {
      if let slot = record.position(of: number) { body(slot) }
    }
  }
}
