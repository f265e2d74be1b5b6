// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension ReplicaStore {
  /// What calls change that begin from now on, deletions included.
  ///
  /// An observer that is slower than the changes misses none: it is told of each
  /// record once, as it was before all of them, and as it is. The sequence ends with
  /// the store, and it throws ``StoreError/superseded`` or ``StoreError/closed`` if
  /// the store can change no more. It is made for one observer, who iterates it
  /// once.
  ///
  /// To begin with what there is, ask for both at once:
  ///
  ///     let (notes, changes) = await store.read { replica in
  ///       (replica.recordIDs(of: "Note"), store.changes)
  ///     }
  ///
  /// A reference reads as unset while its record does not exist. Only that record is
  /// told then, not those that refer to it.
  ///
  /// - Complexity: While anybody observes, a change copies the fields that it
  ///   changes.
  public nonisolated var changes:
    some AsyncSequence<RecordChanges, StoreError> & Sendable
  {
    ObservedChanges(observers)
  }

  /// A record as it is, and then as it is after each change.
  ///
  ///     for try await note in store.values(of: Note.self, "1") {
  ///       title = note?.title
  ///     }
  ///
  /// It is `nil` while the record does not exist. The sequence ends like
  /// ``changes``. It is made for one observer, who iterates it once.
  ///
  /// - Complexity: A change of another record costs nothing, however many observe
  ///   this one.
  public nonisolated func values<E: Entity>(
    of entity: E.Type, _ key: String
  ) -> some AsyncSequence<TypedRecord<E>?, StoreError> & Sendable {
    ObservedValues(
      changes: ObservedChanges(observers, of: RecordID(E.entityName, key)),
      id: RecordID(E.entityName, key)
    ) { [weak self] in await self?.read { $0[entity, key] } }
  }
}

/// The values of a record, which begin with the current one.
private struct ObservedValues<E: Entity>: AsyncSequence, Sendable {
  typealias Element = TypedRecord<E>?
  typealias Failure = StoreError

  let changes: ObservedChanges
  let id: RecordID
  /// Nothing if the store is gone.
  let current: @Sendable () async -> TypedRecord<E>??

  struct Iterator: AsyncIteratorProtocol {
    fileprivate var changes: ObservedChanges.Iterator
    fileprivate let id: RecordID
    fileprivate var current: (@Sendable () async -> TypedRecord<E>??)?

    mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(StoreError) -> TypedRecord<E>?? {
      if let current {
        self.current = nil
        if let value = await current() { return value }
        // What the store has told is still there.
      }
      while let changes = try await changes.next(isolation: actor) {
        if let value = changes.new(id, E.self) { return value }
      }
      return nil
    }

    mutating func next() async throws(StoreError) -> TypedRecord<E>?? {
      try await next(isolation: nil)
    }
  }

  func makeAsyncIterator() -> Iterator {
    Iterator(changes: changes.makeAsyncIterator(), id: id, current: current)
  }
}
