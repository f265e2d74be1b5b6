// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// A wall clock that a test sets.
public final class ManualClock: Sendable {
  private let time: Locked<Int64>

  /// Creates a clock that shows `now`, in milliseconds since 1970.
  public init(_ now: Int64 = 1_000_000) { time = Locked(now) }

  /// The time in milliseconds since 1970.
  public var now: Int64 {
    get { time.withLock { $0 } }
    set { time.withLock { $0 = newValue } }
  }

  /// A wall clock that a replica can read.
  public var wallClock: WallClock { WallClock { self.now } }
}
