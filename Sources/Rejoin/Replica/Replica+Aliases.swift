//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

extension Replica {
  /// Says that two names are of one record, for records that were created under
  /// different names and turn out to have one unique key.
  ///
  /// Reading either name then folds the records into one: registers show the
  /// latest of all writes, counters and ledgers add up, sets unite. The smallest
  /// name represents them. The records themselves stay as they are: a write, a
  /// removal or a reset goes to the name that it is made under, and leaves what the
  /// other name holds.
  ///
  /// - Throws: ``SaveError``; nothing has changed then.
  @discardableResult
  public func alias(
    _ a: RecordID, _ b: RecordID
  ) throws(SaveError) -> SaveReport {
    let (first, second) = (min(a, b), max(a, b))
    return try save { edit in
      edit.apply(
        .members(
          SetEdit(inserting: [.reference(first), .reference(second)])),
        to: BuiltIn.names,
        of: RecordID(
          BuiltIn.alias, "\(first.key.utf8.count):\(first)=\(second)"))
    }
  }

  /// The smallest of all names of a record.
  ///
  /// - Complexity: O(*a*) for the *a* aliases in the replica.
  public func representative(of id: RecordID) -> RecordID {
    aliases(of: id)[0]
  }

  /// All names of a record, sorted.
  package func aliases(of id: RecordID) -> [RecordID] {
    let pairs = aliasPairs
    if pairs.isEmpty { return [id] }
    var names: Set<RecordID> = [id]
    var grew = true
    while grew {
      grew = false
      for pair in pairs where !pair.isDisjoint(with: names) {
        if !pair.isSubset(of: names) {
          names.formUnion(pair)
          grew = true
        }
      }
    }
    return names.sorted()
  }

  private var aliasPairs: [Set<RecordID>] {
    guard let positions = stored.byEntity[Name(BuiltIn.alias)],
      let number = stored.names.number(of: BuiltIn.names)
    else { return [] }
    return positions.compactMap { position in
      guard case .set(let field) = stored.records[position][number] else {
        return nil
      }
      return Set(field.store.elements.compactMap { RecordID($0) })
    }
  }
}
