//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

import Testing

@Suite struct RandomHistoryTests {
  @Test(arguments: 0..<30)
  func replicasShowWhatHasBeenHeardOf(block: UInt64) {
    for seed in (block * 11)..<(block * 11 + 11) {
      var history = RandomHistory(seed: seed)
      if let mismatch = history.run(steps: 80) {
        Issue.record("\(mismatch)")
        return
      }
    }
  }
}
