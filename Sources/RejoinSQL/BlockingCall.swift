// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A call of a C library that blocks, on its own thread.
///
/// The caller can stop waiting. The thread then runs until the call returns, and
/// discards the result.
final class BlockingCall<Value>: @unchecked Sendable {
  private let condition = NSCondition()
  private var value: Value?
  private var isAbandoned = false

  /// Starts a call.
  ///
  /// - Parameters:
  ///   - call: The call, which must own all that it uses.
  ///   - discard: A closure that releases the result if the caller gave up.
  init(
    _ call: @escaping @Sendable () -> Value,
    discarding discard: @escaping @Sendable (Value) -> Void = { _ in }
  ) {
    #if os(WASI)
      // WebAssembly runs one thread, so the caller waits.
      value = call()
    #else
      Thread.detachNewThread { [self] in
        let value = call()
        let isAbandoned = condition.withLock {
          self.value = value
          condition.signal()
          return self.isAbandoned
        }
        if isAbandoned { discard(value) }
      }
    #endif
  }

  /// Waits for the result.
  ///
  /// Call this method at most once.
  ///
  /// - Parameters:
  ///   - end: The time to give up.
  ///   - stopsIfCanceled: Whether to give up when the task is canceled.
  /// - Returns: The result, or `nil` if the call still runs.
  func result(
    until end: ContinuousClock.Instant, stopsIfCanceled: Bool
  ) -> Value? {
    condition.withLock {
      while value == nil, ContinuousClock.now < end,
        !(stopsIfCanceled && isCanceled)
      {
        // Cancellation sends no signal.
        _ = condition.wait(until: Date(timeIntervalSinceNow: 0.05))
      }
      isAbandoned = value == nil
      return value
    }
  }
}
