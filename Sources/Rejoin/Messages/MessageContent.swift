// SPDX-License-Identifier: Apache-2.0

/// The fields of a message, sorted by record.
struct MessageContent {
  /// A record and the range of its chosen fields in `slots`, if only some are
  /// chosen.
  struct Choice {
    let position: UInt32
    let start: UInt32
    fileprivate(set) var end: UInt32
  }

  /// The records to choose from.
  let records: [RecordState]
  let names: FieldNames
  /// Sorted by entity and then by key.
  private(set) var choices: [Choice] = []
  /// The entities and their ranges in `choices`.
  private(set) var entities: [(name: SchemaName, choices: Range<Int>)] = []
  /// The indices of the chosen fields in their records' slots, or `nil` if the
  /// message contains all fields of the records.
  private var slots: [UInt32]?
  /// The fields that the message contains only as fragments.
  private var fragments: [FieldPosition: Fragment] = [:]

  /// Creates content with all fields of the records.
  ///
  /// Records without fields are omitted.
  init(_ records: [RecordState], _ names: FieldNames) {
    (self.records, self.names) = (records, names)
    choices.reserveCapacity(records.count)
    for (i, record) in records.enumerated() where !record.slots.isEmpty {
      choices.append(Choice(position: UInt32(i), start: 0, end: 0))
    }
    group()
  }

  /// Creates content with existing fields, without duplicates.
  ///
  /// - Parameter fragments: The fields that the message contains only as
  ///   fragments.
  init(
    _ records: [RecordState], _ names: FieldNames,
    at locations: consuming [FieldPosition],
    fragments: [FieldPosition: Fragment] = [:]
  ) {
    (self.records, self.names) = (records, names)
    self.fragments = fragments
    locations.sort { $0.rank < $1.rank }
    var slots: [UInt32] = []
    slots.reserveCapacity(locations.count)
    let more = locations.indices.dropFirst().count {
      locations[$0 - 1].record != locations[$0].record
    }
    choices.reserveCapacity(more + 1)
    for (i, location) in locations.enumerated() {
      if i > 0, locations[i - 1] == location { continue }
      let slot = records[Int(location.record)].position(of: location.name) ?? 0
      slots.append(UInt32(slot))
      let end = UInt32(slots.count)
      if choices.last?.position == location.record {
        choices[choices.count - 1].end = end
      } else {
        choices.append(
          Choice(position: location.record, start: end - 1, end: end))
      }
    }
    self.slots = slots
    locations = []
    group()
  }

  /// Creates content from changes.
  init(_ changes: [RecordChange]) {
    var names = FieldNames()
    var fragments: [FieldPosition: Fragment] = [:]
    let records = changes.enumerated().map { i, change in
      var record = RecordState(change.id)
      for (key, state) in change.fields {
        record.add(FieldSlot(names.intern(key), state))
      }
      for (key, fragment) in change.fragments {
        let name = names.intern(key)
        record.add(FieldSlot(name, fragment.state))
        fragments[FieldPosition(record: UInt32(i), name: name)] = fragment
      }
      return record
    }
    self.init(records, names)
    self.fragments = fragments
  }

  /// Sorts the choices by ID and groups them by entity.
  private mutating func group() {
    let order = RecordOrder.indices(choices.count) {
      records[Int(choices[$0].position)].id
    }
    if let order { choices = order.map { choices[Int($0)] } }
    for (i, choice) in choices.enumerated() {
      let name = records[Int(choice.position)].id.entity
      if let last = entities.last, UTF8Order.equal(last.name.text, name) {
        entities[entities.count - 1].choices = last.choices.lowerBound..<i + 1
      } else {
        entities.append((SchemaName(name), i..<i + 1))
      }
    }
  }

  /// Returns the fragment of a field, or `nil` if the whole field is chosen.
  @inline(__always)
  func fragment(_ choice: Choice, _ name: UInt32) -> Fragment? {
    fragments.isEmpty
      ? nil : fragments[FieldPosition(record: choice.position, name: name)]
  }

  /// Returns the positions of the chosen fields, in the order of the message.
  ///
  /// - Parameter first: The position of the first record.
  func locations(from first: UInt32 = 0) -> some Sequence<FieldPosition> {
    choices.lazy.flatMap { choice in
      let slots = records[Int(choice.position)].slots
      var numbers: [UInt32] = []
      forEachField(of: choice) { numbers.append(slots[$0].name) }
      return numbers.sorted { names[$0] < names[$1] }
        .map { FieldPosition(record: first + choice.position, name: $0) }
    }
  }

  /// Calls `body` with the index of each chosen field in the record's slots.
  @inline(__always)
  func forEachField(of choice: Choice, _ body: (Int) -> Void) {
    if let slots {
      for slot in slots[Int(choice.start)..<Int(choice.end)] { body(Int(slot)) }
    } else {
      for slot in records[Int(choice.position)].slots.indices { body(slot) }
    }
  }
}

/// The fields of one record in a delta.
public struct RecordChange: Hashable, Sendable {
  /// The record.
  public let id: RecordID
  /// The fields that the change contains in full.
  public internal(set) var fields: [FieldKey: FieldState]
  /// The new parts of large fields, which are not in ``fields``.
  package internal(set) var fragments: [FieldKey: Fragment] = [:]

  /// The large fields that the change contains only in part.
  public var partialFields: Set<FieldKey> { Set(fragments.keys) }

  package init(
    id: RecordID, fields: [FieldKey: FieldState] = [:],
    fragments: [FieldKey: Fragment] = [:]
  ) {
    (self.id, self.fields, self.fragments) = (id, fields, fragments)
  }
}
