// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// An element of ``ReplicaStore/changes``.
public enum StoreUpdate: Sendable {
  /// The IDs of all records that existed when the sequence was made, sorted.
  ///
  /// It is the first element.
  case recordIDs([RecordID])
  /// Records that changed since the element before.
  case changes(RecordChanges)
}

extension ReplicaStore {
  /// The records that exist now, and then all changes, including deletions.
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
  /// No change is missing between the elements, even if the task that iterates starts
  /// later, or is slow. A slow observer receives each record once, with the
  /// state before all pending changes and the current state. The sequence ends
  /// with the store. It throws ``StoreError/superseded`` or
  /// ``StoreError/closed`` if the store can no longer change. The sequence has
  /// one observer, who iterates it once.
  ///
  /// A reference reads as unset while its record does not exist. The sequence
  /// then reports only that record, not the records that refer to it.
  ///
  /// - Complexity: O(*n*), where *n* is the number of records. While the store has
  ///   observers, each change copies the fields that it changes.
  public var changes: StoreUpdates {
    // The store runs one call at a time, so no change comes between the two.
    StoreUpdates(
      recordIDs: read(\.allRecordIDs), changes: ObservedChanges(observers))
  }

  /// Returns the current state of a record, and then its state after each
  /// change.
  ///
  ///     for try await note in store.values(of: Note.self, key: "1") {
  ///       title = note?.title
  ///     }
  ///
  /// The value is `nil` while the record does not exist. The sequence ends like
  /// ``changes``. It has one observer, who iterates it once.
  ///
  /// - Complexity: A change of another record has no cost, regardless of the
  ///   number of observers of this record.
  public nonisolated func values<E: Entity>(
    of entity: E.Type, key: String
  ) -> RecordValues<E> {
    RecordValues(
      changes: ObservedChanges(observers, of: RecordID(E.entityName, key)),
      id: RecordID(E.entityName, key)
    ) { [weak self] in await self?.read { $0[entity, key] } }
  }
}

/// The records of a store, and then their changes, as an asynchronous sequence.
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

    /// Waits for the next update, and returns it, or `nil` if the store is gone.
    ///
    /// - Throws: ``StoreError/superseded`` or ``StoreError/closed``.
    public mutating func next() async throws(StoreError) -> StoreUpdate? {
      if let first = recordIDs.take() { return .recordIDs(first) }
      return try await changes.next().map { .changes($0) }
    }
  }

  /// Creates an iterator. A sequence can be iterated once.
  public func makeAsyncIterator() -> Iterator {
    Iterator(recordIDs: recordIDs, changes: changes.makeAsyncIterator())
  }
}

/// The values of a record, starting with the current one, as an asynchronous
/// sequence.
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

    /// Waits for the next value, and returns it, or `nil` at the outermost level
    /// if the store is gone.
    ///
    /// - Throws: ``StoreError/superseded`` or ``StoreError/closed``.
    public mutating func next() async throws(StoreError) -> TypedRecord<E>?? {
      if let current {
        self.current = nil
        if let value = await current() { return value }
        // The store is gone, but its pending changes can still be read.
      }
      while let changes = try await changes.next() {
        if let value = changes.new(id, E.self) { return value }
      }
      return nil
    }
  }

  /// Creates an iterator. A sequence can be iterated once.
  public func makeAsyncIterator() -> Iterator {
    Iterator(changes: changes.makeAsyncIterator(), id: id, current: current)
  }
}
