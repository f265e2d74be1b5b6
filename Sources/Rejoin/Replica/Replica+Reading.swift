// SPDX-License-Identifier: Apache-2.0

extension Replica {
  /// Reads a record of a declared entity.
  ///
  /// - Returns: The record, or `nil` if it does not exist.
  /// - Complexity: O(*n*), where *n* is the number of writes and elements in
  ///   the record. They are searched for references to records that do not
  ///   exist.
  public subscript<E: Entity>(
    entity: E.Type, key: String
  ) -> TypedRecord<E>? {
    let fields = schema.fields(of: entity)
    return record(RecordID(fields.entityName, key))?.typed(fields)
  }

  /// Reads a record, even if it was deleted.
  ///
  /// - Returns: The record, or `nil` if no known save touched it.
  public func record(_ id: RecordID) -> Record? {
    current.positions[id].map { record(current.records[$0]) }
  }

  /// Reads a record that may be in a former state.
  ///
  /// - Parameter existed: Whether some records existed with that state. All
  ///   others existed if they exist now.
  func record(
    _ state: consuming RecordState, _ existed: [RecordID: Bool] = [:]
  ) -> Record {
    let rule = schema.deletion(of: state.id.entity)
    let dangling = dangling(in: state, existed)
    // Consume the state: a copy would cost a tenth of reading a field.
    return Record(
      state: state, names: current.names, rule: rule, dangling: dangling)
  }

  /// Reads a record to edit it separately from the replica.
  ///
  /// The record is empty if no save touched it, and shows references to records
  /// that do not exist.
  ///
  /// - Complexity: O(1).
  package func recordForEditing(_ id: RecordID) -> Record {
    Record(
      state: current.positions[id].map { current.records[$0] }
        ?? RecordState(id),
      names: current.names, rule: schema.deletion(of: id.entity), dangling: [])
  }

  /// Returns whether a record exists.
  public func exists(_ id: RecordID) -> Bool {
    current.positions[id].map {
      current.records[$0].exists(schema.deletion(of: id.entity))
    } ?? false
  }

  /// Returns the references in a record to records that do not exist.
  ///
  /// The result includes all references that a field may show, because reading
  /// also filters conflicts and elements.
  private func dangling(
    in state: RecordState, _ existed: [RecordID: Bool]
  ) -> Set<RecordID> {
    var dangling: Set<RecordID> = []
    guard state.mayContainReferences else { return dangling }
    for slot in state.slots {
      slot.state.forEachReference { id in
        if !(existed[id] ?? exists(id)) { dangling.insert(id) }
      }
    }
    return dangling
  }
}
