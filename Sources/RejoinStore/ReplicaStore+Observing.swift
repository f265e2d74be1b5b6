// SPDX-License-Identifier: Apache-2.0

import Rejoin

extension ReplicaStore {
  /// What saves and merges change from now on, deletions included.
  ///
  /// An observer that is slower than the changes misses none: it is told of a record
  /// as it was when it was asked last, and as it is. The sequence ends with the
  /// store.
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
  public nonisolated func values<E: Entity>(
    of entity: E.Type, _ key: String
  ) -> some AsyncSequence<TypedRecord<E>?, Never> & Sendable {
    let changes = observers.changes().compactMap {
      changes -> TypedRecord<E>?? in
      changes.of(entity).first { $0.key == key }.map(\.new)
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
      return await current()
    }
  }

  func makeAsyncIterator() -> Iterator {
    Iterator(later: later.makeAsyncIterator(), current: current)
  }
}
