// SPDX-License-Identifier: Apache-2.0

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

  /// Lists the IDs of the existing records of a declared entity, sorted.
  ///
  ///     let page = replica.recordIDs(of: Profile.self, limit: 50)
  ///
  /// See ``recordIDs(of:after:limit:)-(String,_,_)``.
  ///
  /// - Precondition: The schema declares the entity.
  public func recordIDs<E: Entity>(
    of entity: E.Type, after key: String? = nil, limit: Int? = nil
  ) -> [RecordID] {
    recordIDs(
      of: schema.fields(of: entity).entityName, after: key, limit: limit)
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
  /// - Precondition: The schema declares the entity.
  /// - Complexity: The cost of ``recordIDs(of:after:limit:)-(String,_,_)``, and
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

  /// Returns the number of existing records of a declared entity.
  ///
  /// - Precondition: The schema declares the entity.
  /// - Complexity: O(1).
  public func recordCount<E: Entity>(of entity: E.Type) -> Int {
    recordCount(of: schema.fields(of: entity).entityName)
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
    let quiet = schema[entity].quietFields
    let fields = Dictionary(grouping: current.conflicted, by: \.record)
    return fields.flatMap { position, fields -> [FieldLocation] in
      let state = current.records[Int(position)]
      guard UTF8Order.equal(state.id.entity, entity) else { return [] }
      let record = record(state)
      guard record.exists else { return [] }
      return fields.map { current.names[$0.name] }
        .filter { $0.variant == nil }
        .filter { !quiet.contains($0) }
        .filter { !record.conflictingValues(of: $0).isEmpty }
        .map { .init(record: record.id, field: $0) }
    }.sorted { ($0.record, $0.field) < ($1.record, $1.field) }
  }

  /// Returns the registers of an entity's existing records that have conflicts,
  /// sorted.
  ///
  ///     replica.conflictedFields(of: Profile.self).map(\.record.key)  // ["ada"]
  ///
  /// The list omits fields that the schema declares as `lww`.
  ///
  /// - Complexity: O(*k* log *k*), where *k* is the number of registers of the
  ///   replica with more than one write.
  public func conflictedFields<E: Entity>(of entity: E.Type) -> [FieldLocation]
  {
    conflictedFields(of: schema.fields(of: entity).entityName)
  }

  /// The IDs of all existing records, except the library's own, sorted.
  public var allRecordIDs: [RecordID] {
    current.positions.names.filter { !BuiltIn.isBuiltIn($0.text) }
      .flatMap { recordIDs(of: $0.text) }.sorted()
  }
}
