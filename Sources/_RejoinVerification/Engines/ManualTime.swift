// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinSync

/// A time that only ``advance(by:)`` moves, and those who wait for it.
package final class ManualTime: Sendable {
  private struct Waiter {
    let end: Int64
    let wake: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var uptime: Int64 = 1_000_000
    /// How far the wall clock is ahead.
    var offset: Int64 = 1_700_000_000_000
    var waiters: [Int: Waiter] = [:]
    var count = 0
  }

  private let state = Locked(State())

  package init() {}

  /// A time in milliseconds that does not jump.
  package var uptime: Int64 { state.withLock(\.uptime) }
  /// The time of the wall clock.
  package var now: Int64 { state.withLock { $0.uptime + $0.offset } }
  /// The number of waits that started.
  package var waitCount: Int { state.withLock(\.count) }
  /// The earliest end of a wait, or `nil`.
  package var nextEnd: Int64? {
    state.withLock { $0.waiters.values.map(\.end).min() }
  }

  /// The time for an engine, which waits as long as it can.
  package var time: SyncTime {
    SyncTime(
      now: { self.now }, uptime: { self.uptime },
      wait: { try await self.wait(until: $0) }, random: { $0 })
  }

  /// Waits until a time of ``uptime``.
  package func wait(until end: Int64) async throws {
    let number = state.withLock { state in
      state.count += 1
      return state.count
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { wake in
        let isPast = state.withLock { state in
          if end <= state.uptime { return true }
          state.waiters[number] = Waiter(end: end, wake: wake)
          return false
        }
        if isPast { wake.resume() }
        if Task.isCancelled { cancel(number) }
      }
    } onCancel: {
      cancel(number)
    }
  }

  private func cancel(_ number: Int) {
    let waiter = state.withLock { $0.waiters.removeValue(forKey: number) }
    waiter?.wake.resume(throwing: CancellationError())
  }

  /// Advances the time, and ends the waits that end until then.
  package func advance(by milliseconds: Int64) {
    let ended = state.withLock { state in
      state.uptime += milliseconds
      let ended = state.waiters.filter { $0.value.end <= state.uptime }
      for number in ended.keys { state.waiters[number] = nil }
      return ended.sorted { $0.key < $1.key }.map(\.value)
    }
    for waiter in ended { waiter.wake.resume() }
  }

  /// Moves the wall clock.
  package func jump(by milliseconds: Int64) {
    state.withLock { $0.offset += milliseconds }
  }
}
