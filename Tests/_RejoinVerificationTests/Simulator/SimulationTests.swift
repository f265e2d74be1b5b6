// SPDX-License-Identifier: Apache-2.0
import _RejoinVerification
import Testing

@Suite struct SimulationTests {
  @Test func equalSeedsGiveEqualScriptsAndTraces() throws {
    for seed in 0..<20 as Range<UInt64> {
      let (one, other) = (Simulation(seed: seed), Simulation(seed: seed))
      #expect(one.script == other.script)
      #expect(try one.trace() == other.trace())
    }
  }

  @Test func seedsDiffer() throws {
    let traces = try (0..<20 as Range<UInt64>).map {
      try Simulation(seed: $0).trace()
    }
    #expect(Set(traces).count == 20)
  }

  /// In another process, dictionaries have another order.
  #if compiler(>=6.2)
    @Test func everyProcessGivesEqualTrace() async throws {
      let here = try SimulationTests.traces()
      let process = await #expect(
        processExitsWith: .success, observing: [\.standardOutputContent]
      ) {
        print(try SimulationTests.traces())
      }
      let output = String(
        decoding: try #require(process).standardOutputContent, as: UTF8.self)
      #expect(output.contains(here))
    }
  #endif

  static func traces() throws -> String {
    try (0..<20 as Range<UInt64>).map { seed in
      let simulation = Simulation(seed: seed)
      return "\(simulation.script.steps.count) \(try simulation.trace())"
    }.joined(separator: "\n")
  }

  @Test func longSimulationHasMoreSteps() {
    let (short, long) = (
      Simulation(seed: 3), Simulation(seed: 3, scale: .long)
    )
    #expect(long.script.steps.count > short.script.steps.count)
  }
}
