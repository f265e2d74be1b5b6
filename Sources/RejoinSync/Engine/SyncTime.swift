// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinFoundation

/// The clocks, the waits and the random numbers of an engine.
package struct SyncTime: Sendable {
  /// The time in milliseconds since 1970.
  package var now: @Sendable () -> Int64
  /// A time in milliseconds that does not jump.
  package var uptime: @Sendable () -> Int64
  /// Waits until a time of ``uptime``, or throws an error if the task is canceled.
  package var wait: @Sendable (Int64) async throws -> Void
  /// Returns a number from zero to a bound.
  package var random: @Sendable (Int64) -> Int64

  package init(
    now: @escaping @Sendable () -> Int64,
    uptime: @escaping @Sendable () -> Int64,
    wait: @escaping @Sendable (Int64) async throws -> Void,
    random: @escaping @Sendable (Int64) -> Int64
  ) {
    (self.now, self.uptime, self.wait, self.random) = (
      now, uptime, wait, random
    )
  }

  /// The time of the system.
  static let system: SyncTime = {
    let start = ContinuousClock.now
    let uptime: @Sendable () -> Int64 = {
      Int64((ContinuousClock.now - start) / .milliseconds(1))
    }
    return SyncTime(
      now: { WallClock.system.now }, uptime: uptime,
      wait: { end in
        try await Task.sleep(for: .milliseconds(max(end - uptime(), 0)))
      },
      random: { Int64.random(in: 0...max($0, 0)) })
  }()
}
