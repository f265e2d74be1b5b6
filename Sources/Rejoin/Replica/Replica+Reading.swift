// SPDX-License-Identifier: Apache-2.0

extension Replica {
  /// Reads a record of a declared entity.
  ///
  /// - Returns: `nil` if the record does not exist.
  /// - Complexity: O(*n*) for *n* writes and elements in the record, which are
  ///   searched for references to records that do not exist.
  public subscript<E: Entity>(
    entity: E.Type, key: String
  ) -> TypedRecord<E>? {
    let fields = schema.fields(of: entity)
    return record(RecordID(fields.entityName, key))?.typed(fields)
  }

  /// Reads a record, even if it has been deleted.
  ///
  /// - Returns: `nil` if no save known here has touched the record.
  public func record(_ id: RecordID) -> Record? { record(id, before: nil) }

  /// Reads a record, of which some states may be former ones.
  ///
  /// - Parameter changes: The former states, by the positions of their records.
  func record(
    _ id: RecordID, before changes: [UInt32: RecordState?]?
  ) -> Record? {
    let rule = schema.deletion(of: id.entity)
    func state(at position: Int) -> RecordState? {
      guard let former = changes?[UInt32(position)] else {
        return stored.records[position]
      }
      return former.flatMap { $0.slots.isEmpty ? nil : $0 }
    }
    if !stored.aliases.contain(id) {
      return stored.positions[id].flatMap(state).map { state in
        Record(
          id: id, parts: .one(state), names: stored.names, rule: rule,
          dangling: dangling(in: state))
      }
    }
    let all = stored.aliases[id].compactMap { stored.positions[$0] }
      .compactMap(state).sorted { $0.id < $1.id }
    // An alias that was deleted stays hidden while another one exists.
    let existing = all.filter { $0.exists(rule) }
    let states = existing.isEmpty ? all : existing
    guard let first = states.first else { return nil }
    return Record(
      id: representative(of: id),
      parts: states.count == 1 ? .one(first) : .many(states),
      names: stored.names, rule: rule,
      dangling: states.reduce(into: []) { $0.formUnion(dangling(in: $1)) })
  }

  /// Fetches a record to edit and write it back later, without its aliases.
  public func fetch(_ id: RecordID) -> RecordSnapshot {
    guard let position = stored.positions[id] else {
      return RecordSnapshot(
        exists: false, existence: FieldState(.register), fields: [:])
    }
    let record = stored.records[position]
    var fields: [FieldKey: FieldState] = [:]
    for slot in record.slots where slot.name != 0 {
      fields[stored.names[slot.name]] = slot.state
    }
    return RecordSnapshot(
      exists: record.exists(schema[id.entity].deletion),
      existence: record[0] ?? FieldState(.register), fields: fields)
  }

  /// Whether a record exists, under this ID or an alias.
  public func exists(_ id: RecordID) -> Bool {
    stored.aliases[id].contains { existsIgnoringAliases($0) }
  }

  /// The references in a record to records that do not exist.
  ///
  /// All references that a field may show, not only the winner: reading filters
  /// conflicts and elements, too.
  private func dangling(in state: RecordState) -> Set<RecordID> {
    var dangling: Set<RecordID> = []
    guard state.mayRefer else { return dangling }
    for slot in state.slots {
      slot.state.forEachReference { id in
        if !exists(id) { dangling.insert(id) }
      }
    }
    return dangling
  }
}
