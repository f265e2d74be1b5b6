// SPDX-License-Identifier: Apache-2.0
import _RejoinVerification
import Testing

@Suite struct SimulatorTests {
  @Test func quickSimulationsLoseNothing() async {
    let result = await SimulatorTests.run(seeds: 1000, scale: .quick)
    print(result)
    #expect(result.failure == nil, "\(result)")
    #expect(result.counts.gaps > 0)
    #expect(result.counts.unnoticedRestores > 0)
    #expect(result.counts.collisions > 0)
  }

  @Test(.enabled(if: Tier.isNightly)) func longSimulationsLoseNothing() async {
    let result = await SimulatorTests.run(seeds: 20_000, scale: .long)
    print(result)
    #expect(result.failure == nil, "\(result)")
  }

  /// Runs the seeds from zero on, in four tasks.
  private static func run(
    seeds: UInt64, scale: SimulationScale
  ) async -> SimulationResult {
    await withTaskGroup(of: SimulationResult.self) { group in
      for i in 0..<4 as Range<UInt64> {
        group.addTask {
          let block = (i * seeds / 4)..<((i + 1) * seeds / 4)
          return Simulator.run(seeds: block, scale: scale)
        }
      }
      return await group.reduce(into: SimulationResult()) { $0 += $1 }
    }
  }
}
