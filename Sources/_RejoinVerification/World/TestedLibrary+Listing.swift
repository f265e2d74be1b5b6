// SPDX-License-Identifier: Apache-2.0
import Rejoin

extension TestedLibrary {
  /// Compares the lists of records with the state of each record.
  public func checkListing(
    _ records: [RecordID], pages: Bool, named name: String
  ) throws(ScriptMismatch) {
    let view = ReplicaView(replica)
    for entity in Set(records.map(\.entity)).sorted() {
      let list = view.recordIDs(of: entity)
      try agree("\(entity) listed on \(name)", list, Set(list).sorted())
      for id in records where id.entity == entity {
        try agree(
          "\(id) listed on \(name)",
          list.contains(id), view.exists(id))
      }
      try agree(
        "count of \(entity) on \(name)", view.recordCount(of: entity),
        list.count)
      guard pages else { continue }
      try checkRecords(list, named: name)
      for start in [nil] + list.map(\.key) {
        let rest = list.drop { id in
          start.map { id <= RecordID(entity, $0) } ?? false
        }
        try agree(
          "\(entity) after \(start ?? "nothing") on \(name)",
          view.recordIDs(of: entity, after: start, limit: 2),
          Array(rest.prefix(2)))
      }
      try agree(
        "conflicts of \(entity) on \(name)",
        Set(view.conflictedFields(of: entity)), conflictedFields(in: list))
    }
  }

  private func conflictedFields(in list: [RecordID]) -> Set<FieldLocation> {
    var found: Set<FieldLocation> = []
    for id in list {
      guard let record = replica.record(id) else { continue }
      let entity = replica.schema[id.entity]
      for key in entity.fields.subtracting(entity.quietFields)
      where key.kind == .register
        && !record.conflictingValues(of: key).isEmpty
      {
        found.insert(.init(record: id, field: key))
      }
    }
    return found
  }
}
