// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// An element of ``ReplicaStore/changes``.
public enum StoreUpdate: Sendable {
  /// The sorted IDs of all records that existed when the sequence was created.
  ///
  /// This case is always the first element.
  case recordIDs([RecordID])
  /// The changes since the previous element.
  case changes(RecordChanges)
}

extension ReplicaStore {
  /// The current records, and then all changes, including deletions.
  ///
  ///     for try await update in await store.changes {
  ///       switch update {
  ///       case .recordIDs(let ids): keys = Set(ids.map(\.key))
  ///       case .changes(let changes):
  ///         for change in changes.changes(to: Note.self) {
  ///           if change.new == nil { keys.remove(change.key) } else { keys.insert(change.key) }
  ///         }
  ///       }
  ///     }
  ///
  /// The sequence contains every change, even if you start to iterate later. If
  /// an observer is slow, the sequence combines changes: each record appears
  /// once, with its state before the first of them and its state after the
  /// last.
  ///
  /// The sequence ends when the store is deallocated. If the store can no
  /// longer change, the sequence throws ``StoreError/superseded``,
  /// ``StoreError/closed`` or ``StoreError/outOfStep(_:)``. Create a sequence
  /// for each observer, and iterate it only once.
  ///
  /// A reference reads as unset while its record doesn't exist. If that record
  /// appears or disappears, the change also lists the records that refer to it.
  ///
  /// - Complexity: O(*n*), where *n* is the number of records. While the store
  ///   has observers, it keeps an index of references, and each change copies
  ///   the fields that it modifies.
  public var changes: StoreUpdates {
    // The store runs one call at a time, so no change can happen in between.
    StoreUpdates(
      recordIDs: read(\.allRecordIDs), changes: ObservedChanges(observers))
  }

  /// Returns a sequence of the current state of a record and its later states.
  ///
  ///     for try await note in store.values(of: Note.self, key: "1") {
  ///       title = note?.title
  ///     }
  ///
  /// The value is `nil` while the record doesn't exist. The sequence ends like
  /// ``changes``. Create a sequence for each observer, and iterate it only
  /// once.
  ///
  /// The sequence has a new value as well when a record that this one refers to
  /// appears or disappears.
  ///
  /// - Complexity: Any other change of another record has no cost, regardless
  ///   of the number of observers of this record.
  public nonisolated func values<E: Entity>(
    of entity: E.Type, key: String
  ) -> RecordValues<E> {
    RecordValues(
      changes: ObservedChanges(observers, of: RecordID(E.entityName, key)),
      id: RecordID(E.entityName, key)
    ) { [weak self] in await self?.read { $0[entity, key] } }
  }
}

/// An asynchronous sequence of the records of a store and their changes.
///
/// ``ReplicaStore/changes`` creates it.
public struct StoreUpdates: AsyncSequence, Sendable {
  /// The type of the elements.
  public typealias Element = StoreUpdate
  /// The type of the error that ends the sequence.
  public typealias Failure = StoreError

  let recordIDs: [RecordID]
  let changes: ObservedChanges

  /// An iterator over the updates.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var recordIDs: [RecordID]?
    fileprivate var changes: ObservedChanges.Iterator

    /// Returns the next update, or `nil` if the store no longer exists.
    ///
    /// - Throws: ``StoreError`` if the store can no longer change.
    public mutating func next() async throws(StoreError) -> StoreUpdate? {
      if let first = recordIDs.take() { return .recordIDs(first) }
      return try await changes.next().map { .changes($0) }
    }
  }

  /// Creates an iterator for the only iteration of the sequence.
  public func makeAsyncIterator() -> Iterator {
    Iterator(recordIDs: recordIDs, changes: changes.makeAsyncIterator())
  }
}

/// An asynchronous sequence of the current and later values of a record.
///
/// ``ReplicaStore/values(of:key:)`` creates it.
public struct RecordValues<E: Entity>: AsyncSequence, Sendable {
  /// The type of the elements.
  public typealias Element = TypedRecord<E>?
  /// The type of the error that ends the sequence.
  public typealias Failure = StoreError

  let changes: ObservedChanges
  let id: RecordID
  /// Returns `nil` at the outermost level if the store no longer exists.
  let current: @Sendable () async -> TypedRecord<E>??

  /// An iterator over the values.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var changes: ObservedChanges.Iterator
    fileprivate let id: RecordID
    fileprivate var current: (@Sendable () async -> TypedRecord<E>??)?

    /// Returns the next value, or `nil` at the outermost level if the store no
    /// longer exists.
    ///
    /// - Throws: ``StoreError`` if the store can no longer change.
    public mutating func next() async throws(StoreError) -> TypedRecord<E>?? {
      if let current {
        self.current = nil
        if let value = await current() { return value }
        // The store no longer exists, but its pending changes can still be
        // read.
      }
      while let changes = try await changes.next() {
        if let value = changes.new(id, E.self) { return value }
      }
      return nil
    }
  }

  /// Creates an iterator for the only iteration of the sequence.
  public func makeAsyncIterator() -> Iterator {
    Iterator(changes: changes.makeAsyncIterator(), id: id, current: current)
  }
}
