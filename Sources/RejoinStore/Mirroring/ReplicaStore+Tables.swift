// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSQL

/// A closure that writes tables of the app in the transaction of a change.
///
/// ``ReplicaStore/rebuildTables()`` describes when the store calls it.
public typealias TableWriter =
  @Sendable (any SQLConnection, RecordChanges) throws -> Void

extension ReplicaStore {
  /// The names of the tables that were built from the records since the store was
  /// opened.
  ///
  /// A rebuild drops the indexes and triggers of the app:
  ///
  ///     if await store.rebuiltTables.contains("items") {
  ///       try connection.run("CREATE INDEX items_by_title ON items (title)")
  ///     }
  ///
  /// A new table is in the list as well.
  public var rebuiltTables: [String] { scope.rebuiltTables }

  /// Builds all declared tables again, and passes all records to the closure that
  /// writes tables of the app.
  ///
  ///     let store = try await ReplicaStore(
  ///       at: path, schema: [Note.self],
  ///       writing: { connection, changes in
  ///         if changes.isRebuild {
  ///           try connection.run("DROP TABLE IF EXISTS search")
  ///           try connection.run(
  ///             "CREATE VIRTUAL TABLE search USING fts5(key UNINDEXED, title)")
  ///         }
  ///         for note in changes.changes(to: Note.self) {
  ///           try connection.run(
  ///             "DELETE FROM search WHERE key = $1", .text(note.key))
  ///           guard let title = note.new?.title else { continue }
  ///           try connection.run(
  ///             "INSERT INTO search VALUES ($1, $2)", .text(note.key), .text(title))
  ///         }
  ///       })
  ///
  /// The store calls the closure for every change before it commits: for saves,
  /// deltas, drafts, undo, imports and purges. The first store with a closure, and
  /// each one after a store without a closure, passes all records while it opens.
  /// So does each rebuild of a table. Call this method if a new version of the app
  /// changes the closure's tables.
  ///
  /// The statements of the closure must not end the transaction, change its
  /// durability, or change the tables of the store. Such a statement throws an
  /// `SQLError` with the code `misused`. If the closure throws, the call throws the
  /// error, and nothing changes. Opening throws
  /// ``StoreError/tablesNotWritten(_:)``.
  ///
  /// - Throws: The error that the closure throws, or ``StoreError``. If an error is
  ///   thrown, the tables are unchanged.
  /// - Complexity: O(*n* log *n*), where *n* is the number of existing records.
  public func rebuildTables() throws { try scope.rebuildTables() }

  /// The names of declared tables whose records changed, sorted, after each change.
  ///
  ///     for try await names in store.tableChanges {
  ///       try await pool.write { database in
  ///         for name in names { try database.notifyChanges(in: Table(name)) }
  ///       }
  ///     }
  ///
  /// SQLite notifies only the connection that writes. If an observer is slow, an
  /// element has the names of several changes. The sequence ends like ``changes``.
  /// Create a sequence for each observer, and iterate it only once.
  public nonisolated var tableChanges: TableChanges {
    TableChanges(tables: tables, changes: ObservedChanges(observers))
  }
}

/// An asynchronous sequence of the names of tables that changed.
///
/// ``ReplicaStore/tableChanges`` creates it.
public struct TableChanges: AsyncSequence, Sendable {
  /// The type of the elements.
  public typealias Element = [String]
  /// The type of the error that ends the sequence.
  public typealias Failure = StoreError

  let tables: [RecordTable]
  let changes: ObservedChanges

  /// An iterator over the names.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let tables: [RecordTable]
    fileprivate var changes: ObservedChanges.Iterator

    /// Returns the names of the next change, or `nil` if the store no longer
    /// exists.
    ///
    /// - Throws: ``StoreError`` if the store can no longer change.
    public mutating func next() async throws(StoreError) -> [String]? {
      while let changes = try await changes.next() {
        let names = tables.filter {
          !changes.changes(to: $0.entityName).isEmpty
        }
        .map(\.name).sorted()
        if !names.isEmpty { return names }
      }
      return nil
    }
  }

  /// Creates an iterator for the only iteration of the sequence.
  public func makeAsyncIterator() -> Iterator {
    Iterator(tables: tables, changes: changes.makeAsyncIterator())
  }
}
