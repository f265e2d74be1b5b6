// SPDX-License-Identifier: Apache-2.0

extension Replica {
  /// Declares two IDs to be aliases of one record, for records that were created
  /// under different IDs and turn out to have one unique key.
  ///
  /// Reading either ID then folds the records into one: registers show the latest
  /// of all writes, counters and ledgers add up, sets unite. The smallest ID
  /// represents them. The records themselves stay as they are: a write, a removal
  /// or a reset goes to the ID that it is made under, and leaves what the other
  /// ID holds.
  ///
  /// - Throws: ``SaveError``; the replica is then unchanged.
  @discardableResult
  public func alias(
    _ a: RecordID, _ b: RecordID
  ) throws(SaveError) -> SaveReport {
    let (first, second) = (min(a, b), max(a, b))
    return try save { transaction in
      transaction.apply(
        .members(
          SetEdit(inserting: [.reference(first), .reference(second)])),
        to: BuiltIn.names,
        of: RecordID(
          BuiltIn.alias, "\(first.key.utf8.count):\(first)=\(second)"))
    }
  }

  /// The smallest of all IDs of a record.
  ///
  /// - Complexity: O(1).
  public func representative(of id: RecordID) -> RecordID {
    stored.aliases.representative(of: id)
  }

  /// All IDs of a record, in no particular order.
  package func aliases(of id: RecordID) -> [RecordID] { stored.aliases[id] }
}

extension StoredReplica {
  /// Notes the aliases that a record declares, if it is one that does.
  mutating func noteAliases(at position: Int) {
    guard BuiltIn.isBuiltIn(records[position].id.entity),
      UTF8Order.equal(records[position].id.entity, BuiltIn.alias),
      let number = names.number(of: BuiltIn.names),
      case .set(let field) = records[position][number]
    else { return }
    aliases.unite(field.store.elements.compactMap { RecordID($0) })
  }
}
