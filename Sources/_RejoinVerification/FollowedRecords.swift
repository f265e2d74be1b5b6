// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL
import RejoinStore

/// A table and a list that follow a replica, as those of a store do.
public final class FollowedRecords<Owner: Entity> {
  private let replica: Replica
  private let tables: MirroredTables
  private let connection: SQLiteConnection
  private var list: ListContent<Owner>

  /// Creates a table in memory and a list without records.
  ///
  /// - Parameters:
  ///   - replica: A replica without records.
  ///   - isIncluded: A closure that returns whether the list has a record.
  ///   - field: The field that sorts the list.
  public init(
    _ replica: Replica, _ table: RecordTable,
    where isIncluded: @escaping @Sendable (TypedRecord<Owner>) -> Bool,
    sortedBy field: KeyPath<Owner, Field<Owner, MVRegister<Value>>>
  ) throws {
    self.replica = replica
    tables = try MirroredTables([table], schema: replica.schema)
    connection = try SQLiteConnection(opening: ":memory:")
    // A store writes its tables in a transaction.
    try connection.run("BEGIN")
    list = ListContent(isIncluded, ListOrder(by: field, .forward))
    try write(RecordChanges([:], replica.schema), rebuilding: [table.name])
    replica.keepFormerRecords()
  }

  /// Writes the changes since the last call into the table and the list.
  public func follow() throws {
    var referrers: ReferrerIndex?
    let (changed, _) = replica.takeDifferences(&referrers)
    replica.keepFormerRecords()
    let changes = RecordChanges(changed, replica.schema)
    try write(changes, rebuilding: [])
    list.apply(changes)
  }

  private func write(
    _ changes: RecordChanges, rebuilding stale: Set<String>
  ) throws {
    try tables.writeTables(
      changes, of: replica, in: 1, rebuilding: stale, settingAside: [],
      on: connection)
  }

  /// The elements of the list.
  public var elements: [TypedRecord<Owner>] { list.elements }

  /// Returns the rows of the table, sorted by key.
  ///
  /// - Parameter columnCount: The number of columns, with the key.
  public func rows(columnCount: Int) throws -> [[SQLValue]] {
    try connection.rows(
      "SELECT * FROM \(tables.tables[0].name) ORDER BY id", columnCount)
  }
}

extension SQLConnection {
  /// Returns the first columns of the rows of a query.
  func rows(_ sql: String, _ columnCount: Int) throws -> [[SQLValue]] {
    var rows: [[SQLValue]] = []
    try run(sql, []) { row in
      rows.append((0..<columnCount).map { row.value($0) })
    }
    return rows
  }
}
