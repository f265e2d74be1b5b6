//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//
import Foundation
import RejoinTesting
import Testing

@Suite struct SimulatorTests {
  @Test func nothingIsLostWhateverGoesWrong() {
    let result = Simulator.run(seeds: 0..<1000)
    print(result)
    #expect(result.failure == nil, "\(result)")
    #expect(result.counts.gaps > 0)
    #expect(result.counts.keptAside > 0)
    #expect(result.counts.unnoticedRestores > 0)
    #expect(result.counts.collisions > 0)
  }

  @Test(.enabled(if: isNightly)) func nothingIsLostInManyMonths() {
    let result = Simulator.run(seeds: 1000..<100_000, scale: .long)
    print(result)
    #expect(result.failure == nil, "\(result)")
  }

  private static let isNightly =
    ProcessInfo.processInfo.environment["REJOIN_TIER"] == "nightly"
}
