// SPDX-License-Identifier: Apache-2.0

extension Replica {
  /// Declares two IDs to be aliases of one record.
  ///
  /// This is for records that were created under different IDs and turn out to
  /// be the same, for example by a unique key. Reading either ID then combines
  /// the records: registers show the latest of all writes, counters and ledgers
  /// add up, and sets unite. The smallest ID represents them. The records stay
  /// separate: a write, a removal or a reset changes only the record whose ID
  /// it names. An alias cannot be revoked.
  ///
  /// - Throws: ``SaveError``; the replica is then unchanged.
  @discardableResult
  public func alias(
    _ a: RecordID, _ b: RecordID
  ) throws(SaveError) -> SaveReport {
    // In order, so that two devices that declare the same alias write one
    // record.
    let (first, second) = (min(a, b), max(a, b))
    return try save { transaction in
      transaction.apply(
        .members(
          SetEdit(inserting: [.reference(first), .reference(second)])),
        to: BuiltIn.names,
        of: RecordID(
          // The length keeps two pairs of IDs from running together into one
          // key.
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
  /// Unites the IDs that a record declares to be aliases, if it is an alias
  /// record.
  mutating func noteAliases(at position: Int) {
    // The prefix first: it decides for nearly every record that is joined.
    guard BuiltIn.isBuiltIn(records[position].id.entity) else { return }
    aliases.unite(aliasesDeclared(at: position))
  }

  /// The IDs that a record declares to be aliases; none if it is no alias record.
  func aliasesDeclared(at position: Int) -> [RecordID] {
    guard UTF8Order.equal(records[position].id.entity, BuiltIn.alias),
      let number = names.number(of: BuiltIn.names),
      case .set(let field) = records[position][number]
    else { return [] }
    return field.store.elements.compactMap { RecordID($0) }
  }
}
