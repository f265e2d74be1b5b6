// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Counts the running calls of an app, and those that it canceled.
///
/// The engine learns of a cancellation before the call returns, but not at once.
final class TrialCalls: Sendable {
  private struct State {
    var count = 0
    var open: Set<Int> = []
    var canceled: Set<Int> = []
  }

  private let state = Locked(State())

  /// Whether the engine may cancel a pass.
  var isCanceling: Bool { state.withLock { !$0.canceled.isEmpty } }

  func begin() -> Int {
    state.withLock { state in
      state.count += 1
      state.open.insert(state.count)
      return state.count
    }
  }

  func end(_ call: Int) {
    state.withLock { state in
      state.open.remove(call)
      state.canceled.remove(call)
    }
  }

  func cancel() { state.withLock { $0.canceled = $0.open } }
}
