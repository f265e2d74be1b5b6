// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Synchronization

/// Those who are told what changes in a store.
///
/// What an observer has not asked for yet is kept for it, in a form that grows with
/// the records that have changed and not with the number of changes.
package final class ChangeObservers: Sendable {
  private struct Observer {
    let pending: PendingChanges
    /// Whether it wants records as they were before, too.
    let wantsOld: Bool
    /// Wakes it; one signal that has not been seen is as good as many.
    let signal: AsyncStream<Void>.Continuation
  }

  private struct State {
    var observers: [Int: Observer] = [:]
    var count = 0
  }

  private let state = Mutex(State())

  package init() {}

  deinit { for observer in all { observer.signal.finish() } }

  private var all: [Observer] {
    state.withLock { Array($0.observers.values) }
  }

  /// Whether anybody observes.
  package var isEmpty: Bool { state.withLock { $0.observers.isEmpty } }

  /// Whether anybody wants records as they were before, too.
  var wantOld: Bool { all.contains(where: \.wantsOld) }

  /// What changes from now on.
  func changes(
    withOld: Bool = true
  ) -> some AsyncSequence<RecordChanges, Never> & Sendable {
    let (pending, signals) = observe(withOld: withOld)
    return signals.compactMap { pending.take() }
  }

  /// Adds an observer, who is told while anybody has the signals.
  package func observe(
    withOld: Bool = true
  ) -> (PendingChanges, signals: AsyncStream<Void>) {
    let (stream, signal) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let pending = PendingChanges()
    let number = state.withLock { state in
      state.count += 1
      state.observers[state.count] = Observer(
        pending: pending, wantsOld: withOld, signal: signal)
      return state.count
    }
    signal.onTermination = { [weak self] _ in
      self?.state.withLock { $0.observers[number] = nil }
    }
    return (pending, stream)
  }

  /// Tells everybody what has changed.
  func tell(_ changes: RecordChanges) {
    if changes.isEmpty { return }
    for observer in all {
      observer.pending.add(changes)
      observer.signal.yield()
    }
  }
}

/// What an observer has not been told yet.
package final class PendingChanges: Sendable {
  private let changes = Mutex<RecordChanges?>(nil)

  fileprivate init() {}

  fileprivate func add(_ later: RecordChanges) {
    changes.withLock { changes in
      if changes == nil { changes = later } else { changes?.add(later) }
    }
  }

  /// Hands out what there is; `nil` if there is nothing.
  package func take() -> RecordChanges? {
    changes.withLock { changes in
      defer { changes = nil }
      return changes
    }
  }
}
