// SPDX-License-Identifier: Apache-2.0

extension Replica {
  /// The IDs of the existing records of an entity, sorted.
  ///
  /// A record with several IDs appears once, by the smallest.
  ///
  ///     let page = replica.recordIDs(of: "Profile", limit: 50)
  ///     let next = replica.recordIDs(
  ///       of: "Profile", after: page.last?.key, limit: 50)
  ///
  /// - Parameters:
  ///   - entity: The name of the entity.
  ///   - key: The list begins with the first record after this key.
  ///   - limit: The most records to list; `nil` for all.
  /// - Complexity: O(*k*) for *k* IDs that are listed or belong to deleted
  ///   records between them, O(log *n*) for *n* records, and O(*a*) for *a*
  ///   aliases. Once after records were added out of order, O(*n* log *n*).
  public func recordIDs(
    of entity: String, after key: String? = nil, limit: Int? = nil
  ) -> [RecordID] {
    var aliased = representatives(of: entity)[...]
    if let key { aliased = aliased.drop { $0 <= RecordID(entity, key) } }
    let limit = limit ?? .max
    let (rule, records) = (schema.deletion(of: entity), stored.records)
    stored.sortRecords(of: entity)
    var result: [RecordID] = []
    if let all = stored.positions[entity] {
      let start = key.map { all.place(after: $0, records) } ?? 0
      let aliases = stored.aliases
      result.reserveCapacity(min(all.order.count - start, limit))
      for position in all.order[start...] {
        if result.count >= limit { break }
        let place = Int(position)
        guard records[place].exists(rule), !aliases.contain(records[place].id)
        else { continue }
        while let first = aliased.first, first < records[place].id {
          result.append(aliased.removeFirst())
        }
        result.append(records[place].id)
      }
    }
    if !aliased.isEmpty { result += aliased }
    return result.count > limit ? Array(result.prefix(limit)) : result
  }

  /// The number of existing records of an entity.
  ///
  /// - Complexity: O(1), and O(*a*) for *a* aliases.
  public func recordCount(of entity: String) -> Int {
    let aliased = representatives(of: entity)
    let members = aliased.flatMap { stored.aliases[$0] }.count {
      UTF8Order.equal($0.entity, entity) && existsIgnoringAliases($0)
    }
    let all = stored.positions[entity]?.count(schema.deletion(of: entity)) ?? 0
    return all - members + aliased.count
  }

  /// The registers of an entity's existing records that have conflicts, sorted.
  ///
  ///     for place in replica.conflicts(of: "Profile") {
  ///       replica.record(place.record)?.conflicts(of: place.field.name)
  ///     }
  ///
  /// - Complexity: O(*k* log *k*) for *k* registers of the replica with more
  ///   than one write, and O(*a*) for *a* aliases.
  public func conflicts(of entity: String) -> [MergeReport.Location] {
    let ids = stored.shared.lazy
      .map { [records = stored.records] in records[Int($0.record)].id }
      .filter { UTF8Order.equal($0.entity, entity) }
      .map { self.representative(of: $0) }
    return Set(ids).union(representatives(of: entity)).sorted()
      .compactMap { record($0) }.filter(\.exists).flatMap { record in
        record.registers.filter { !record.conflicts(of: $0.name).isEmpty }
          .map { .init(record: record.id, field: $0) }
      }
  }

  /// The IDs of all existing records, except the library's own, sorted.
  public var allRecordIDs: [RecordID] {
    stored.positions.names.filter { !BuiltIn.isBuiltIn($0.text) }
      .flatMap { recordIDs(of: $0.text) }.sorted()
  }

  /// The smallest IDs of records with aliases, sorted, where one that is of the
  /// entity exists.
  private func representatives(of entity: String) -> [RecordID] {
    stored.aliases.representatives { id in
      UTF8Order.equal(id.entity, entity) && existsIgnoringAliases(id)
    }
  }
}

extension Record {
  /// The registers that any save has touched, sorted.
  fileprivate var registers: [FieldKey] {
    let parts =
      switch parts {
      case .one(let part): [part]
      case .many(let all): all
      }
    let numbers = Set(parts.lazy.flatMap(\.slots).map(\.name))
    return numbers.map { names[$0] }
      .filter {
        $0.kind == .register && $0.variant == nil && $0 != .existence
      }.sorted()
  }
}
