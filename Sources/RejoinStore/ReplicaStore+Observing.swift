// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension ReplicaStore {
  /// What calls change that begin from now on, deletions included.
  ///
  /// An observer that is slower than the changes misses none: it is told of each
  /// record once, as it was before all of them, and as it is. The sequence ends with
  /// the store. It is made for one observer, who iterates it once.
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
    some AsyncSequence<RecordChanges, Never> & Sendable
  {
    observers.changes()
  }

  /// A record as it is, and then as it is after each change.
  ///
  ///     for await note in store.values(of: Note.self, "1") {
  ///       title = note?.title
  ///     }
  ///
  /// It is `nil` while the record does not exist. The sequence ends with the store.
  /// It is made for one observer, who iterates it once.
  public nonisolated func values<E: Entity>(
    of entity: E.Type, _ key: String
  ) -> some AsyncSequence<TypedRecord<E>?, Never> & Sendable {
    let id = RecordID(E.entityName, key)
    let changes = observers.changes(withOld: false).compactMap {
      changes -> TypedRecord<E>?? in changes.new(id, entity)
    }
    return CurrentThenLater(changes) { [weak self] in
      await self?.read { $0[entity, key] }
    }
  }
}

/// A value, and then those of a sequence.
private struct CurrentThenLater<Later: AsyncSequence & Sendable>: AsyncSequence,
  Sendable
where Later.Element: Sendable, Later.Failure == Never {
  let later: Later
  let current: @Sendable () async -> Later.Element?

  init(
    _ later: Later, _ current: @escaping @Sendable () async -> Later.Element?
  ) {
    (self.later, self.current) = (later, current)
  }

  struct Iterator: AsyncIteratorProtocol {
    var later: Later.AsyncIterator
    var current: (@Sendable () async -> Later.Element?)?

    mutating func next() async -> Later.Element? {
      guard let current else { return try? await later.next() }
      self.current = nil
      if let value = await current() { return value }
      // The store is gone; what it has told is still there.
      return try? await later.next()
    }
  }

  func makeAsyncIterator() -> Iterator {
    Iterator(later: later.makeAsyncIterator(), current: current)
  }
}
