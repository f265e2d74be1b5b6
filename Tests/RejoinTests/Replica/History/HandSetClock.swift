//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

import Rejoin
import Synchronization

/// A wall clock that a test sets.
final class HandSetClock: Sendable {
  private let time: Atomic<Int64>

  init(_ now: Int64 = 1_000_000) { time = Atomic(now) }

  var now: Int64 {
    get { time.load(ordering: .relaxed) }
    set { time.store(newValue, ordering: .relaxed) }
  }

  /// The clock as a replica reads it.
  var wall: WallClock { WallClock { self.now } }
}
