// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Synchronization

/// Those who are told what changes in a store.
///
/// What an observer has not asked for yet is kept for it, in a form that grows with
/// the records that have changed and not with the number of changes. Observers of
/// single records are found by the record, so that a change does not search them.
package final class ChangeObservers: Sendable {
  private struct Observer {
    let pending: PendingChanges
    /// Wakes it; one signal that has not been seen is as good as many.
    let signal: AsyncStream<Void>.Continuation
  }

  private struct State {
    /// Those who are told everything, and those of single records.
    var ofAll: [Int: Observer] = [:]
    var ofRecord: [RecordID: [Int: Observer]] = [:]
    var count = 0
    /// Why nothing is told any more.
    var failure: StoreError?

    var all: [Observer] {
      Array(ofAll.values) + ofRecord.values.flatMap(\.values)
    }
  }

  private let state = Mutex(State())

  package init() {}

  deinit { for observer in state.withLock(\.all) { observer.signal.finish() } }

  /// Whether anybody observes.
  package var isEmpty: Bool {
    state.withLock { $0.ofAll.isEmpty && $0.ofRecord.isEmpty }
  }

  /// Whether anybody wants records as they were before, too: whoever is told
  /// everything.
  var wantOld: Bool { state.withLock { !$0.ofAll.isEmpty } }

  /// Why nothing is told any more; `nil` while it is.
  var failure: StoreError? { state.withLock(\.failure) }

  /// Adds an observer, who is told while anybody has the signals.
  ///
  /// - Parameter record: The record that it is told of; `nil` for all.
  package func observe(
    _ record: RecordID? = nil
  ) -> (PendingChanges, signals: AsyncStream<Void>) {
    let (stream, signal) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let pending = PendingChanges()
    let observer = Observer(pending: pending, signal: signal)
    let (number, failure) = state.withLock { state in
      state.count += 1
      if state.failure == nil {
        if let record {
          state.ofRecord[record, default: [:]][state.count] = observer
        } else {
          state.ofAll[state.count] = observer
        }
      }
      return (state.count, state.failure)
    }
    if let failure {
      pending.end(failure)
      signal.finish()
    }
    signal.onTermination = { [weak self] _ in self?.remove(number, record) }
    return (pending, stream)
  }

  private func remove(_ number: Int, _ record: RecordID?) {
    state.withLock { state in
      guard let record else {
        state.ofAll[number] = nil
        return
      }
      state.ofRecord[record]?[number] = nil
      if state.ofRecord[record]?.isEmpty == true {
        state.ofRecord[record] = nil
      }
    }
  }

  /// Tells everybody what has changed.
  ///
  /// - Complexity: O(*k*) for *k* changes and those who observe them.
  func tell(_ changes: RecordChanges) {
    if changes.isEmpty { return }
    let (all, single) = state.withLock { state in
      (
        Array(state.ofAll.values),
        state.ofRecord.isEmpty
          ? []
          : changes.ids.compactMap { id in
            state.ofRecord[id].map { (id, Array($0.values)) }
          }
      )
    }
    for observer in all { tell(changes, observer) }
    for (id, observers) in single {
      for observer in observers { tell(changes.only(id), observer) }
    }
  }

  private func tell(_ changes: RecordChanges, _ observer: Observer) {
    observer.pending.add(changes)
    observer.signal.yield()
  }

  /// Ends all observations, those that begin later, too.
  ///
  /// - Parameter failure: What they throw after what they have not been told yet.
  func end(_ failure: StoreError) {
    let all = state.withLock { state in
      if state.failure == nil { state.failure = failure }
      return state.all
    }
    for observer in all {
      observer.pending.end(failure)
      observer.signal.finish()
    }
  }
}

/// What an observer has not been told yet.
package final class PendingChanges: Sendable {
  private let state = Mutex<(changes: RecordChanges?, failure: StoreError?)>(
    (nil, nil))

  fileprivate init() {}

  fileprivate func add(_ later: RecordChanges) {
    state.withLock { state in
      if state.changes == nil {
        state.changes = later
      } else {
        state.changes?.add(later)
      }
    }
  }

  fileprivate func end(_ failure: StoreError) {
    state.withLock { $0.failure = failure }
  }

  /// Hands out what there is; `nil` if there is nothing.
  package func take() -> RecordChanges? {
    state.withLock { state in
      defer { state.changes = nil }
      return state.changes
    }
  }

  /// Why nothing more is told.
  var failure: StoreError? { state.withLock(\.failure) }
}

/// What an observer is told, as a sequence.
struct ObservedChanges: AsyncSequence, Sendable {
  typealias Element = RecordChanges
  typealias Failure = StoreError

  private let pending: PendingChanges
  private let signals: AsyncStream<Void>

  init(_ observers: ChangeObservers, of record: RecordID? = nil) {
    (pending, signals) = observers.observe(record)
  }

  struct Iterator: AsyncIteratorProtocol {
    fileprivate let pending: PendingChanges
    fileprivate var signals: AsyncStream<Void>.Iterator

    mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(StoreError) -> RecordChanges? {
      while true {
        let signal: Void? = await signals.next(isolation: actor)
        if let changes = pending.take() { return changes }
        guard signal != nil else {
          if let failure = pending.failure { throw failure }
          return nil
        }
      }
    }

    mutating func next() async throws(StoreError) -> RecordChanges? {
      try await next(isolation: nil)
    }
  }

  func makeAsyncIterator() -> Iterator {
    Iterator(pending: pending, signals: signals.makeAsyncIterator())
  }
}
