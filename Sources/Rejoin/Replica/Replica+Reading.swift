// SPDX-License-Identifier: Apache-2.0

extension Replica {
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
    // Consume the state: a copy would cost a tenth of reading a field.
    Record(state, current.names, schema) { existed[$0] ?? exists($0) }
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
}

// Listing records.
extension Replica {
  /// Lists the IDs of the existing records of an entity, sorted.
  ///
  ///     let page = replica.recordIDs(of: "Profile", limit: 50)
  ///     let next = replica.recordIDs(
  ///       of: "Profile", after: page.last?.key, limit: 50)
  ///
  /// - Parameters:
  ///   - entity: The name of the entity.
  ///   - key: The key after which the list starts, or `nil` for the first
  ///     record.
  ///   - limit: The maximum number of IDs to return, or `nil` for no limit.
  /// - Precondition: `limit` is not negative.
  /// - Complexity: O(*k* + log *n*), where *k* is the number of IDs that are
  ///   listed or belong to deleted records between them, and *n* is the number
  ///   of all records. Each record that was added out of order since the last
  ///   listing costs another O(log *n*).
  public func recordIDs(
    of entity: String, after key: String? = nil, limit: Int? = nil
  ) -> [RecordID] {
    var result: [RecordID] = []
    let limit = limit ?? .max
    // The count is known, unless the list starts or stops within it.
    let count = recordCount(of: entity)
    if key == nil || limit < count {
      result.reserveCapacity(min(count, max(limit, 0)))
    }
    forEachRecord(of: entity, after: key, limit: limit) { result.append($0.id) }
    return result
  }

  /// Lists the existing records of a declared entity, sorted by key.
  ///
  ///     let page = replica.records(of: Profile.self, limit: 50)
  ///     page.map(\.name)  // ["Ada", "Grace", …]
  ///     let next = replica.records(
  ///       of: Profile.self, after: page.last?.id, limit: 50)
  ///
  /// - Parameters:
  ///   - entity: The entity.
  ///   - key: The key after which the list starts, or `nil` for the first
  ///     record.
  ///   - limit: The maximum number of records to return, or `nil` for no limit.
  /// - Precondition: The schema declares the entity, and `limit` is not
  ///   negative.
  /// - Complexity: The cost of ``recordIDs(of:after:limit:)``, and
  ///   of reading the listed records.
  public func records<E: Entity>(
    of entity: E.Type, after key: String? = nil, limit: Int? = nil
  ) -> [TypedRecord<E>] {
    let fields = schema.fields(of: entity)
    var result: [TypedRecord<E>] = []
    forEachRecord(
      of: fields.entityName, after: key, limit: limit ?? .max
    ) { state in
      if let record = record(state).typed(fields) { result.append(record) }
    }
    return result
  }

  /// Calls `body` with the existing records of an entity, sorted by key.
  private func forEachRecord(
    of entity: String, after key: String?, limit: Int,
    _ body: (RecordState) -> Void
  ) {
    demand(
      limit >= 0, "`limit` must not be negative. Pass `nil` for no limit.")
    let (rule, records) = (schema.deletion(of: entity), current.records)
    current.sortRecords(of: entity)
    guard let all = current.positions[entity] else { return }
    var count = 0
    all.forEach(after: key, records) { position in
      if count >= limit { return false }
      // Binding the record would copy it.
      if records[position].exists(rule) {
        count += 1
        body(records[position])
      }
      return true
    }
  }

  /// Returns the number of existing records of an entity.
  ///
  /// - Complexity: O(1).
  public func recordCount(of entity: String) -> Int {
    current.positions[entity]?.count(schema.deletion(of: entity)) ?? 0
  }

  /// Returns the registers of an entity's existing records that have conflicts,
  /// sorted.
  ///
  ///     for location in replica.conflictedFields(of: "Profile") {
  ///       replica.record(location.record)?
  ///         .conflictingValues(of: location.field)
  ///     }
  ///
  /// The list omits fields that the schema declares as `lww`.
  ///
  /// - Complexity: O(*k* log *k*), where *k* is the number of registers of the
  ///   replica with more than one write.
  public func conflictedFields(of entity: String) -> [FieldLocation] {
    Set(current.conflicted.map(\.record)).map { current.records[Int($0)] }
      .filter { UTF8Order.equal($0.id.entity, entity) }
      .flatMap { record($0).conflictedFields(schema) }
      .sorted { ($0.record, $0.field) < ($1.record, $1.field) }
  }

  /// The IDs of all existing records, except the library's own, sorted.
  public var allRecordIDs: [RecordID] {
    current.positions.names.filter { !BuiltIn.isBuiltIn($0.text) }
      .flatMap { recordIDs(of: $0.text) }.sorted()
  }
}
