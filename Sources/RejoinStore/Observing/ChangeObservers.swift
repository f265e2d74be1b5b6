// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The observers of changes in a store.
///
/// Each observer has a list of pending changes with one entry per changed
/// record, regardless of the number of changes. The observers of single records
/// are indexed by record, so a change does not search them.
package final class ChangeObservers: Sendable {
  private struct Observer {
    let pending: PendingChanges
    /// Wakes the observer, for which a single pending signal is enough.
    let signal: AsyncStream<Void>.Continuation
  }

  private struct State {
    /// The observers of all records.
    var ofAll: [Int: Observer] = [:]
    /// The observers of single records.
    var ofRecord: [RecordID: [Int: Observer]] = [:]
    /// The records that are observed since the last update of an index.
    var added: Set<RecordID> = []
    var count = 0
    /// The reason why the observers ended, or `nil` if they did not.
    var failure: StoreError?
    /// Whether an engine waits for saves.
    var hasEngine = false

    var all: [Observer] {
      Array(ofAll.values) + ofRecord.values.flatMap(\.values)
    }
  }

  private let state = Locked(State())
  private let versions = Broadcast<Void>(keeping: 1)

  package init() {}

  deinit { for observer in state.withLock(\.all) { observer.signal.finish() } }

  /// Whether no observers exist.
  package var isEmpty: Bool {
    state.withLock { $0.ofAll.isEmpty && $0.ofRecord.isEmpty }
  }

  /// Updates the index of the observed records, which is `nil` without
  /// observers.
  ///
  /// - Parameter observesAll: Whether the store itself observes all records.
  func update(
    _ index: inout ReferrerIndex?, of replica: Replica,
    observingAll observesAll: Bool
  ) {
    let (isOfAll, added, count) = state.withLock { state in
      defer { state.added = [] }
      return (
        observesAll || !state.ofAll.isEmpty, state.added, state.ofRecord.count
      )
    }
    if isOfAll {
      if index?.isOfAll != true { index = ReferrerIndex(ofAll: replica) }
    } else if count == 0 {
      index = nil
    } else if let observed = index?.observed?.count, observed <= 2 * count + 64
    {
      index?.observe(added, in: replica)
    } else {
      // Start again without the records whose observers ended.
      index = ReferrerIndex()
      index?.observe(state.withLock { Set($0.ofRecord.keys) }, in: replica)
    }
  }

  /// The reason why the observers ended, or `nil` if they did not.
  var failure: StoreError? { state.withLock(\.failure) }

  /// The number of the latest observer.
  var checkpoint: Int { state.withLock(\.count) }

  /// Adds an observer, which receives changes as long as its signals exist.
  ///
  /// - Parameter record: The record to observe, or `nil` for all records.
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
          state.added.insert(record)
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
        state.added.remove(record)
      }
    }
  }

  /// Sends changes to the observers that existed when the change started.
  ///
  /// - Parameters:
  ///   - changes: The changes.
  ///   - checkpoint: The ``checkpoint`` at the start of the change.
  /// - Complexity: O(*k* + *n*), where *k* is the number of changes and *n* is
  ///   the number of their observers.
  func send(_ changes: RecordChanges, upTo checkpoint: Int) {
    if changes.isEmpty { return }
    let (all, single) = state.withLock { state in
      (
        state.ofAll.filter { $0.key <= checkpoint }.map(\.value),
        state.ofRecord.isEmpty
          ? []
          : changes.ids.compactMap { id in
            state.ofRecord[id].map { observers in
              (id, observers.filter { $0.key <= checkpoint }.map(\.value))
            }
          }
      )
    }
    for observer in all { send(changes, observer) }
    for (id, observers) in single {
      for observer in observers { send(changes.only(id), observer) }
    }
  }

  private func send(_ changes: RecordChanges, _ observer: Observer) {
    observer.pending.add(changes)
    observer.signal.yield()
  }

  /// Returns one element for one or more changes of the version from now on.
  func versionChanges() -> AsyncStream<Void> {
    state.withLock { $0.hasEngine = true }
    return versions.stream()
  }

  /// Whether an engine waits for changes of the version.
  var hasEngine: Bool { state.withLock(\.hasEngine) }

  /// Records that saves were made or received.
  func sendVersionChange() { versions.send(()) }

  /// Ends all observers, including observers that are added later.
  ///
  /// - Parameter failure: The error that they throw after their pending
  ///   changes.
  func end(_ failure: StoreError) {
    let all = state.withLock { state in
      if state.failure == nil { state.failure = failure }
      return state.all
    }
    for observer in all {
      observer.pending.end(failure)
      observer.signal.finish()
    }
    versions.finish()
  }
}

/// The changes that an observer did not receive yet.
package final class PendingChanges: Sendable {
  private let state = Locked<(changes: RecordChanges?, failure: StoreError?)>(
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

  /// Returns and removes the pending changes, or returns `nil` without any.
  package func take() -> RecordChanges? {
    state.withLock { state in
      defer { state.changes = nil }
      return state.changes
    }
  }

  /// The error to throw after the pending changes, or `nil` if none is thrown.
  var failure: StoreError? { state.withLock(\.failure) }
}

/// The changes that an observer receives, as a sequence.
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

    mutating func next() async throws(StoreError) -> RecordChanges? {
      while true {
        let signal: Void? = await signals.next()
        if let changes = pending.take() { return changes }
        guard signal != nil else {
          if let failure = pending.failure { throw failure }
          return nil
        }
      }
    }
  }

  func makeAsyncIterator() -> Iterator {
    Iterator(pending: pending, signals: signals.makeAsyncIterator())
  }
}
