// SPDX-License-Identifier: Apache-2.0

import Rejoin
import Synchronization

/// A wall clock that a test sets.
public final class ManualClock: Sendable {
  private let time: Atomic<Int64>

  /// Creates a clock that shows `now`, in milliseconds since 1970.
  public init(_ now: Int64 = 1_000_000) { time = Atomic(now) }

  /// Milliseconds since 1970.
  public var now: Int64 {
    get { time.load(ordering: .relaxed) }
    set { time.store(newValue, ordering: .relaxed) }
  }

  /// The clock as a replica reads it.
  public var wallClock: WallClock { WallClock { self.now } }
}
